// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/table/blocks.hpp"
#include "formats/table/parts.hpp"
#include "formats/table/rounding.hpp"
#include "formats/table/select.hpp"
#include "formats/table/sums.hpp"
#include "formats/table/text.hpp"
#include "formats/table/units.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace varve::table {

namespace {

std::string path_text(const report& r, const row& leaf) {
  constexpr std::size_t deepest = 6;
  std::string text;
  const row* step = &leaf;
  for (std::size_t depth = 0; depth < deepest; ++depth) {
    text.insert(0, step_name(*step) + (text.empty() ? "" : " / "));
    if (step->parent >= static_cast<std::size_t>(step - r.layers.data())) {
      break;
    }
    step = &r.layers[step->parent];
  }
  return printable(text);
}

/// Shares that are smaller are not worth a word.
constexpr double noticeable_share = 0.01;

bool belongs(const row& r, const phase_row& p) {
  return r.phase == p.phase && r.model == p.model && r.device == p.device && r.batch == p.batch;
}

/// What kinds of kernels the phase ran.
std::vector<std::string> categories(const report& r, const phase_row& p) {
  constexpr std::size_t most = 6;
  const auto whole = static_cast<double>(p.total.gpu_time);
  std::vector<const row*> order;
  for (const row& c : r.categories) {
    if (belongs(c, p) && static_cast<double>(c.inclusive.gpu_time) >= noticeable_share * whole) {
      order.push_back(&c);
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const row* a, const row* b) { return a->inclusive.gpu_time > b->inclusive.gpu_time; });
  std::vector<std::string> pieces;
  for (std::size_t i = 0; i < std::min(order.size(), most); ++i) {
    pieces.push_back(printable(order[i]->path) + ' ' +
                     percent(static_cast<double>(order[i]->inclusive.gpu_time), whole) + " %");
  }
  return pieces;
}

/// The labels with the most GPU time of their own, and the slowest single row.
std::vector<std::string> slowest(const report& r, const phase_row& p) {
  struct sum {
    double time = 0;
    std::int64_t rows = 0;
  };
  std::map<std::string_view, sum> by_label;
  const row* single = nullptr;
  std::vector<const row*> members;
  for (const row& l : r.layers) {
    if (l.path.empty() || !belongs(l, p) || l.exclusive.gpu_time <= 0) {
      continue;
    }
    members.push_back(&l);
    sum& entry = by_label[l.label];
    entry.time += static_cast<double>(l.exclusive.gpu_time);
    ++entry.rows;
    if (single == nullptr || l.exclusive.gpu_time > single->exclusive.gpu_time) {
      single = &l;
    }
  }
  std::vector<std::pair<std::string_view, sum>> order(by_label.begin(), by_label.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second.time > b.second.time; });
  constexpr std::size_t most = 3;
  const auto whole = static_cast<double>(p.total.gpu_time);
  std::vector<std::string> pieces;
  for (std::size_t i = 0; i < std::min(order.size(), most); ++i) {
    const auto& [label, all] = order[i];
    if (i != 0 && all.time < noticeable_share * whole) {
      break;
    }
    pieces.push_back(printable(label) + ' ' + percent(all.time, whole) + " %" +
                     (all.rows > 1 ? " (" + count(all.rows) + " of them)" : ""));
  }
  const auto is_like_it = [&](const row* other) {
    return other != single && other->label == single->label &&
           is_rounding(other->exclusive, single->exclusive);
  };
  if (single != nullptr && by_label[single->label].rows > 1 &&
      !(is_prediction(r) && std::any_of(members.begin(), members.end(), is_like_it))) {
    pieces.push_back("slowest one: " + path_text(r, *single) + ", " +
                     percent(static_cast<double>(single->exclusive.gpu_time), whole) + " %");
  }
  return pieces;
}

/// The blocks that the model repeats, and their parts.
std::vector<std::string> repeated(const report& r, const phase_row& p) {
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < r.layers.size(); ++i) {
    if (belongs(r.layers[i], p)) {
      members.push_back(i);
    }
  }
  return describe(find_blocks(r.layers, members), r.layers, static_cast<double>(p.total.gpu_time));
}

/// "decode · 47 passes · 188 tokens · 340 tokens/s".
std::vector<std::string> name_and_passes(const report& r, const phase_row& p, const style& s) {
  const double tokens = token_sum(p);
  std::vector<std::string> first{heading(key_name(r, p.phase, p.model, p.device, p.batch), s)};
  first.push_back(r.quality.implicit_pass ? "taken as one pass" : counted(p.passes, "pass", "passes"));
  if (tokens > 0) {
    first.push_back(count(tokens) + (tokens == 1 ? " token" : " tokens"));
    if (p.wall > 0) {
      first.push_back(number(tokens / static_cast<double>(p.wall) * 1e9) + " tokens/s");
    }
  }
  return first;
}

