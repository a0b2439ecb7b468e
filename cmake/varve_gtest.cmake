# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: the varve authors
#
# GoogleTest: the installed one, or, where there is none for the target (cross builds), from its sources as
# Debian's package googletest installs them.

find_package(GTest QUIET)
if(NOT GTest_FOUND)
  find_path(VARVE_GTEST_SOURCE googlemock/CMakeLists.txt PATHS /usr/src/googletest NO_CMAKE_FIND_ROOT_PATH)
  if(NOT VARVE_GTEST_SOURCE)
    message(FATAL_ERROR "The tests need GoogleTest: install libgtest-dev and libgmock-dev (for a cross build "
                        "googletest), or set VARVE_TESTS=OFF")
  endif()
  set(INSTALL_GTEST OFF)
  add_subdirectory(${VARVE_GTEST_SOURCE} ${CMAKE_BINARY_DIR}/googletest EXCLUDE_FROM_ALL SYSTEM)
endif()
