// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Replaces the program's operators new and delete, so that a test can count allocations or let them fail. For
// one source of a program.
#ifndef VARVE_TESTS_SUPPORT_REPLACED_NEW_HPP
#define VARVE_TESTS_SUPPORT_REPLACED_NEW_HPP

#include <cstddef>
#include <cstdlib>
#include <new>

namespace testing_support {

/// The test's own: before each allocation, which fails with what it throws.
void before_allocation();

// Not inlined: compilers warn of free() behind a new that they can see.
__attribute__((noinline)) inline void* allocate(std::size_t size, std::size_t alignment) {
  before_allocation();
  if (void* memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)) {
    return memory;
  }
  throw std::bad_alloc{};
}
__attribute__((noinline)) inline void release(void* memory) noexcept { std::free(memory); }

}  // namespace testing_support

// NOLINTBEGIN(misc-definitions-in-headers): replacements must not be inline
void* operator new(std::size_t size) {
  return testing_support::allocate(size != 0 ? size : 1, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return testing_support::allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { testing_support::release(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { testing_support::release(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
  testing_support::release(memory);
}
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  testing_support::release(memory);
}
// NOLINTEND(misc-definitions-in-headers)

#endif  // VARVE_TESTS_SUPPORT_REPLACED_NEW_HPP
