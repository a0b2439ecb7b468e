// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/operators.hpp"

#include "analyze/memory_index.hpp"
#include "analyze/numbers.hpp"
#include "analyze/operator_rows.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

/// What PyTorch leaves out of its tables: marks of the profiler, and questions that cost nothing.
constexpr std::array<std::string_view, 6> unlisted{"profiler::_record_function_enter",
                                                   "profiler::_record_function_enter_new",
                                                   "profiler::_record_function_exit",
                                                   "aten::is_leaf",
                                                   "aten::output_nr",
                                                   "aten::_version"};

struct host_event {
  time_ns begin = 0;
  time_ns end = 0;
  std::uint32_t index = 0;
  std::uint16_t thread = narrow_none;
  enum class source : std::uint8_t { marked, call, overhead } from = source::marked;
};

time_ns length(time_ns begin, time_ns end) noexcept {
  return std::max<time_ns>(0, clamp_time(end) - clamp_time(begin));
}

class tabulation {
 public:
  tabulation(const trace& t, const std::vector<bool>& known, const analyze_options& options)
      : t_{t},
        known_{known},
        o_{t.operators},
        rows_{t, common_ceilings(t, options)},
        launched_(t.operators.size()),
        memory_{t.memory_events} {}

  operator_tables run() {
    add_activities();
    collect();
    walk();
    for (const memory_event& m : memory_.unassigned()) {
      operator_sums s;
      s.memory[m.on_device ? 1 : 0] = m.bytes;
      rows_.add(rows_.of_name("[memory]", false, false), s, nullptr);
    }
    operator_tables out = rows_.take();
    out.work_share = all_time_ > 0 ? static_cast<double>(known_time_) / static_cast<double>(all_time_) : 0;
    return out;
  }

 private:
  [[nodiscard]] const operator_kind* kind_of(std::uint32_t op) const noexcept {
    return o_.kind[op] < t_.operator_kinds.size() ? &t_.operator_kinds[o_.kind[op]] : nullptr;
  }

  /// Rows of what ran on devices, and times of what each operator launched itself.
  void add_activities() {
    const activity_columns& a = t_.activities;
    for (std::size_t i = 0; i < a.size(); ++i) {
      operator_sums s;
      s.launched = length(a.begin[i], a.end[i]);
      rows_.add(rows_.of_text(a.name[i], true), s, nullptr);
      add_to(all_time_, s.launched);
      const std::uint32_t op = i < t_.operator_of_activity.size() ? t_.operator_of_activity[i] : none;
      if (op < o_.size()) {
        add_to(launched_[op], s.launched);
        add_to(known_time_, known_[op] ? s.launched : 0);
      }
    }
  }

  /// The thread that ran the profiler: it has the steps, or else the most operators. PyTorch takes calls that
  /// no operator made as this thread's, whichever made them.
  [[nodiscard]] std::uint16_t collecting_thread() const {
    std::unordered_map<std::uint16_t, std::pair<std::uint64_t, std::uint64_t>> counts;
    for (std::uint32_t i = 0; i < o_.size(); ++i) {
      const operator_kind* const kind = kind_of(i);
      if (kind != nullptr && kind->source <= operator_source::annotation) {
        auto& [steps, all] = counts[o_.thread[i]];
        ++all;
        steps += kind->source == operator_source::annotation && is_step(t_.strings[kind->name]) ? 1U : 0U;
      }
    }
    std::uint16_t best = narrow_none;
    for (const auto& [thread, count] : counts) {
      if (best == narrow_none || count > counts[best] || (count == counts[best] && thread < best)) {
        best = thread;
      }
    }
    return best;
  }

  void collect() {
    const std::uint16_t main = collecting_thread();
    kind_rows_.reserve(t_.operator_kinds.size());
    std::vector<bool> listed;
    for (const operator_kind& kind : t_.operator_kinds) {
      kind_rows_.push_back(rows_.of_kind(kind));
      listed.push_back(std::find(unlisted.begin(), unlisted.end(), t_.strings[kind.name]) == unlisted.end());
    }
    for (std::uint32_t i = 0; i < o_.size(); ++i) {
      const operator_kind* const kind = kind_of(i);
      if (kind == nullptr || !listed[o_.kind[i]]) {
        continue;
      }
      if (kind->source == operator_source::device_annotation) {
        operator_sums s;
        s.launched = length(o_.begin[i], o_.end[i]);
        rows_.add(kind_rows_[o_.kind[i]], s, nullptr);
      } else {
        const bool overhead = kind->source == operator_source::overhead;
        add(o_.begin[i], o_.end[i], i, overhead ? main : o_.thread[i],
            overhead ? host_event::source::overhead : host_event::source::marked);
      }
    }
    for (std::uint32_t i = 0; i < t_.calls.size(); ++i) {
      const std::uint32_t op = i < t_.operator_of_call.size() ? t_.operator_of_call[i] : none;
      add(t_.calls.begin[i], t_.calls.end[i], i, op < o_.size() ? o_.thread[op] : main,
          host_event::source::call);
    }
    std::sort(events_.begin(), events_.end(), [](const host_event& a, const host_event& b) {
      return a.thread != b.thread ? a.thread < b.thread
             : a.begin != b.begin ? a.begin < b.begin
             : a.end != b.end     ? a.end > b.end
             : a.from != b.from   ? a.from < b.from
                                  : a.index < b.index;
    });
  }

