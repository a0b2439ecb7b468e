// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/elsewhere.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

constexpr std::string_view engine = "autograd::engine::evaluate_function";
constexpr std::string_view backward_step = "backward";
constexpr std::string_view backward_mark = " (backward)";
constexpr std::size_t most_ancestors = 64;  // operators around a call that are looked at
constexpr std::size_t most_steps = 62;      // of a forward path that is copied: reports keep 64
constexpr std::size_t longest_path = 4096;  // bytes of it
constexpr std::size_t least_bound = 1024;   // of derived ranges
constexpr time_ns never = std::numeric_limits<time_ns>::max();

bool launches(call_kind kind) noexcept {
  return kind == call_kind::launch || kind == call_kind::graph_launch || kind == call_kind::copy ||
         kind == call_kind::set;
}

time_ns middle(time_ns begin, time_ns end) noexcept { return begin + (end - begin) / 2; }

/// The pass that is open at an instant, where all that are open are on one thread: the innermost.
class open_passes {
 public:
  explicit open_passes(const trace& t) {
    struct boundary {
      time_ns at;
      std::uint32_t range;
      bool opens;
    };
    std::map<std::uint32_t, std::vector<boundary>> by_process;
    for (std::uint32_t r = 0; r < t.ranges.size(); ++r) {
      const range& pass = t.ranges[r];
      if (pass.kind == range_kind::phase && pass.thread < t.threads.size() && pass.end < never) {
        auto& all = by_process[t.threads[pass.thread].process];
        all.push_back({pass.begin, r, true});
        all.push_back({pass.end + 1, r, false});  // its end counts as inside
      }
    }
    for (auto& [process, boundaries] : by_process) {
      std::stable_sort(boundaries.begin(), boundaries.end(),
                       [](const boundary& a, const boundary& b) { return a.at < b.at; });
      std::map<std::uint16_t, std::set<std::pair<time_ns, std::uint32_t>>> open;  // by thread
      auto& stretches = processes_[process];
      for (const boundary& b : boundaries) {
        const range& pass = t.ranges[b.range];
        auto& of_thread = open[pass.thread];
        if (b.opens) {
          of_thread.insert({pass.begin, b.range});
        } else {
          of_thread.erase({pass.begin, b.range});
        }
        if (of_thread.empty()) {
          open.erase(pass.thread);
        }
        stretches.push_back({b.at, open.size() == 1 ? open.begin()->second.rbegin()->second : none});
      }
    }
  }

  [[nodiscard]] bool any() const noexcept { return !processes_.empty(); }
  [[nodiscard]] std::uint32_t at(std::uint32_t process, time_ns when) const {
    const auto found = processes_.find(process);
    if (found == processes_.end()) {
      return none;
    }
    const auto& stretches = found->second;
    const auto next = std::upper_bound(stretches.begin(), stretches.end(), when,
                                       [](time_ns t, const stretch& s) { return t < s.begin; });
    return next == stretches.begin() ? none : std::prev(next)->pass;
  }

 private:
  struct stretch {
    time_ns begin;
    std::uint32_t pass;
  };
  std::unordered_map<std::uint32_t, std::vector<stretch>> processes_;
};

/// Backward operators and the forward ones that they came of.
class autograd {
 public:
  autograd(const trace& t, const std::vector<operators::sequence>& sequences)
      : trace_{t}, sequences_{sequences} {
    for (const operators::sequence& s : sequences) {
      any_ |= s.forward_thread != 0;
      if (s.index < t.operators.size() && s.forward_thread == 0) {
        forward_.push_back({s.number, t.operators.thread[s.index], t.operators.begin[s.index], s.index});
      }
    }
    std::sort(forward_.begin(), forward_.end(), [](const forward& a, const forward& b) {
      return std::tuple{a.number, a.thread, a.begin, a.index} <
             std::tuple{b.number, b.thread, b.begin, b.index};
    });
    evaluates_.reserve(t.operator_kinds.size());
    for (const operator_kind& kind : t.operator_kinds) {
      evaluates_.push_back(kind.source == operator_source::operation &&
                           t.strings[kind.name].substr(0, engine.size()) == engine);
      any_ |= evaluates_.back();
    }
  }

  [[nodiscard]] bool any() const noexcept { return any_; }

  /// What an operator's backward parent is, if any.
  struct found {
    bool is_backward = false;
    std::uint32_t outermost = none;  ///< backward operator around it
    std::uint32_t forward = none;    ///< the operator that the innermost came of
  };

