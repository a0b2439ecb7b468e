// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Drives the stand-ins for libcublas and libcublasLt: they multiply nothing, and note what they are called
// with. Thread safe.
#ifndef VARVE_TESTS_STANDIN_CUBLAS_CONTROL_HPP
#define VARVE_TESTS_STANDIN_CUBLAS_CONTROL_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#define STANDIN_CUBLAS __attribute__((visibility("default")))

namespace standin_cublas {

/// One call: the bytes of its arguments, one after the other.
struct call {
  std::string name;
  std::vector<unsigned char> arguments;
};

/// Back to a library that nobody has called.
STANDIN_CUBLAS void reset();
/// The calls since; those of products alone.
STANDIN_CUBLAS std::vector<call> calls();
/// Whether calls are noted. For measurements.
STANDIN_CUBLAS void note_calls(bool noted);
/// What all products answer from now on.
STANDIN_CUBLAS void answer(int status);
/// What a handle allows: cublasMath_t and cublasPointerMode_t, of all handles.
STANDIN_CUBLAS void set_modes(int math, int pointers);
/// The bytes that a call with these arguments notes.
template <class... Arguments>
std::vector<unsigned char> bytes_of(const Arguments&... arguments) {
  std::vector<unsigned char> out((sizeof arguments + ...));
  std::size_t at = 0;
  ((std::memcpy(&out[at], &arguments, sizeof arguments), at += sizeof arguments), ...);
  return out;
}

/// Run inside of each product, but not inside of itself.
STANDIN_CUBLAS void inside(std::function<void()> what);

/// A layout of a matrix or the description of a product: values by number of the attribute. A pointer to one
/// is cublasLt's handle of it.
struct attributes {
  std::map<int, std::int64_t> values;
  attributes(std::initializer_list<std::pair<const int, std::int64_t>> all) : values{all} {}
};

/// Of the library that passes for libcublasLt: has it loaded.
STANDIN_CUBLAS void load_lt();

/// For the two libraries.
STANDIN_CUBLAS int called(const char* name, std::vector<unsigned char> arguments);
STANDIN_CUBLAS bool notes();

}  // namespace standin_cublas

#endif  // VARVE_TESTS_STANDIN_CUBLAS_CONTROL_HPP
