// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_TESTS_SUPPORT_MODULE_HPP
#define VARVE_TESTS_SUPPORT_MODULE_HPP

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

/// A shared object, loaded as engines load their plugins: with local symbols.
class module {
 public:
  explicit module(std::string path)
      : path_{std::move(path)}, handle_{::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL)} {
    EXPECT_NE(handle_, nullptr) << ::dlerror();
  }
  module(const module&) = delete;
  module& operator=(const module&) = delete;
  ~module() { unload(); }

  /// Afterwards its code and literals are gone from the process.
  void unload() {
    if (handle_ != nullptr) {
      ::dlclose(std::exchange(handle_, nullptr));
      EXPECT_EQ(::dlopen(path_.c_str(), RTLD_NOW | RTLD_NOLOAD), nullptr) << path_ << " is still loaded";
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
  void* handle_;
};

#endif  // VARVE_TESTS_SUPPORT_MODULE_HPP
