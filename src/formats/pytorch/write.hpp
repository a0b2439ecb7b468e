// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A trace as Chrome JSON: what the PyTorch profiler would write, and what only varve knows (own_format.hpp).
#ifndef VARVE_FORMATS_PYTORCH_WRITE_HPP
#define VARVE_FORMATS_PYTORCH_WRITE_HPP

#include "formats/pytorch/json_writer.hpp"
#include "formats/pytorch/own_format.hpp"

#include <varve/trace.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// What both halves of the writer need to know of a trace.
struct written {
  explicit written(const trace& t);

  /// A string of the trace as JSON, quotes and all.
  [[nodiscard]] const std::string& text(std::uint32_t string);
  /// "attention 3": the last step of a label that the file has.
  [[nodiscard]] std::string step(std::uint32_t label) const;
  /// "decode / attention 3", as JSON.
  [[nodiscard]] const std::string& path(std::uint32_t label);
  [[nodiscard]] std::uint64_t process_row(std::uint32_t device) const noexcept {
    return device + first_device_row;
  }

  const trace& source;
  label_table labels;  // as the file has them
  string_table label_names;
  own::label_paths label_of;
  time_ns base = 0;
  std::size_t calls = 0;  // that have all columns
  std::size_t activities = 0;
  std::size_t operators = 0;
  std::set<std::uint32_t> devices;         // of streams and gauges
  std::vector<std::uint64_t> stream_rows;  // "tid" of each stream
  std::vector<std::uint32_t> lanes;        // of requests: by range, those of one lane do not overlap
  std::uint32_t lane_count = 0;
  std::uint32_t request_process = 0;
  std::uint64_t first_device_row = 0;

 private:
  void find_base();
  void find_rows();
  void find_lanes();

  std::vector<std::string> texts_;
  std::vector<std::string> paths_;
};

/// "tid" of what has no thread, and of the first lane of requests: beyond those of an operating system.
inline constexpr std::uint64_t no_thread_row = 1000000000;

/// Everything before the first event: the header, and "traceEvents": [.
void write_header(json_writer& out, written& w);
/// Its numbers and the name of its pipe, as elements of a list.
void write_work(json_writer& out, const work& w);
/// The names of rows, as events.
void write_rows(json_writer& out, written& w);
void write_gauges(json_writer& out, const written& w);

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_WRITE_HPP
