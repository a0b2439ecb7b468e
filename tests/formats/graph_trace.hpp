// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Makes small traces with replayed graphs. Times in microseconds.
#ifndef VARVE_TESTS_FORMATS_GRAPH_TRACE_HPP
#define VARVE_TESTS_FORMATS_GRAPH_TRACE_HPP

#include <string>
#include <utility>
#include <vector>

/// Events are added in order; text() is the whole trace.
class graph_trace {
 public:
  void event(const std::string& cat, const std::string& name, int process, int thread, int begin, int length,
             const std::string& args = "") {
    text_ += (text_.empty() ? "" : ",\n") + (R"({"ph": "X", "cat": ")" + cat + R"(", "name": ")" + name) +
             R"(", "pid": )" + std::to_string(process) + R"(, "tid": )" + std::to_string(thread) +
             R"(, "ts": )" + std::to_string(begin) + R"(, "dur": )" + std::to_string(length) +
             R"(, "args": {)" + args + "}}";
  }
  void annotation(const std::string& name, int begin, int end) {
    event("user_annotation", name, 50, 51, begin, end - begin);
  }
  void module(const std::string& name, int begin, int end) {
    event("python_function", "nn.Module: " + name, 50, 51, begin, end - begin);
  }
  void call(const std::string& name, int begin, int end, int correlation, const std::string& args = "") {
    event("cuda_runtime", name, 50, 51, begin, end - begin,
          "\"correlation\": " + std::to_string(correlation) + args);
  }
  /// `name` is a copy's or a set's by its first word.
  void activity(const std::string& name, int begin, int length, int correlation, int stream = 7,
                const std::string& args = "") {
    const std::string cat = name.rfind("Memcpy", 0) == 0   ? "gpu_memcpy"
                            : name.rfind("Memset", 0) == 0 ? "gpu_memset"
                                                           : "kernel";
    event(cat, name, 0, stream, begin, length,
          R"("device": 0, "stream": )" + std::to_string(stream) + R"(, "correlation": )" +
              std::to_string(correlation) + args);
  }
  /// A launch of a graph at `begin` lasting 2, and its kernels of 10 each back to back from 5 later on.
  void launch(int begin, int correlation, const std::vector<std::string>& kernels, int stream = 7) {
    call("cudaGraphLaunch", begin, begin + 2, correlation);
    int at = begin + 5;
    for (const std::string& kernel : kernels) {
      activity(kernel, at, 10, correlation, stream);
      at += 10;
    }
  }
  [[nodiscard]] std::string text() const { return R"({"schemaVersion": 1, "traceEvents": [)" + text_ + "]}"; }

 private:
  std::string text_;
};

inline std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline std::vector<std::string> operator*(int n, const std::vector<std::string>& block) {
  std::vector<std::string> out;
  for (int k = 0; k < n; ++k) {
    out = std::move(out) + block;
  }
  return out;
}

#endif  // VARVE_TESTS_FORMATS_GRAPH_TRACE_HPP
