// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/elsewhere.hpp"

#include "formats/pytorch/autograd.hpp"
#include "formats/pytorch/open_passes.hpp"
#include "formats/pytorch/operator_around.hpp"
#include "formats/pytorch/range_order.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

constexpr std::string_view backward_step = "backward";
constexpr std::string_view backward_mark = " (backward)";
constexpr std::size_t most_steps = 62;      // of a forward path that is copied: reports keep 64
constexpr std::size_t longest_path = 4096;  // bytes of it
constexpr std::size_t least_bound = 1024;   // of derived ranges
constexpr time_ns never = std::numeric_limits<time_ns>::max();

bool launches(call_kind kind) noexcept {
  return kind == call_kind::launch || kind == call_kind::graph_launch || kind == call_kind::copy ||
         kind == call_kind::set;
}

time_ns middle(time_ns begin, time_ns end) noexcept { return begin + (end - begin) / 2; }

class attribution {
 public:
  attribution(trace& t, const std::vector<operators::sequence>& sequences,
              const std::vector<flows::backward>& backwards)
      : trace_{t},
        passes_{t},
        autograd_{t, sequences, backwards},
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
      order_ranges(trace_, marked_);
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
    const std::uint32_t op = operator_around(trace_.operators, here.thread, middle(here.begin, here.end));
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
      found = place_backward(operator_around(trace_.operators, c.thread[i], at), c.thread[i], at, at);
      if (found.range == none && counted && c.thread[i] < trace_.threads.size()) {
        found.range = passes_.at(trace_.threads[c.thread[i]].process, at);
        found.by = found.range != none ? how::by_pass : how::not_found;
      }
    }
    c.range[i] = found.range;
    count(counted ? found.by : how::not_found);
  }
}

}  // namespace

void attribute_elsewhere(trace& t, const std::vector<operators::sequence>& sequences,
                         const std::vector<flows::backward>& backwards) {
  attribution{t, sequences, backwards}.run();
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
