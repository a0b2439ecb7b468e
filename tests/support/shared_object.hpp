// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_TESTS_SUPPORT_SHARED_OBJECT_HPP
#define VARVE_TESTS_SUPPORT_SHARED_OBJECT_HPP

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

/// A shared object, loaded as engines load their plugins: with local symbols.
class shared_object {
 public:
  /// What unloading it must achieve: a library that it brought along may have to stay.
  enum unloading { goes, may_stay };

  explicit shared_object(std::string path, unloading expected = goes)
      : path_{std::move(path)}, expected_{expected}, handle_{::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL)} {
    EXPECT_NE(handle_, nullptr) << ::dlerror();
  }
  shared_object(const shared_object&) = delete;
  shared_object& operator=(const shared_object&) = delete;
  ~shared_object() { unload(); }

  /// Afterwards its code and literals are gone from the process, unless it may stay.
  void unload() {
    if (handle_ != nullptr) {
      ::dlclose(std::exchange(handle_, nullptr));
      EXPECT_TRUE(expected_ == may_stay || ::dlopen(path_.c_str(), RTLD_NOW | RTLD_NOLOAD) == nullptr)
          << path_ << " is still loaded";
    }
  }

  template <class Function>
  Function* function(const char* name) const {
    void* symbol = ::dlsym(handle_, name);
    EXPECT_NE(symbol, nullptr) << path_ << " has no " << name;
    return reinterpret_cast<Function*>(symbol);
  }

 private:
  std::string path_;
  unloading expected_;
  void* handle_;
};

#endif  // VARVE_TESTS_SUPPORT_SHARED_OBJECT_HPP