  /// Looks at `op` and what is around it, as far as it lies around [begin, end].
  [[nodiscard]] found look(std::uint32_t op, time_ns begin, time_ns end) const {
    found out;
    const operator_columns& o = trace_.operators;
    for (std::size_t n = 0; op != none && n < most_ancestors; ++n, op = o.parent[op]) {
      if (o.begin[op] > begin || o.end[op] < end) {
        continue;
      }
      const operators::sequence* s = sequence_of(op);
      const bool numbered = s != nullptr && s->forward_thread != 0;
      if (numbered && out.forward == none) {
        out.forward = forward_of(*s);
      }
      if (numbered || evaluates_[o.kind[op]]) {
        out.is_backward = true;
        out.outermost = op;
      }
    }
    return out;
  }

 private:
  struct forward {
    std::uint64_t number;
    std::uint16_t thread;
    time_ns begin;
    std::uint32_t index;
  };

  [[nodiscard]] const operators::sequence* sequence_of(std::uint32_t op) const {
    const auto at =
        std::lower_bound(sequences_.begin(), sequences_.end(), op,
                         [](const operators::sequence& s, std::uint32_t i) { return s.index < i; });
    return at != sequences_.end() && at->index == op ? &*at : nullptr;
  }

  /// The last with the number that began before: several operators carry the number that the next node of the
  /// graph will get, and the last of them made it. Each thread counts for itself, so that a number used on
  /// several threads tells none.
  [[nodiscard]] std::uint32_t forward_of(const operators::sequence& s) const {
    const auto by_number = [](const forward& f, std::uint64_t number) { return f.number < number; };
    const auto first = std::lower_bound(forward_.begin(), forward_.end(), s.number, by_number);
    const auto last =
        std::upper_bound(first, forward_.end(), s.number,
                         [](std::uint64_t number, const forward& f) { return number < f.number; });
    if (first == last || first->thread != std::prev(last)->thread) {
      return none;
    }
    const auto after = std::lower_bound(first, last, trace_.operators.begin[s.index],
                                        [](const forward& f, time_ns begin) { return f.begin < begin; });
    return after == first ? none : std::prev(after)->index;
  }

  const trace& trace_;
  const std::vector<operators::sequence>& sequences_;
  std::vector<forward> forward_;
  std::vector<bool> evaluates_;  // by kind of operator
  bool any_ = false;             // backward operator
};

class attribution {
 public:
  attribution(trace& t, const std::vector<operators::sequence>& sequences)
      : trace_{t},
        passes_{t},
        autograd_{t, sequences},
        marked_{static_cast<std::uint32_t>(t.ranges.size())},
        most_derived_{least_bound + t.ranges.size() + t.calls.size()} {
    find_passes();
  }

  void run() {
    if (autograd_.any()) {
      move_annotations();
      place_operators();
    }
    place_calls();
    if (trace_.ranges.size() > marked_ || !moved_.empty()) {
      reorder();
    }
  }

 private:
  /// How a range was found.
  enum class how : std::uint8_t { not_found, by_operator, by_forward, backward, by_pass };
  struct place {
    std::uint32_t range = none;
    how by = how::not_found;
  };

  void find_passes();
  void move_annotations();
  void place_operators();
  void place_calls();
  void reorder();

  [[nodiscard]] std::uint32_t operator_at(std::uint16_t thread, time_ns when) const;
  place place_backward(std::uint32_t op, std::uint16_t thread, time_ns begin, time_ns end);
  std::uint32_t derive(std::uint32_t pass, std::uint16_t thread, std::uint32_t forward);
  std::uint32_t add_range(std::uint32_t parent, std::uint16_t thread, std::string_view name,
                          std::int32_t index, range_kind kind);
  void widen(std::uint32_t range, time_ns begin, time_ns end);
  void count(how by);

  trace& trace_;
  open_passes passes_;
  autograd autograd_;
  std::uint32_t marked_;  // ranges that were there before
  std::size_t most_derived_;
  std::vector<std::uint32_t> pass_of_;  // by marked range: the innermost pass around it
  std::vector<bool> holds_pass_;        // by marked range
  std::map<std::tuple<std::uint32_t, std::uint16_t, std::uint32_t>, std::uint32_t> derived_;
  std::unordered_map<std::uint32_t, how> moved_;  // outermost annotations with a new parent
};

void attribution::find_passes() {
  pass_of_.assign(marked_, none);
  holds_pass_.assign(marked_, false);
  for (std::uint32_t r = 0; r < marked_; ++r) {
    const range& here = trace_.ranges[r];
    pass_of_[r] = here.kind == range_kind::phase ? r : here.parent < r ? pass_of_[here.parent] : none;
  }
  for (std::uint32_t r = marked_; r-- > 0;) {
    const range& here = trace_.ranges[r];
    if (here.parent < r && (here.kind == range_kind::phase || holds_pass_[r])) {
      holds_pass_[here.parent] = true;
    }
  }
}

