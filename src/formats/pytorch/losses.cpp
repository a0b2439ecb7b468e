// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/losses.hpp"

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

std::string_view text(lost what) noexcept {
  switch (what) {
    case lost::not_an_object:
      return "events skipped: not a JSON object";
    case lost::incomplete_phase:
      return "events skipped: a phase (\"ph\") other than X";
    case lost::invalid_time:
      return "events skipped: no valid time";
    case lost::time_out_of_range:
      return "events skipped: time out of range";
    case lost::negative_duration:
      return "events skipped: negative duration";
    case lost::no_stream:
      return "events skipped: no valid device and stream";
    case lost::no_thread:
      return "calls and annotations without a valid process and thread: joined to nothing";
    case lost::many_threads:
      return "calls and annotations of threads beyond the first 65534: joined to nothing";
    case lost::many_streams:
      return "activities of streams beyond the first 65534: taken as one stream";
    case lost::no_name:
      return "events without a valid name: named \"(unnamed)\"";
    case lost::invalid_correlation:
      return "invalid correlation ids: taken as none";
    case lost::shared_correlation:
      return "activities whose correlation id calls of several processes have: joined to none";
    case lost::invalid_shape:
      return "kernels with an invalid grid, block or resources: taken as unknown";
    case lost::invalid_bytes:
      return "copies and sets with an invalid size: taken as unknown";
    case lost::invalid_node:
      return "invalid graph node ids: taken as none";
    case lost::invalid_message:
      return "invalid sizes of collectives' messages or groups: taken as unknown";
    case lost::invalid_arguments:
      return "events whose \"args\" are not a JSON object: taken as none";
    case lost::repeated_key:
      return "repeated keys: the first one counts";
    case lost::long_name:
      return "names cut to 65536 bytes";
    case lost::damaged_name:
      return "names with invalid escapes: repaired";
    case lost::bad_utf8:
      return "bytes that are not UTF-8: replaced by U+FFFD";
    case lost::bare_control:
      return "bare control characters in strings: replaced by spaces";
    case lost::trailing_comma:
      return "commas after the last member of an object or array: ignored";
    case lost::unknown_row:
      return "events without a category, before the name of their process: not read";
    case lost::deep_annotation:
      return "annotations nested deeper than 128, or in paths of more than 4096 bytes: left out";
    case lost::crossing_annotation:
      return "annotations that overlap another without nesting: taken as its siblings";
    case lost::unknown_vllm_pass:
      return "annotations that look like a pass of vLLM, but whose numbers are not understood: taken as ops";
    case lost::unknown_sglang_pass:
      return "annotations that look like a pass of SGLang, but are not understood: taken as ops";
    case lost::unknown_atom_pass:
      return "annotations that look like a pass of ATOM, but are not understood: taken as ops";
    case lost::slow_rule:
      return "names that took a naming rule too long to search: taken as not fitting";
    case lost::invalid_base_time:
      return "invalid baseTimeNanoseconds: times stay relative";
    case lost::invalid_device:
      return "invalid entries of deviceProperties: left out";
    case lost::invalid_inputs:
      return "kinds of operators whose inputs' shapes or types are invalid: taken as unknown";
    case lost::unfit_inputs:
      return "kinds of operators whose inputs' sizes do not fit each other, or make 4e18 FLOPs or bytes: "
             "their "
             "work is unknown";
    case lost::invalid_memory:
      return "records of memory with an invalid size, device or time: left out";
    case lost::absurd_work:
      return "operators beyond 4e18 FLOPs or bytes in all: their work is left out";
    case lost::untold_work:
      return "operators whose work depends on more than shapes (sequences in a cache, experts): not counted";
    case lost::invalid_flow:
      return "flow events with an invalid id, time or stream: left out";
    case lost::many_flows:
      return "flow events beyond 1048576 that tell more than other events: left out";
    case lost::own_late:
      return "what varve wrote of its trace stands after the events: read as a trace of the PyTorch profiler";
    case lost::own_version:
      return "what varve wrote of its trace is of an unknown version: read as a trace of the PyTorch "
             "profiler";
    case lost::own_value:
      return "invalid values in what varve wrote: taken as unknown";
    case lost::own_reference:
      return "references to records that are not in the file: taken as none";
    case lost::own_order:
      return "ranges and operators out of order, or of no known kind: left out";
    case lost::count_:
      break;
  }
  return {};
}

}  // namespace

void loss_counts::write(trace& to, std::string_view where) const {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    to.lose(text(static_cast<lost>(i)), where, counts_[i]);
  }
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
