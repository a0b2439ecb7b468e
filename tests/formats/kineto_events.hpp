// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Events of a small PyTorch trace, as text. Times in µs; the engine's thread is 51 of process 50.
#ifndef VARVE_TESTS_FORMATS_KINETO_EVENTS_HPP
#define VARVE_TESTS_FORMATS_KINETO_EVENTS_HPP

#include "formats/input_files.hpp"

#include <varve/io.hpp>
#include <varve/report.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

class kineto_events : public input_files {
 protected:
  void annotation(const std::string& name, int begin, int end, int thread = 51) {
    host("user_annotation", name, begin, end, thread);
  }
  void module(const std::string& name, int begin, int end, int thread = 51) {
    host("python_function", "nn.Module: " + name, begin, end, thread);
  }
  void frame(const std::string& name, int begin, int end, int thread = 51) {
    host("python_function", name, begin, end, thread);
  }
  /// A launch [at, at + 1) of a kernel [begin, end).
  void launch(int at, int begin, int end, int thread = 51) {
    const std::string id = std::to_string(++launches_);
    host("cuda_runtime", "cudaLaunchKernel", at, at + 1, thread, R"(, "args": {"correlation": )" + id + "}");
    add(R"({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": )" + std::to_string(begin) +
        R"(.000, "dur": )" + std::to_string(end - begin) +
        R"(, "args": {"device": 0, "stream": 7, "correlation": )" + id + "}}");
  }
  varve::trace read(const varve::read_options& options = {}) {
    return varve::read_pytorch(
        write("t.json", R"({"schemaVersion": 1, "traceEvents": [)" + std::exchange(events_, {}) + "]}"),
        options);
  }

  /// "decode 2 passes, 3 sequences, 0 + 5 tokens, step 30 us": a phase in one line, tokens by side.
  static std::vector<std::string> phases(const varve::report& r) {
    std::vector<std::string> out;
    for (const varve::phase_row& p : r.phases) {
      out.push_back(p.phase + ": " + std::to_string(p.passes) + " passes, " + std::to_string(p.sequences) +
                    " sequences, " + std::to_string(p.prefill_tokens) + " + " +
                    std::to_string(p.decode_tokens) + " tokens, " + std::to_string(p.step.total / 1000) +
                    " us");
    }
    return out;
  }
  static std::map<std::string, std::uint64_t> losses(const varve::trace& t) {
    std::map<std::string, std::uint64_t> out;
    for (const varve::loss& l : t.losses) {
      out[l.what] += l.count;
    }
    return out;
  }

 private:
  void host(const std::string& cat, const std::string& name, int begin, int end, int thread,
            const std::string& more = "") {
    add(R"({"ph": "X", "cat": ")" + cat + R"(", "name": ")" + name + R"(", "pid": 50, "tid": )" +
        std::to_string(thread) + R"(, "ts": )" + std::to_string(begin) + R"(.000, "dur": )" +
        std::to_string(end - begin) + more + "}");
  }
  void add(const std::string& event) { events_ += (events_.empty() ? "" : ",") + event; }

  std::string events_;
  int launches_ = 0;
};

#endif  // VARVE_TESTS_FORMATS_KINETO_EVENTS_HPP