/// The innermost operator or annotation that holds the instant.
std::uint32_t attribution::operator_at(std::uint16_t thread, time_ns when) const {
  const operator_columns& o = trace_.operators;
  std::size_t low = 0;
  for (std::size_t high = o.size(); low < high;) {
    const std::size_t at = low + (high - low) / 2;
    const bool before = o.thread[at] != thread ? o.thread[at] < thread : o.begin[at] <= when;
    (before ? low : high) = before ? at + 1 : at;
  }
  std::uint32_t op = low == 0 || o.thread[low - 1] != thread ? none : static_cast<std::uint32_t>(low - 1);
  for (std::size_t n = 0; op != none && o.end[op] < when; op = o.parent[op]) {
    if (++n == most_ancestors) {
      return none;
    }
  }
  return op;
}

std::uint32_t attribution::add_range(std::uint32_t parent, std::uint16_t thread, std::string_view name,
                                     std::int32_t index, range_kind kind) {
  range r;
  r.begin = never;
  r.end = std::numeric_limits<time_ns>::min();
  r.parent = parent;
  r.thread = thread;
  r.kind = kind;
  r.derived = true;
  r.label = trace_.labels.intern(
      {parent == none ? none : trace_.ranges[parent].label, trace_.strings.intern(name), index, kind});
  trace_.ranges.push_back(r);
  return static_cast<std::uint32_t>(trace_.ranges.size() - 1);
}

/// "backward" in a pass, or in none, on a thread; or in that the copy of a marked range `forward`.
std::uint32_t attribution::derive(std::uint32_t pass, std::uint16_t thread, std::uint32_t forward) {
  std::vector<std::uint32_t> steps;  // from the innermost
  std::size_t bytes = 0;
  for (std::uint32_t r = forward; r != none && trace_.ranges[r].kind != range_kind::phase;
       r = trace_.ranges[r].parent) {
    bytes += trace_.strings[trace_.labels[trace_.ranges[r].label].name].size() + backward_mark.size();
    steps.push_back(r);
    if (steps.size() > most_steps || bytes > longest_path ||
        trace_.ranges.size() - marked_ + steps.size() >= most_derived_) {
      steps.clear();
      break;
    }
  }
  auto [known, added] = derived_.try_emplace({pass, thread, none}, none);
  if (added) {
    known->second = add_range(pass, thread, backward_step, no_index, range_kind::op);
  }
  std::uint32_t here = known->second;
  for (std::size_t n = steps.size(); n-- > 0;) {
    const auto [copy, is_new] = derived_.try_emplace({pass, thread, steps[n]}, none);
    if (is_new) {
      const label_node label = trace_.labels[trace_.ranges[steps[n]].label];
      copy->second = add_range(here, thread, std::string{trace_.strings[label.name]}.append(backward_mark),
                               label.index, trace_.ranges[steps[n]].kind);
    }
    here = copy->second;
  }
  return here;
}

/// Takes in an operator that a derived range is made for.
void attribution::widen(std::uint32_t range, time_ns begin, time_ns end) {
  for (; range != none && trace_.ranges[range].derived; range = trace_.ranges[range].parent) {
    varve::range& r = trace_.ranges[range];
    if (r.begin <= begin && r.end >= end) {
      break;
    }
    r.begin = std::min(r.begin, begin);
    r.end = std::max(r.end, end);
  }
}

/// Of something in [begin, end] on `thread`, in operator `op`.
attribution::place attribution::place_backward(std::uint32_t op, std::uint16_t thread, time_ns begin,
                                               time_ns end) {
  const autograd::found backward = autograd_.any() ? autograd_.look(op, begin, end) : autograd::found{};
  if (!backward.is_backward) {
    return {};
  }
  std::uint32_t forward = backward.forward != none ? trace_.operators.range[backward.forward] : none;
  forward = forward < marked_ ? forward : none;
  const std::uint32_t process = thread < trace_.threads.size() ? trace_.threads[thread].process : 0;
  const time_ns at = middle(begin, end);
  std::uint32_t pass = passes_.at(process, at);
  if (forward != none && pass_of_[forward] != none) {
    const range& own = trace_.ranges[pass_of_[forward]];
    pass = pass == none || (own.begin <= at && own.end >= at) ? pass_of_[forward] : pass;
  }
  if (pass == none && passes_.any()) {
    return {};
  }
  place found{derive(pass, thread, forward), how::by_forward};
  const std::uint32_t above = trace_.ranges[found.range].parent;
  if (above == none || !trace_.ranges[above].derived) {
    found.by = how::backward;
  }
  widen(found.range, trace_.operators.begin[backward.outermost], trace_.operators.end[backward.outermost]);
  return found;
}

