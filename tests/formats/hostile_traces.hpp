// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A small trace to damage, and what the tests of damaged ones share.
#ifndef VARVE_TESTS_FORMATS_HOSTILE_TRACES_HPP
#define VARVE_TESTS_FORMATS_HOSTILE_TRACES_HPP

#include "formats/input_files.hpp"

#include <varve/io.hpp>

#include <cstdint>
#include <map>
#include <string>

class hostile_traces : public input_files {
 protected:
  inline static const std::string small = R"({"schemaVersion": 1, "traceEvents": [
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": 1.5, "dur": 2,
   "args": {"correlation": 3}},
  {"ph": "X", "cat": "kernel", "name": "a \"b\" [c", "pid": 0, "tid": 7, "ts": 10, "dur": 5.25,
   "args": {"device": 0, "stream": 7, "correlation": 3, "grid": [1, 2, 3], "block": [4, 5, 6]}},
  {"ph": "X", "cat": "user_annotation", "name": "\u00e9", "pid": 1, "tid": 2, "ts": 0, "dur": 20}
], "baseTimeNanoseconds": 5})";

  varve::trace read(const std::string& json) { return varve::read_pytorch(write("t.json", json)); }
  varve::trace read_events(const std::string& events) { return read("{\"traceEvents\": [" + events + "]}"); }
  std::string error_of_reading(const std::string& json) {
    return error_of([&] { static_cast<void>(read(json)); });
  }
  static std::map<std::string, std::uint64_t> losses(const varve::trace& t) {
    std::map<std::string, std::uint64_t> out;
    for (const varve::loss& l : t.losses) {
      out[l.what] += l.count;
    }
    return out;
  }
  static std::string event(const std::string& cat, const std::string& rest) {
    return R"({"ph": "X", "cat": ")" + cat + R"(", "name": "n", "pid": 0, "tid": 7, )" + rest + "}";
  }
};

#endif  // VARVE_TESTS_FORMATS_HOSTILE_TRACES_HPP
