# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: the varve authors
#
# nvcc and the CUDA runtime, for the example engine's CUDA back end, the measuring of ceilings and the tests on a
# GPU; nothing else needs them. CMAKE_CUDA_COMPILER is set where they can be used.

if(NOT VARVE_CUDA OR CMAKE_CROSSCOMPILING)
  return()
endif()
find_package(CUDAToolkit 12.0 QUIET)
if(VARVE_SANITIZE)
  return()
endif()
if(CUDAToolkit_FOUND)
  if(NOT DEFINED ENV{CUDACXX})
    set(ENV{CUDACXX} ${CUDAToolkit_NVCC_EXECUTABLE})  # it need not be on the PATH
  endif()
  include(CheckLanguage)
  check_language(CUDA)
endif()
if(NOT CMAKE_CUDA_COMPILER)
  message(STATUS "varve: no nvcc of CUDA 12 or later that works, what runs on a GPU is not built")
  return()
endif()
set(VARVE_CUDA_ARCHITECTURES 90 CACHE STRING "What nvcc compiles for, as CMAKE_CUDA_ARCHITECTURES takes it")
set(CMAKE_CUDA_ARCHITECTURES ${VARVE_CUDA_ARCHITECTURES})
enable_language(CUDA)
