// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/table/parts.hpp"
#include "formats/table/text.hpp"
#include "formats/table/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>

namespace varve::table {

namespace {

constexpr std::size_t label_width = 9;
constexpr std::size_t indent = 2;
constexpr std::size_t text_column = indent + label_width;

struct part {
  std::string_view glyph;
  std::string_view name;
  std::string_view colour;
  double time;
};

double total(const starved_time& t) noexcept {
  return static_cast<double>(t.launching) + static_cast<double>(t.graph_building) +
         static_cast<double>(t.synchronising) + static_cast<double>(t.allocating) +
         static_cast<double>(t.other);
}

// In doubles, since a report may come from a file that holds any numbers.
std::array<part, 7> parts_of(const wall_partition& p) noexcept {
  return {{{"█", "compute", "32", static_cast<double>(p.compute)},
           {"▓", "exposed communication", "35", static_cast<double>(p.exposed_communication)},
           {"▒", "exposed copy", "36", static_cast<double>(p.exposed_copy)},
           {"░", "starved", "31", total(p.starved)},
           {"╌", "device gap", "33", static_cast<double>(p.device_gap)},
           {"?", "unrecorded", "1;31", static_cast<double>(p.unrecorded)},
           {" ", "no pass open", "2", static_cast<double>(p.no_pass)}}};
}

/// Cells for each part by the largest remainder, so that they add up to `width`.
std::array<std::size_t, 7> cells_of(const std::array<part, 7>& parts, double wall, std::size_t width) {
  std::array<std::size_t, 7> cells{};
  std::array<std::size_t, 7> order{};
  std::array<double, 7> remainders{};
  std::size_t used = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double exact = std::clamp(parts[i].time / wall, 0.0, 1.0) * static_cast<double>(width);
    cells[i] = static_cast<std::size_t>(exact);
    remainders[i] = exact - std::floor(exact);
    used += cells[i];
  }
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  for (const std::size_t i : order) {
    if (used < width && remainders[i] > 0) {
      ++cells[i];
      ++used;
    }
  }
  return cells;
}

/// "  label    piece · piece" and its line end.
std::string labelled(std::string_view label, const std::vector<std::string>& pieces, const style& s) {
  return std::string(indent, ' ') + s.dim(left(label, label_width)) +
         flow(pieces, " · ", text_column, s.text_width()) + '\n';
}

std::string path_text(const report& r, const row& leaf) {
  constexpr std::size_t deepest = 6;
  std::string text;
  const row* step = &leaf;
  for (std::size_t depth = 0; depth < deepest; ++depth) {
    const std::string index = step->index != no_index ? ' ' + std::to_string(step->index) : "";
    text.insert(0, step->label + index + (text.empty() ? "" : " / "));
    if (step->parent >= static_cast<std::size_t>(step - r.layers.data())) {
      break;
    }
    step = &r.layers[step->parent];
  }
  return printable(text);
}

/// The labels with the most GPU time of their own, and the slowest single row.
std::vector<std::string> slowest(const report& r, const phase_row& p) {
  struct sum {
    double time = 0;
    std::int64_t rows = 0;
  };
  std::map<std::string_view, sum> by_label;
  const row* single = nullptr;
  for (const row& l : r.layers) {
    if (l.path.empty() || l.phase != p.phase || l.model != p.model || l.device != p.device ||
        l.batch != p.batch || l.exclusive.gpu_time <= 0) {
      continue;
    }
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
    pieces.push_back(printable(label) + ' ' + percent(all.time, whole) + " %" +
                     (all.rows > 1 ? " (" + count(all.rows) + " of them)" : ""));
  }
  if (single != nullptr && by_label[single->label].rows > 1) {
    pieces.push_back("slowest one: " + path_text(r, *single) + ", " +
                     percent(static_cast<double>(single->exclusive.gpu_time), whole) + " %");
  }
  return pieces;
}

std::vector<std::string> starved_pieces(const wall_partition& p, double wall) {
  const std::array<std::pair<const char*, time_ns>, 5> causes{{{"launched", p.starved.launching},
                                                               {"built graphs", p.starved.graph_building},
                                                               {"synchronised", p.starved.synchronising},
                                                               {"allocated", p.starved.allocating},
                                                               {"ran its own code", p.starved.other}}};
  std::vector<std::string> pieces;
  for (const auto& [what, time] : causes) {
    if (time != 0) {
      pieces.push_back((pieces.empty() ? "while the host " : "") + std::string{what} + ' ' +
                       percent(static_cast<double>(time), wall) + " %");
    }
  }
  return pieces;
}

std::string device_name(const device_row& d, bool several) {
  const std::string name = printable(d.device.name);
  const std::string id = "device " + std::to_string(d.device.id);
  return name.empty() ? id : several || d.device.id != 0 ? id + ", " + name : name;
}

/// Streams by how long they were busy with kernels.
std::string streams(const device_row& d) {
  constexpr std::size_t most = 6;
  std::vector<const device_row::stream*> order;
  for (const device_row::stream& stream : d.streams) {
    order.push_back(&stream);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->kernel_union > b->kernel_union; });
  std::string text = count(static_cast<std::int64_t>(order.size())) + " streams:";
  for (std::size_t i = 0; i < std::min(order.size(), most); ++i) {
    text += (i == 0 ? " " : ", ") + std::to_string(order[i]->stream.stream) + " with " +
            duration(order[i]->kernel_union);
  }
  return text + (order.size() > most ? ", …" : "");
}

