# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: the varve authors
#
# One test of the package, run by ctest as `cmake -D… -P`:
#   CASE    installed  the build tree VARVE_BUILD is installed, moved, found and used
#           pkgconfig  as above, through pkg-config
#           regression_test, benchmark  as above, found and used by that example alone
#           embedded   part of another project's build, static, installed from there, found and used
#   VARVE_SOURCE VARVE_BUILD WORK CC CXX IO TOOL

cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

function(run)
  execute_process(COMMAND ${ARGV} WORKING_DIRECTORY ${WORK} RESULT_VARIABLE result
                  OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " command)
    message("${output}")
    message(FATAL_ERROR "failed: ${command}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(settings -G Ninja -DCMAKE_C_COMPILER=${CC} -DCMAKE_CXX_COMPILER=${CXX})
find_program(ccache ccache)
if(ccache)
  list(APPEND settings -DCMAKE_C_COMPILER_LAUNCHER=${ccache} -DCMAKE_CXX_COMPILER_LAUNCHER=${ccache})
endif()

# Installs a build tree and moves what was installed, so that no path of the build can be left in it.
function(install build)
  run(${CMAKE_COMMAND} --install ${build} --prefix ${WORK}/staged)
  file(RENAME ${WORK}/staged ${WORK}/prefix)
  file(GLOB_RECURSE installed ${WORK}/prefix/*.cmake ${WORK}/prefix/*.pc)
  foreach(file IN LISTS installed)
    file(READ ${file} text)
    string(FIND "${text}" ${VARVE_SOURCE} place)
    if(NOT place EQUAL -1)
      message(FATAL_ERROR "${file} holds a path of the build")
    endif()
  endforeach()
endfunction()

function(expect_in_output text)
  if(NOT output MATCHES "${text}")
    message("${output}")
    message(FATAL_ERROR "the output does not hold '${text}'")
  endif()
endfunction()

function(configure name)
  run(${CMAKE_COMMAND} -S ${VARVE_SOURCE}/tests/package/consumer -B ${WORK}/${name} ${settings} ${ARGN})
endfunction()

function(use name)
  configure(${name} ${ARGN})
  run(${CMAKE_COMMAND} --build ${WORK}/${name} --parallel 2)
  foreach(engine IN ITEMS engine_c engine_cxx)
    run(${WORK}/${name}/${engine})
    expect_in_output("attention")
  endforeach()
endfunction()

if(CASE STREQUAL "installed")
  install(${VARVE_BUILD})
  use(consumer -DCMAKE_PREFIX_PATH=${WORK}/prefix -DVARVE_WANTED=0.1 -DCONSUMER_IO=${IO})

  if(TOOL)
    run(${WORK}/prefix/bin/varve --version)
    expect_in_output("0\\.1\\.")
    run(${WORK}/prefix/bin/varve run -- true)
    expect_in_output("^varve: nothing was recorded")  # not that the library to inject is missing
  endif()

  # Another minor version and a component that is not there are refused.
  foreach(wrong IN ITEMS "-DVARVE_WANTED=0.2" "-DVARVE_WANTED=0.0" "-DVARVE_WANTED=0.1\;COMPONENTS\;nothing")
    execute_process(COMMAND ${CMAKE_COMMAND} -S ${VARVE_SOURCE}/tests/package/consumer -B ${WORK}/refused
                            ${settings} -DCMAKE_PREFIX_PATH=${WORK}/prefix ${wrong}
                    RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
    if(result EQUAL 0)
      message(FATAL_ERROR "find_package accepts ${wrong}")
    endif()
  endforeach()
elseif(CASE STREQUAL "pkgconfig")
  install(${VARVE_BUILD})
  file(GLOB_RECURSE pc ${WORK}/prefix/varve.pc)
  cmake_path(GET pc PARENT_PATH pc_dir)
  set(ENV{PKG_CONFIG_PATH} ${pc_dir})
  run(pkg-config --cflags --libs varve)
  string(STRIP "${output}" flags)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run(pkg-config --variable=libdir varve)
  string(STRIP "${output}" libdir)
  run(${CC} -std=c17 ${VARVE_SOURCE}/tests/package/consumer/engine_c.c ${flags} -Wl,-rpath,${libdir} -o engine_c)
  run(${WORK}/engine_c)
  expect_in_output("attention")
elseif(CASE MATCHES "^(regression_test|benchmark)$")
  install(${VARVE_BUILD})
  run(${CMAKE_COMMAND} -S ${VARVE_SOURCE}/examples/${CASE} -B ${WORK}/example ${settings}
      -DCMAKE_PREFIX_PATH=${WORK}/prefix "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Werror")
  run(${CMAKE_COMMAND} --build ${WORK}/example --parallel 2)
  if(CASE STREQUAL "benchmark")
    run(${WORK}/example/engine_benchmark --benchmark_min_time=0.001)
    expect_in_output("manual_time.*FLOP/s=.*gpu_time=.*launches=1 ")
  else()
    run(ctest --test-dir ${WORK}/example --output-on-failure)
    expect_in_output("100% tests passed, 0 tests failed out of 8")
  endif()
elseif(CASE STREQUAL "embedded")
  set(inside -DVARVE_SOURCE=${VARVE_SOURCE} -DVARVE_IO=OFF)
  configure(added ${inside})
  use(fetched ${inside} -DVARVE_FETCH=ON -DVARVE_SHARED=OFF -DVARVE_INSTALL=ON)
  install(${WORK}/fetched)
  use(consumer -DCMAKE_PREFIX_PATH=${WORK}/prefix -DVARVE_WANTED=0.1)
else()
  message(FATAL_ERROR "no case '${CASE}'")
endif()

file(REMOVE_RECURSE ${WORK})
