// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Events in, a trace out. Believes nothing that an event says: what does not fit is left out or repaired,
// and counted in trace::losses.
#ifndef VARVE_FORMATS_PYTORCH_BUILDER_HPP
#define VARVE_FORMATS_PYTORCH_BUILDER_HPP

#include "formats/pytorch/annotations.hpp"
#include "formats/pytorch/captures.hpp"
#include "formats/pytorch/collectives.hpp"
#include "formats/pytorch/event.hpp"
#include "formats/pytorch/flows.hpp"
#include "formats/pytorch/kept_texts.hpp"
#include "formats/pytorch/losses.hpp"
#include "formats/pytorch/operators.hpp"
#include "formats/pytorch/own_reader.hpp"
#include "formats/pytorch/processes.hpp"

#include <varve/trace.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

class builder {
 public:
  /// `captured` lends its layers to replayed graphs; `notes`, where given, gets what only a reader of
  /// captures needs. `layers` is how many the model is known to have, or 0.
  builder(loss_counts& losses, naming_rules rules, const captures& captured, capture_notes* notes,
          std::size_t layers)
      : losses_{losses},
        captured_{captured},
        notes_{notes},
        layers_{layers},
        annotations_{std::move(rules)} {}

  /// An event with a begin and a duration, of a kind that is read.
  void add(const event& e);
  /// An event without a category, if the names of its process and thread tell what it is.
  bool add_by_row(event e);
  /// Whether that could not be told of any event, and nothing else was read.
  [[nodiscard]] bool has_no_categories() const noexcept {
    return empty_ && uncategorised_ && losses_[lost::unknown_row] == 0;
  }
  void add_memory(const event& e);
  /// A start ("s") or end ("f") of a flow of a kind that is read.
  void add_flow(const event& e);
  /// The root's member "varve": from now on the events are of a trace that varve wrote.
  void start_own(std::string_view header);
  /// Whether that is so; then `e` is taken.
  bool add_own(const event& e) {
    if (own_) {
      own_->add(e);
    }
    return own_.has_value();
  }
  /// A frame of Python that is not read. Those that were open when recording began come before any that ends.
  void note_frame(const event& e);
  /// All events will be `times` as many as those so far, or about. Growing by and by would touch twice the
  /// memory.
  void expect(double times);
  /// The name of a thread or process.
  void add_name(const event& e);
  void add(const device_properties& device);

  /// The trace, once. `unread` events were of other kinds.
  [[nodiscard]] trace finish(const header& about, const std::string& path, std::uint64_t unread);

 private:
  /// Ids from here on stand for texts in `strings`.
  static constexpr std::uint64_t text_ids = std::uint64_t{1} << 63U;

  struct interval {
    time_ns begin = 0;
    time_ns end = 0;
  };
  struct thread_key {
    std::uint64_t thread = 0;
    std::uint32_t process = 0;
    bool operator==(const thread_key& other) const noexcept {
      return thread == other.thread && process == other.process;
    }
  };
  struct thread_hash {
    std::size_t operator()(const thread_key& k) const noexcept {
      return (k.thread ^ (std::uint64_t{k.process} << 32U)) * 0x9E3779B97F4A7C15ULL;
    }
  };

  void add_activity(const event& e, interval when);
  void add_call(const event& e, interval when);

  std::optional<interval> interval_of(const event& e);
  std::uint64_t correlation_of(const event& e);
  std::uint16_t thread_of(const event& e);
  std::uint16_t stream_of(const event& e);
  std::uint32_t detail_of(const event& e);
  std::uint32_t shape_of(const event& e);
  std::uint32_t node_of(const event& e);
  void note_call(const event& e, call_kind kind);
  void note_annotation(std::uint32_t name, std::uint16_t thread, interval when);
  std::uint32_t name_of(std::string_view token);
  std::string text_of(std::string_view token);
  std::optional<std::uint64_t> identity(std::string_view token);
  std::optional<thread_key> thread_key_of(const event& e);

  void shift(std::string_view base_time);
  void join_within_processes();
  void complete_threads();
  void complete_devices();
  void describe(const header& about, const std::string& path, std::uint64_t unread);

  loss_counts& losses_;
  std::optional<own_reader> own_;
  const captures& captured_;
  capture_notes* notes_;
  std::size_t layers_;
  std::vector<capture_notes::bound> capture_bounds_;
  std::vector<std::uint64_t> graph_of_node_;  // by entry of trace::graph_nodes: "graph id", or 0
  trace trace_;
  annotations annotations_;
  collectives collectives_;
  operators operators_;
  flows flows_;
  bool numbered_ = false;  // the last operator has a sequence number
  std::vector<std::uint64_t> call_correlations_;
  std::vector<std::uint64_t> activity_correlations_;
  processes processes_;
  std::vector<std::uint32_t> stream_ranks_;  // by stream, as far as there are any
  time_ns first_ = 0;                        // bounds of all times
  time_ns last_ = 0;
  bool empty_ = true;
  bool below_microsecond_ = false;  // some time is no whole number of microseconds
  bool rows_ = false;               // some event was told by its row
  bool uncategorised_ = false;      // some event with a time has neither a category nor a known row
  time_ns total_ = 0;               // of all durations
  std::int64_t total_bytes_ = 0;

  kept_texts kept_;                                            // keys of the next two
  std::unordered_map<std::string_view, std::uint32_t> names_;  // raw token to string
  struct called {
    std::uint32_t name = none;
    call_kind kind = call_kind::other;
  };
  std::unordered_map<std::string_view, called> calls_;  // by raw token
  std::unordered_map<std::uint64_t, std::uint32_t> nodes_;
  std::unordered_map<thread_key, std::string, thread_hash> thread_names_;
  std::unordered_map<std::uint32_t, std::string> process_names_;
  std::unordered_map<thread_key, time_ns, thread_hash> first_frame_ends_;
  thread_key last_thread_;
  std::uint16_t last_thread_index_ = narrow_none;
  stream_info last_stream_;
  std::uint16_t last_stream_index_ = narrow_none;
  struct cached_shape {
    launch_shape shape;
    std::uint32_t index = none;
  };
  std::array<cached_shape, 64> shapes_;
  std::string graphs_;  // what was found out about them
  std::uint64_t kernels_ = 0;
  std::uint64_t copies_ = 0;
  std::uint64_t sets_ = 0;
};

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_BUILDER_HPP