/// "first token p50 31 ms, p95 40 ms" of the requests in which it is known.
void add_requests(std::vector<std::string>& pieces, const report& r, std::string_view name,
                  time_ns request_row::*time) {
  std::vector<time_ns> known;
  for (const request_row& q : r.requests) {
    if (q.*time >= 0) {
      known.push_back(q.*time);
    }
  }
  if (known.empty()) {
    return;
  }
  std::sort(known.begin(), known.end());
  const auto rank = [&](std::size_t percent) { return known[(known.size() * percent + 99) / 100 - 1]; };
  pieces.push_back(std::string{name} + " p50 " + duration(rank(50)) + ", p95 " + duration(rank(95)));
}

}  // namespace

std::string title(const report& r, const style& s) {
  // Begin and end may be absurd in a damaged trace: subtract without overflow.
  const auto recorded =
      static_cast<std::int64_t>(static_cast<std::uint64_t>(r.end) - static_cast<std::uint64_t>(r.begin));
  std::string out = s.bold(r.source.empty() ? "varve" : printable(r.source));
  if (recorded > 0) {
    out += " · " + duration(recorded) + " recorded";
  }
  out += '\n';
  for (const device_row& d : r.devices) {
    std::vector<std::string> pieces{device_name(d, r.devices.size() > 1)};
    if (d.gpu_span > 0) {
      pieces.push_back("busy " + duration(d.busy) + ", " +
                       percent(static_cast<double>(d.busy), static_cast<double>(d.gpu_span)) + " % of the " +
                       duration(d.gpu_span) + " from its first to its last event");
    }
    if (d.kernels > 0) {
      pieces.push_back(count(d.kernels) + " kernels, " + duration(d.kernel_time) +
                       (d.kernel_time != d.kernel_union
                            ? " summed, " + duration(d.kernel_union) + " where overlap counts once"
                            : ""));
    }
    if (d.streams.size() > 1) {
      pieces.push_back(streams(d));
    }
    out += std::string(indent, ' ') + flow(pieces, " · ", 2 * indent, s.text_width()) + '\n';
  }
  if (!r.requests.empty()) {
    const auto n = static_cast<std::int64_t>(r.requests.size());
    std::vector<std::string> pieces{count(n) + (n == 1 ? " request" : " requests")};
    add_requests(pieces, r, "waited", &request_row::queue_wait);
    add_requests(pieces, r, "first token", &request_row::time_to_first_token);
    add_requests(pieces, r, "a token", &request_row::time_per_output_token);
    out += std::string(indent, ' ') + flow(pieces, " · ", 2 * indent, s.text_width()) + '\n';
  }
  return out;
}

