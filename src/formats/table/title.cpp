// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/table/parts.hpp"
#include "formats/table/text.hpp"
#include "formats/table/units.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace varve::table {

namespace {

std::string device_name(const device_row& d, bool several) {
  const std::string name = printable(d.device.name);
  const std::string id = "device " + std::to_string(d.device.id);
  return name.empty() ? id : several || d.device.id != 0 ? id + ", " + name : name;
}

/// Streams by how long they were busy with kernels, where there are several.
std::string streams(const device_row& d) {
  constexpr std::size_t most = 6;
  std::vector<const device_row::stream*> order;
  for (const device_row::stream& stream : d.streams) {
    if (stream.kernels > 0) {
      order.push_back(&stream);
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->kernel_union > b->kernel_union; });
  if (order.size() < 2) {
    return {};
  }
  std::string text = "kernels in " + count(static_cast<std::int64_t>(order.size())) + " streams:";
  for (std::size_t i = 0; i < std::min(order.size(), most); ++i) {
    text += (i == 0 ? " " : ", ") + std::to_string(order[i]->stream.stream) + " for " +
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

bool is_prediction(const report& r) noexcept {
  return std::any_of(r.quality.collectors.begin(), r.quality.collectors.end(),
                     [](const collector_status& c) { return c.name == "prediction"; });
}

std::string title(const report& r, const style& s) {
  // Begin and end may be absurd in a damaged trace: subtract without overflow.
  const auto recorded =
      static_cast<std::int64_t>(static_cast<std::uint64_t>(r.end) - static_cast<std::uint64_t>(r.begin));
  std::vector<std::string> first{heading(r.source.empty() ? "varve" : printable(r.source), s)};
  if (recorded > 0) {
    first.push_back(duration(recorded) + (is_prediction(r) ? "" : " recorded"));
  }
  std::string out = flow(first, " · ", indent, s.text_width()) + '\n';
  for (const device_row& d : r.devices) {
    std::vector<std::string> pieces{device_name(d, r.devices.size() > 1)};
    if (d.gpu_span > 0) {
      pieces.push_back("busy " + duration(d.busy) + ", " +
                       percent(static_cast<double>(d.busy), static_cast<double>(d.gpu_span)) + " % of the " +
                       duration(d.gpu_span) + " from its first to its last event");
    }
    if (d.kernels > 0) {
      pieces.push_back(counted(d.kernels, "kernel") + ", " + duration(d.kernel_time) +
                       (d.kernel_time != d.kernel_union
                            ? " summed, " + duration(d.kernel_union) + " where overlap counts once"
                            : ""));
    }
    if (std::string text = streams(d); !text.empty()) {
      pieces.push_back(std::move(text));
    }
    if (pieces.size() > 1 || !d.device.name.empty()) {  // else it is there for what the host did
      out += std::string(indent, ' ') + flow(pieces, " · ", 2 * indent, s.text_width()) + '\n';
    }
  }
  if (const double inflation = r.inflation(); inflation > 0) {
    out += std::string(indent, ' ') + "the passes took " + number(inflation) + " × the " +
           duration(*r.unprofiled_wall) + " that they take without profiling\n";
  }
  if (!r.requests.empty()) {
    const auto n = static_cast<std::int64_t>(r.requests.size());
    std::vector<std::string> pieces{counted(n, "request")};
    add_requests(pieces, r, "waited", &request_row::queue_wait);
    add_requests(pieces, r, "first token", &request_row::time_to_first_token);
    add_requests(pieces, r, "a token", &request_row::time_per_output_token);
    out += std::string(indent, ' ') + flow(pieces, " · ", 2 * indent, s.text_width()) + '\n';
  }
  return out;
}

std::string heading(std::string_view text, const style& s) {
  return s.bold(shortened(text, s.text_width() - indent));
}

std::string key_name(const report& r, std::string_view phase, std::string_view model, std::uint32_t device,
                     std::string_view batch) {
  std::string out = phase.empty() ? "outside any pass" : printable(phase);
  if (!model.empty()) {
    out += " of " + printable(model);
  }
  if (r.devices.size() > 1) {
    out += " on device " + std::to_string(device);
  }
  if (!batch.empty()) {
    out += " · " + batch_name(batch, phase);
  }
  return out;
}

}  // namespace varve::table