/// Between CUDA events, where nothing else is known of the GPU.
std::vector<std::string> event_span(const phase_row& p) {
  const distribution& d = p.event_span;
  std::vector<std::string> pieces;
  if (d.count > 1) {
    pieces = {"span mean " + duration(d.mean), "p50 " + duration(d.p50), "p95 " + duration(d.p95)};
  } else if (d.count == 1) {
    pieces = {"span " + duration(d.total)};
  }
  if (d.count > 0 && d.count < p.passes) {
    pieces.push_back("of " + count(d.count) + " of the passes");
  }
  if (d.count > 0) {
    pieces.emplace_back("between CUDA events, kernels inside are not known");
  }
  return pieces;
}

}  // namespace

bool is_ramp(const report& r, const phase_row& p) noexcept {
  return r.quality.steady && std::string_view{p.phase}.ends_with(" (ramp)");
}

std::string ramps(const report& r, const style& s) {
  std::string out;
  for (const phase_row& p : r.phases) {
    if (is_ramp(r, p)) {
      std::vector<std::string> pieces = name_and_passes(r, p, s);
      pieces.push_back("wall " + duration(p.wall));
      pieces.push_back("GPU busy " + duration(busy_sum(p.partition)));
      out += flow(pieces, " · ", indent, s.text_width()) + '\n';
    }
  }
  return out.empty() ? out : out + '\n';
}

std::string phase_head(const report& r, const phase_row& p, const style& s) {
  const auto wall = static_cast<double>(p.wall);
  const double tokens = token_sum(p);
  std::string out = flow(name_and_passes(r, p, s), " · ", indent, s.text_width()) + '\n';

  std::vector<std::string> step;
  if (p.step.count > 1) {
    step = {"mean " + duration(p.step.mean), "p50 " + duration(p.step.p50), "p95 " + duration(p.step.p95)};
  } else if (p.step.count == 1) {
    step = {duration(p.step.total)};
  }
  if (tokens > 0 && p.wall > 0) {
    step.push_back(duration(wall / tokens) + " a token");
  }
  if (!step.empty()) {
    out += labelled(p.passes == 1 ? "pass" : "step", step, s);
  }
  const std::vector<std::string> span = event_span(p);
  if (!span.empty()) {
    out += labelled("GPU", span, s);
  }

  const auto layers = [&] {
    std::string text;
    if (const auto pieces = gauges(p); !pieces.empty()) {
      text += labelled("gauges", pieces, s);
    }
    if (const auto pieces = repeated(r, p); !pieces.empty()) {
      text += labelled("blocks", pieces, s);
    }
    if (const auto pieces = slowest(r, p); !pieces.empty()) {
      text += labelled("slowest", pieces, s);
    }
    return text;
  };
  if (s.host_only) {
    return out + layers();
  }
  const double busy = busy_sum(p.partition);
  std::vector<std::string> walls{duration(p.wall)};
  if (busy > 0) {
    const double others = busy - static_cast<double>(p.total.gpu_time);
    walls.push_back(
        "GPU busy " + duration(busy) +
        (others > noticeable_share * busy ? " (" + duration(others) + " with work from outside)" : ""));
    walls.push_back("overhead ratio " + number(wall / busy) + " (wall ÷ busy)");
    walls.push_back("GPU span " + duration(p.gpu_span));
  } else if (span.empty()) {
    walls.emplace_back("the GPU ran nothing");
  }
  out += labelled("wall", walls, s) + partition(p.partition, s);

  if (p.total.launches > 0) {
    const auto launches = static_cast<double>(p.total.launches);
    std::vector<std::string> launch{counted(p.total.launches, "launch", "launches")};
    if (p.passes > 1) {
      launch.push_back(number(launches / static_cast<double>(p.passes)) + " a pass");
    }
    if (tokens > 0) {
      launch.push_back(number(launches / tokens) + " a token");
    }
    if (p.total.graph_launches > 0) {
      launch.push_back(count(p.total.graph_launches) + " of graphs");
    }
    launch.push_back(duration(p.total.launch_time) + " of CPU time");
    if (p.queue_delay.count > 0) {
      launch.push_back("queue delay p50 " + duration(p.queue_delay.p50) + ", p95 " +
                       duration(p.queue_delay.p95));
    }
    out += labelled("launch", launch, s);
  }
  if (const auto pieces = categories(r, p); !pieces.empty()) {
    out += labelled("work", pieces, s);
  }
  if (!p.verdict.why.empty()) {
    out += labelled("verdict", {printable(p.verdict.why)}, s);
  }
  return out + layers();
}

}  // namespace varve::table