std::string key_name(const report& r, std::string_view phase, std::string_view model, std::uint32_t device,
                     std::string_view batch) {
  std::string out = phase.empty() ? "outside any pass" : printable(phase);
  if (!model.empty()) {
    out += " of " + printable(model);
  }
  if (!batch.empty()) {
    out += " with " + printable(batch);
  }
  if (r.devices.size() > 1) {
    out += " on device " + std::to_string(device);
  }
  return out;
}

std::string partition(const wall_partition& p, const style& s) {
  constexpr std::size_t longest = 72;
  const auto parts = parts_of(p);
  const double wall = std::accumulate(parts.begin(), parts.end(), 0.0,
                                      [](double sum, const part& x) { return sum + x.time; });
  if (!(wall > 0)) {
    return {};
  }
  const std::size_t room = s.text_width() > text_column + indent ? s.text_width() - text_column : indent;
  const auto cells = cells_of(parts, wall, std::min(room, longest));
  std::string bar;
  std::vector<std::string> legend;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::string run;
    for (std::size_t n = 0; n < cells[i]; ++n) {
      run += parts[i].glyph;
    }
    bar += s.paint(parts[i].colour, run);
    if (parts[i].time != 0) {
      legend.push_back(s.paint(parts[i].colour, parts[i].glyph) + ' ' + std::string{parts[i].name} + ' ' +
                       percent(parts[i].time, wall) + " %");
    }
  }
  std::string out = std::string(text_column, ' ') + bar + '\n' + std::string(text_column, ' ') +
                    flow(legend, "  ", text_column, s.text_width()) + '\n';
  if (const auto pieces = starved_pieces(p, wall); !pieces.empty()) {
    out += labelled("starved", pieces, s);
  }
  return out;
}

std::string phase_head(const report& r, const phase_row& p, const style& s) {
  const auto wall = static_cast<double>(p.wall);
  const double tokens = static_cast<double>(p.prefill_tokens) + static_cast<double>(p.decode_tokens);
  std::vector<std::string> first{s.bold(key_name(r, p.phase, p.model, p.device, p.batch))};
  first.push_back(count(p.passes) + (p.passes == 1 ? " pass" : " passes"));
  if (tokens > 0) {
    first.push_back(count(static_cast<std::int64_t>(tokens)) + " tokens");
    if (p.wall > 0) {
      first.push_back(number(tokens / wall * 1e9) + " tokens/s");
    }
  }
  std::string out = flow(first, " · ", indent, s.text_width()) + '\n';

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

  const wall_partition& parts = p.partition;
  const double busy = static_cast<double>(parts.compute) + static_cast<double>(parts.exposed_communication) +
                      static_cast<double>(parts.exposed_copy);
  std::vector<std::string> walls{duration(p.wall)};
  if (busy > 0) {
    walls.push_back("GPU busy " + duration(busy));
    walls.push_back("overhead ratio " + number(wall / busy) + " (wall ÷ busy)");
    walls.push_back("GPU span " + duration(p.gpu_span));
  } else {
    walls.emplace_back("the GPU ran nothing");
  }
  out += labelled("wall", walls, s) + partition(parts, s);

  if (p.total.launches > 0) {
    const auto launches = static_cast<double>(p.total.launches);
    std::vector<std::string> launch{count(p.total.launches) + " launches"};
    if (p.passes > 1) {
      launch.push_back(number(launches / static_cast<double>(p.passes)) + " a pass");
    }
    if (tokens > 0) {
      launch.push_back(number(launches / tokens) + " a token");
    }
    launch.push_back(duration(p.total.launch_time) + " of CPU time");
    if (p.queue_delay.count > 0) {
      launch.push_back("queue delay p50 " + duration(p.queue_delay.p50) + ", p95 " +
                       duration(p.queue_delay.p95));
    }
    out += labelled("launch", launch, s);
  }
  if (const auto pieces = slowest(r, p); !pieces.empty()) {
    out += labelled("slowest", pieces, s);
  }
  return out;
}

}  // namespace varve::table
