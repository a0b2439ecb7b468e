# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: the varve authors
#
# The installed package: find_package(varve), find_package(varve COMPONENTS io), pkg-config varve.
# Each component has an export set of its own, so that the core asks for nothing that only varve::io needs.

include(CMakePackageConfigHelpers)

set(varve_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/varve)

function(varve_install_component target component)
  install(TARGETS ${target} EXPORT ${component}
          RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT ${component} FILE ${component}Targets.cmake NAMESPACE varve:: DESTINATION ${varve_config_dir})
endfunction()

varve_install_component(varve varve)
varve_install_component(varve_testing varve_testing)
varve_install_component(varve_benchmark varve_benchmark)
varve_install_component(varve_cublas varve_cublas)
if(VARVE_IO)
  set_target_properties(varve_io PROPERTIES INSTALL_RPATH $ORIGIN)
  varve_install_component(varve_io varve_io)
endif()

if(TARGET varve_tool)
  file(RELATIVE_PATH varve_bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(varve_tool PROPERTIES INSTALL_RPATH $ORIGIN/${varve_bin_to_lib})
  install(TARGETS varve_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET varve_tool AND TARGET varve_calibrate_gpu)  # with the toolkit's libraries where they were found
  set_target_properties(varve_calibrate_gpu PROPERTIES INSTALL_RPATH $ORIGIN/${varve_bin_to_lib}
                        INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS varve_calibrate_gpu RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# The library that `varve run` injects: found from the tool's folder, and finding the recorder beside itself.
if(TARGET varve_inject)
  set_target_properties(varve_inject PROPERTIES INSTALL_RPATH $ORIGIN)
  install(TARGETS varve_inject LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET varve_cublas_preload)
  install(TARGETS varve_cublas_preload LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

# What a static library asks of those who link it.
get_target_property(varve_type varve TYPE)
set(varve_needs "")
set(varve_io_needs "")
if(varve_type STREQUAL "STATIC_LIBRARY")
  set(varve_needs Threads)
  set(varve_pc_cflags " -DVARVE_STATIC")
  set(varve_pc_libs " -lstdc++ -pthread -ldl")
endif()
if(VARVE_IO)
  get_target_property(varve_type varve_io TYPE)
  if(varve_type STREQUAL "STATIC_LIBRARY")
    set(varve_io_needs "ZLIB simdjson nlohmann_json")
  endif()
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/varveConfig.cmake.in varveConfig.cmake
                              INSTALL_DESTINATION ${varve_config_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(varveConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/varveConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/varveConfigVersion.cmake
        DESTINATION ${varve_config_dir})

# Paths relative to the file itself, so that an installed tree can be moved.
file(RELATIVE_PATH varve_pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${CMAKE_CURRENT_LIST_DIR}/varve.pc.in varve.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/varve.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
