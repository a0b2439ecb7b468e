// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What becomes of records that there is no memory for: the trace's, or the process's.
#include "record/store.hpp"

#include <algorithm>

namespace varve::record {

namespace {

/// Takes back rows that were begun. Columns only get shorter, which throws nothing.
template <class... Columns>
void even_out(Columns&... columns) noexcept {
  const std::size_t rows = std::min({columns.size()...});
  (columns.resize(rows), ...);
}

}  // namespace

bool store::has_room(std::size_t bytes) noexcept {
  full_ = full_ || used_ + bytes > memory_;
  used_ += full_ ? 0 : bytes;
  return !full_;
}

bool store::keep(lost_kind what, std::size_t bytes) {
  const bool kept = has_room(bytes);
  over_memory_[what] += kept ? 0U : 1U;
  return kept;
}

void store::starve() noexcept {
  full_ = true;
  ++starved_;
  call_columns& c = t_.calls;
  even_out(c.begin, c.end, c.correlation, c.range, c.thread, c.kind, c.captured);
  for (activity_columns* a : {&t_.activities, &device_activities_}) {
    even_out(a->begin, a->end, a->correlation, a->name, a->node, a->detail, a->stream, a->kind);
  }
  even_out(captures_, t_.graph_nodes);
  even_out(works_before_, t_.works);
}

// Ends are no records of their own.
void store::lose(const slot* e) noexcept {
  switch (type_of(*e)) {
    case event::epoch:
    case event::end:
    case event::call_end:
    case event::thread_end:
    case event::adopt:
      break;
    case event::call_begin:
      ++over_memory_[(e->payload & call_alias) != 0 ? lost_details : lost_calls];
      break;
    case event::activity:
      ++over_memory_[lost_activities];
      break;
    case event::attribute:
    case event::work:
      ++over_memory_[lost_details];
      break;
    case event::request:
      ++over_memory_[e[1].head != 0 ? lost_ranges : lost_details];
      break;
    default:
      ++over_memory_[lost_ranges];
  }
}

std::vector<loss> store::reasons() const {
  std::vector<loss> out;
  if (starved_ != 0) {
    out.push_back(
        {"times that the process had no memory for records (std::bad_alloc): from then on nothing "
         "is kept, as if the trace memory were full",
         "session", starved_});
  }
  if (streamless_ != 0) {
    out.push_back({"activities on streams beyond the first 65534: kept, without their stream and device",
                   "session", streamless_});
  }
  if (held_up_ != 0) {
    out.push_back({"takes that a range held up which stays open around passes, here \"" + holder_ +
                       "\": mark the passes, not the loop around them",
                   "session", held_up_});
  }
  return out;
}

}  // namespace varve::record
