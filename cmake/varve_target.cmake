# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: the varve authors
#
# What all of our own targets share. Nothing here touches a project that embeds varve.

find_package(Threads REQUIRED)

# The NVTX headers are private and optional.
if(VARVE_CUDA)
  find_path(VARVE_NVTX_INCLUDE_DIR nvtx3/nvToolsExt.h
            HINTS ${CUDAToolkit_ROOT} ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda
            PATH_SUFFIXES include targets/x86_64-linux/include)
endif()

# Sources are C++20; headers stay C++17 for those who include them.
function(varve_target target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD_BATCH_SIZE 0
    CXX_EXTENSIONS OFF C_STANDARD 11 CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
    $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict;-Wno-stringop-overflow>"  # false alarms of g++ 12 on std::string (GCC bug 105651)
    $<$<BOOL:${CMAKE_UNITY_BUILD}>:-Wno-shadow>  # of a name in another source
    $<$<BOOL:${VARVE_WERROR}>:-Werror>)
  if(VARVE_SANITIZE)
    # CUPTI's functions and our callbacks are called through declarations of our own: alike, not the same types.
    target_compile_options(${target} PRIVATE -fsanitize=${VARVE_SANITIZE} -fno-omit-frame-pointer
                           -fno-sanitize-recover=all
                           "$<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function;-fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/cmake/sanitizer_ignorelist.txt>")
    target_link_options(${target} PRIVATE -fsanitize=${VARVE_SANITIZE})
    # C programs need the C++ half of clang's runtime too, for the library that they link.
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  endif()
endfunction()

# Where CMAKE_UNITY_BUILD is set (the presets of sanitizers and the cross build, which cost the most), the sources of a
# target are compiled as one; with this, those of each of its folders.
function(varve_unity_by_folder target)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  foreach(source IN LISTS sources)
    get_filename_component(folder ${source} DIRECTORY)
    string(MAKE_C_IDENTIFIER ${folder} folder)
    set_property(SOURCE ${source} TARGET_DIRECTORY ${target} PROPERTY UNITY_GROUP ${folder})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()