/// Annotations of the backward pass that lie in no pass on their own thread.
void attribution::move_annotations() {
  for (std::uint32_t r = 0; r < marked_; ++r) {
    const range here = trace_.ranges[r];
    if (here.parent != none || here.kind == range_kind::request || pass_of_[r] != none || holds_pass_[r] ||
        here.thread == narrow_none) {
      continue;
    }
    const std::uint32_t op = operator_at(here.thread, middle(here.begin, here.end));
    if (const place to = place_backward(op, here.thread, here.begin, here.end); to.range != none) {
      trace_.ranges[r].parent = to.range;
      moved_.emplace(r, to.by);
    }
  }
}

void attribution::place_operators() {
  operator_columns& o = trace_.operators;
  for (std::uint32_t i = 0; i < o.size(); ++i) {
    if (o.range[i] == none && o.thread[i] != narrow_none) {
      o.range[i] = place_backward(i, o.thread[i], o.begin[i], o.end[i]).range;
    }
  }
}

void attribution::count(how by) {
  trace_.elsewhere.by_operator += by == how::by_operator ? 1 : 0;
  trace_.elsewhere.by_forward += by == how::by_forward ? 1 : 0;
  trace_.elsewhere.backward += by == how::backward ? 1 : 0;
  trace_.elsewhere.by_pass += by == how::by_pass ? 1 : 0;
}

void attribution::place_calls() {
  call_columns& c = trace_.calls;
  for (std::uint32_t i = 0; i < c.size(); ++i) {
    const bool counted = launches(c.kind[i]);
    if (c.range[i] != none) {
      if (counted && !moved_.empty()) {
        std::uint32_t top = c.range[i];
        while (trace_.ranges[top].parent < marked_) {
          top = trace_.ranges[top].parent;
        }
        const auto moved = moved_.find(top);
        count(moved != moved_.end() ? moved->second : how::not_found);
      }
      continue;
    }
    if (c.thread[i] == narrow_none) {
      continue;
    }
    place found;
    const std::uint32_t linked = trace_.operator_of_call.empty() ? none : trace_.operator_of_call[i];
    if (linked != none && trace_.operators.thread[linked] != c.thread[i] &&
        trace_.operators.range[linked] != none) {
      found = {trace_.operators.range[linked], how::by_operator};
    } else {
      const time_ns at = middle(c.begin[i], c.end[i]);
      found = place_backward(operator_at(c.thread[i], at), c.thread[i], at, at);
      if (found.range == none && counted && c.thread[i] < trace_.threads.size()) {
        found.range = passes_.at(trace_.threads[c.thread[i]].process, at);
        found.by = found.range != none ? how::by_pass : how::not_found;
      }
    }
    c.range[i] = found.range;
    count(counted ? found.by : how::not_found);
  }
}

/// Parents come before children: what stays, then what was derived, then what moved into that.
void attribution::reorder() {
  std::vector<range>& ranges = trace_.ranges;
  std::vector<bool> moves(ranges.size(), false);
  for (std::uint32_t r = 0; r < marked_; ++r) {
    moves[r] = ranges[r].parent >= marked_ ? ranges[r].parent != none : moves[ranges[r].parent];
  }
  std::vector<std::uint32_t> order(ranges.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_partition(order.begin(), order.end(), [&](std::uint32_t r) { return !moves[r]; });
  std::vector<std::uint32_t> moved_to(ranges.size());
  std::vector<range> sorted;
  sorted.reserve(ranges.size());
  for (const std::uint32_t r : order) {
    moved_to[r] = static_cast<std::uint32_t>(sorted.size());
    range next = ranges[r];
    next.parent = next.parent == none ? none : moved_to[next.parent];
    if (moves[r]) {
      label_node label = trace_.labels[next.label];
      label.parent = sorted[next.parent].label;
      next.label = trace_.labels.intern(label);
    }
    sorted.push_back(next);
  }
  ranges.swap(sorted);
  const auto follow = [&](std::uint32_t& r) { r = r < moved_to.size() ? moved_to[r] : r; };
  for (auto* column : {&trace_.calls.range, &trace_.operators.range}) {
    std::for_each(column->begin(), column->end(), follow);
  }
  for (range_attribute& a : trace_.attributes) {
    follow(a.range);
  }
  for (sequence_shape& s : trace_.sequences) {
    follow(s.range);
  }
  for (range_model& m : trace_.models) {
    follow(m.range);
  }
  for (range_work& w : trace_.works) {
    follow(w.range);
  }
  for (request_link& l : trace_.requests) {
    follow(l.request);
    follow(l.pass);
  }
}

}  // namespace

void attribute_elsewhere(trace& t, const std::vector<operators::sequence>& sequences) {
  attribution{t, sequences}.run();
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
