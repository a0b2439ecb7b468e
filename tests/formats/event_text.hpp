// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Events of a trace as the PyTorch profiler writes them. Process 50, device 0, times in µs.
#ifndef VARVE_TESTS_FORMATS_EVENT_TEXT_HPP
#define VARVE_TESTS_FORMATS_EVENT_TEXT_HPP

#include <string>

namespace event_text {

inline std::string event(const std::string& cat, const std::string& name, int process, int thread, int begin,
                         int end, const std::string& args) {
  return R"({"ph": "X", "cat": ")" + cat + R"(", "name": ")" + name + R"(", "pid": )" +
         std::to_string(process) + R"(, "tid": )" + std::to_string(thread) + R"(, "ts": )" +
         std::to_string(begin) + R"(, "dur": )" + std::to_string(end - begin) + R"(, "args": {)" + args +
         "}}";
}
inline std::string annotation(const std::string& name, int thread, int begin, int end,
                              const std::string& args = "", int process = 50) {
  return event("user_annotation", name, process, thread, begin, end, args);
}
inline std::string op(const std::string& name, int thread, int begin, int end, const std::string& args = "") {
  return event("cpu_op", name, 50, thread, begin, end, args);
}
/// What autograd notes of an operator; `forward_thread` 0 for a forward one.
inline std::string sequence(int number, int forward_thread) {
  return R"("Sequence number": )" + std::to_string(number) + R"(, "Fwd thread id": )" +
         std::to_string(forward_thread);
}
inline std::string launch(int thread, int begin, int end, int correlation, const std::string& args = "") {
  return event("cuda_runtime", "cudaLaunchKernel", 50, thread, begin, end,
               R"("correlation": )" + std::to_string(correlation) + (args.empty() ? "" : ", " + args));
}
inline std::string kernel(const std::string& name, int begin, int end, int correlation,
                          const std::string& args = "", int stream = 7) {
  return event("kernel", name, 0, stream, begin, end,
               R"("correlation": )" + std::to_string(correlation) + (args.empty() ? "" : ", " + args));
}

}  // namespace event_text

#endif  // VARVE_TESTS_FORMATS_EVENT_TEXT_HPP