  void add(time_ns begin, time_ns end, std::uint32_t index, std::uint16_t thread, host_event::source from) {
    begin = clamp_time(begin);
    events_.push_back({begin, std::max(begin, clamp_time(end)), index, thread, from});
  }

  /// Nests functions: one holds another that begins before its end and ends no later.
  void walk() {
    std::uint16_t thread = narrow_none;
    for (const host_event& e : events_) {
      const bool alone = e.thread != thread || thread == narrow_none;
      while (!open_.empty() && (alone || open_.back().end <= e.begin || open_.back().end < e.end)) {
        close();
      }
      thread = e.thread;
      frame f;
      f.end = e.end;
      f.self.sums.cpu = e.end - e.begin;
      f.self.sums.memory = memory_.between(e.begin, e.end);
      if (e.from == host_event::source::call) {
        const std::uint32_t name = e.index < t_.call_names.size() ? t_.call_names[e.index] : none;
        f.self.row = rows_.of_text(name, false);
      } else {
        f.self.row = kind_rows_[o_.kind[e.index]];
        f.self.sums.launched = launched_[e.index];
        f.self.declared = &t_.operator_kinds[o_.kind[e.index]].declared;
      }
      open_.push_back(f);
    }
    while (!open_.empty()) {
      close();
    }
  }

  struct function {
    operator_sums sums;
    const work* declared = nullptr;
    std::uint32_t row = 0;
    std::uint32_t children = 0;
  };
  struct frame {
    time_ns end = 0;
    function self;
    function child;  ///< the only one so far
  };

  void close() {
    frame f = open_.back();
    open_.pop_back();
    if (f.self.children == 1) {
      if (rows_.same_name(f.child.row, f.self.row)) {
        // One that does nothing but call another of its name (an overload): they count as one call.
        f.self.children = f.child.children;
        f.self.sums.launched = f.child.sums.launched;
        f.self.sums.inner = f.child.sums.inner;
      } else {
        list(f.child);
      }
    }
    if (open_.empty()) {
      list(f.self);
      return;
    }
    frame& parent = open_.back();
    parent.self.sums.add_inner(f.self.sums);
    if (parent.self.children == 0) {
      parent.child = f.self;
    } else {
      if (parent.self.children == 1) {
        list(parent.child);
      }
      list(f.self);
    }
    parent.self.children += parent.self.children < 2 ? 1 : 0;
  }

  void list(const function& f) { rows_.add(f.row, f.sums, f.declared); }

  const trace& t_;
  const std::vector<bool>& known_;
  const operator_columns& o_;
  operator_rows rows_;
  std::vector<time_ns> launched_;  // by operator
  memory_index memory_;
  std::vector<std::uint32_t> kind_rows_;
  std::vector<host_event> events_;
  std::vector<frame> open_;
  time_ns all_time_ = 0;
  time_ns known_time_ = 0;
};

bool is_complete(const operator_columns& o) noexcept {
  const std::size_t n = o.begin.size();
  return n < none && o.end.size() == n && o.kind.size() == n && o.parent.size() == n && o.thread.size() == n;
}

}  // namespace

std::vector<bool> operators_of_known_work(const trace& t) {
  const operator_columns& o = t.operators;
  std::vector<bool> known(is_complete(o) ? o.size() : 0);
  for (std::uint32_t i = 0; i < known.size(); ++i) {
    known[i] = (o.kind[i] < t.operator_kinds.size() && !t.operator_kinds[o.kind[i]].declared.empty()) ||
               (o.parent[i] < i && known[o.parent[i]]);
  }
  return known;
}

operator_tables tabulate_operators(const trace& t, const std::vector<bool>& known,
                                   const analyze_options& options) {
  return known.empty() ? operator_tables{} : tabulation{t, known, options}.run();
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
