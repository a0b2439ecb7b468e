// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "report_difference.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string_view>
#include <vector>

namespace virtual_device {

namespace {

class comparison {
 public:
  explicit comparison(bool ambiguous) : ambiguous_{ambiguous} {}

  void values(std::string_view name, std::int64_t expected, std::int64_t actual) {
    if (expected != actual) {
      note(name) << "expected " << expected << ", is " << actual << '\n';
    }
  }
  // Sums of halves and thirds: equal up to rounding.
  void numbers(std::string_view name, double expected, double actual) {
    if (!(std::abs(expected - actual) <= 1e-9 * std::max(1.0, std::abs(expected)) * 1e3)) {
      note(name) << "expected " << expected << ", is " << actual << '\n';
    }
  }
  void texts(std::string_view name, std::string_view expected, std::string_view actual) {
    if (expected != actual) {
      note(name) << "expected \"" << expected << "\", is \"" << actual << "\"\n";
    }
  }

  void distributions(const std::string& name, const varve::distribution& e, const varve::distribution& a) {
    values(name + ".count", e.count, a.count);
    values(name + ".total", e.total, a.total);
    values(name + ".min", e.min, a.min);
    values(name + ".max", e.max, a.max);
    values(name + ".p50", e.p50, a.p50);
    values(name + ".p95", e.p95, a.p95);
    values(name + ".p99", e.p99, a.p99);
    numbers(name + ".mean", e.mean, a.mean);
    numbers(name + ".deviation", e.deviation, a.deviation);
  }

  void starved(const std::string& name, const varve::starved_time& e, const varve::starved_time& a) {
    if (ambiguous_) {
      return values(name + ".total", e.total(), a.total());
    }
    values(name + ".launching", e.launching, a.launching);
    values(name + ".graph_building", e.graph_building, a.graph_building);
    values(name + ".synchronising", e.synchronising, a.synchronising);
    values(name + ".allocating", e.allocating, a.allocating);
    values(name + ".other", e.other, a.other);
  }

  void partitions(const std::string& name, const varve::wall_partition& e, const varve::wall_partition& a) {
    values(name + ".compute", e.compute, a.compute);
    values(name + ".exposed_communication", e.exposed_communication, a.exposed_communication);
    values(name + ".exposed_copy", e.exposed_copy, a.exposed_copy);
    starved(name + ".starved", e.starved, a.starved);
    values(name + ".device_gap", e.device_gap, a.device_gap);
    values(name + ".unrecorded", e.unrecorded, a.unrecorded);
    values(name + ".no_pass", e.no_pass, a.no_pass);
  }

  /// Work where the truth tells it: of layers and labels, not of kernels.
  void works(const std::string& name, const varve::measures& e, const varve::measures& a) {
    values(name + ".declared.flops", e.declared.flops, a.declared.flops);
    values(name + ".declared.weight_bytes", e.declared.weight_bytes, a.declared.weight_bytes);
    values(name + ".calls_with_work", e.calls_with_work, a.calls_with_work);
  }

  void measures(const std::string& name, const varve::measures& e, const varve::measures& a) {
    values(name + ".calls", e.calls, a.calls);
    values(name + ".gpu_time", e.gpu_time, a.gpu_time);
    values(name + ".kernel_time", e.kernel_time, a.kernel_time);
    values(name + ".span", e.span, a.span);
    numbers(name + ".shared_time", e.shared_time, a.shared_time);
    values(name + ".alone_time", e.alone_time, a.alone_time);
    values(name + ".overlap", e.overlap, a.overlap);
    values(name + ".host_time", e.host_time, a.host_time);
    values(name + ".launches", e.launches, a.launches);
    values(name + ".graph_launches", e.graph_launches, a.graph_launches);
    values(name + ".launch_time", e.launch_time, a.launch_time);
    values(name + ".graph_build_time", e.graph_build_time, a.graph_build_time);
    values(name + ".synchronise_time", e.synchronise_time, a.synchronise_time);
    values(name + ".allocate_time", e.allocate_time, a.allocate_time);
    values(name + ".synchronisations", e.synchronisations, a.synchronisations);
    values(name + ".allocations", e.allocations, a.allocations);
    values(name + ".kernels", e.kernels, a.kernels);
    values(name + ".copies", e.copies, a.copies);
    values(name + ".sets", e.sets, a.sets);
    values(name + ".copy_bytes", e.copy_bytes, a.copy_bytes);
    numbers(name + ".roof.total", e.roof.total, a.roof.total);
    if (!ambiguous_) {
      starved(name + ".starved", e.starved, a.starved);
      values(name + ".device_gap", e.device_gap, a.device_gap);
    }
  }

  void layers(const varve::row& e, const varve::row& a) {
    rows(e, a);
    works("inclusive", e.inclusive, a.inclusive);
    works("exclusive", e.exclusive, a.exclusive);
  }

  void rows(const varve::row& e, const varve::row& a) {
    texts("label", e.label, a.label);
    values("index", e.index, a.index);
    values("kind", static_cast<int>(e.kind), static_cast<int>(a.kind));
    values("depth", e.depth, a.depth);
    measures("inclusive", e.inclusive, a.inclusive);
    measures("exclusive", e.exclusive, a.exclusive);
    distributions("per_call", e.per_call, a.per_call);
    distributions("launch_latency", e.launch_latency, a.launch_latency);
    distributions("queue_delay", e.queue_delay, a.queue_delay);
    values("shapes", e.shapes, a.shapes);
    values("shape.grid", e.shape.grid[0], a.shape.grid[0]);
  }

  void phases(const varve::phase_row& e, const varve::phase_row& a) {
    values("passes", e.passes, a.passes);
    values("wall", e.wall, a.wall);
    distributions("step", e.step, a.step);
    partitions("partition", e.partition, a.partition);
    values("gpu_span", e.gpu_span, a.gpu_span);
    values("prefill_tokens", e.prefill_tokens, a.prefill_tokens);
    values("decode_tokens", e.decode_tokens, a.decode_tokens);
    values("sequences", e.sequences, a.sequences);
    values("emitted_tokens", e.emitted_tokens, a.emitted_tokens);
    measures("total", e.total, a.total);
    works("total", e.total, a.total);
    distributions("launch_latency", e.launch_latency, a.launch_latency);
    distributions("queue_delay", e.queue_delay, a.queue_delay);
  }

  void devices(const varve::device_row& e, const varve::device_row& a) {
    partitions("partition", e.partition, a.partition);
    values("busy", e.busy, a.busy);
    values("kernel_time", e.kernel_time, a.kernel_time);
    values("kernel_union", e.kernel_union, a.kernel_union);
    values("gpu_span", e.gpu_span, a.gpu_span);
    values("kernels", e.kernels, a.kernels);
    const std::string outer = where_;
    each(
        outer + " stream ", e.streams, a.streams,
        [](const varve::device_row::stream& s) { return std::to_string(s.stream.stream); },
        [&](const varve::device_row::stream& x, const varve::device_row::stream& y) {
          values("kernels", x.kernels, y.kernels);
          values("kernel_time", x.kernel_time, y.kernel_time);
          values("kernel_union", x.kernel_union, y.kernel_union);
        });
    where_ = outer;
  }

  void requests(const varve::request_row& e, const varve::request_row& a) {
    values("passes", e.passes, a.passes);
    values("total", e.total, a.total);
    values("queue_wait", e.queue_wait, a.queue_wait);
    values("time_to_first_token", e.time_to_first_token, a.time_to_first_token);
    values("time_per_output_token", e.time_per_output_token, a.time_per_output_token);
  }

  void qualities(const varve::report_quality& e, const varve::report_quality& a) {
    where_ = "quality: ";
    numbers("attributed", e.attributed, a.attributed);
    values("activities", e.activities, a.activities);
    values("matched", e.matched, a.matched);
    values("unmatched", e.unmatched, a.unmatched);
    values("unmatched_kernels", e.unmatched_kernels, a.unmatched_kernels);
    values("untimed", e.untimed, a.untimed);
    values("negative_delays", e.negative_delays, a.negative_delays);
    values("duplicate_correlations", e.duplicate_correlations, a.duplicate_correlations);
    values("unlabelled_nodes", e.unlabelled_nodes, a.unlabelled_nodes);
    values("stale_nodes", e.stale_nodes, a.stale_nodes);
    values("graph_launches_without_kernels", e.graph_launches_without_kernels,
           a.graph_launches_without_kernels);
    values("graph_launches_short", e.graph_launches_short, a.graph_launches_short);
    values("clipped_ranges", e.clipped_ranges, a.clipped_ranges);
    values("implicit_pass", e.implicit_pass, a.implicit_pass);
  }

  /// Pairs what has one key on both sides; whatever has no partner is a difference.
  template <class Record, class Key, class Compare>
  void each(const std::string& what, const std::vector<Record>& expected, const std::vector<Record>& actual,
            const Key& key, const Compare& compare) {
    for (const Record& e : expected) {
      where_ = what + key(e) + ": ";
      const auto same = [&](const Record& a) { return key(a) == key(e); };
      if (const auto found = std::find_if(actual.begin(), actual.end(), same); found != actual.end()) {
        compare(e, *found);
      } else {
        note("") << "is missing\n";
      }
      if (std::count_if(actual.begin(), actual.end(), same) > 1) {
        note("") << "is there more than once\n";
      }
    }
    for (const Record& a : actual) {
      where_ = what + key(a) + ": ";
      if (std::none_of(expected.begin(), expected.end(), [&](const Record& e) { return key(e) == key(a); })) {
        note("") << "is there, not expected\n";
      }
    }
  }

  /// Parents come before their children, one step up.
  void trees(const std::vector<varve::row>& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const varve::row& r = rows[i];
      where_ = "layer \"" + r.path + "\": ";
      const std::size_t cut = r.path.rfind(" / ");
      if (cut == std::string::npos) {
        values("parent", varve::none, r.parent);
      } else if (r.parent >= i) {
        note("parent") << "does not come before it\n";
      } else {
        const varve::row& up = rows[r.parent];
        texts("parent", r.path.substr(0, cut) + r.phase + r.model, up.path + up.phase + up.model);
        values("parent's device", r.device, up.device);
      }
    }
  }

  [[nodiscard]] std::string text() const { return out_.str(); }

 private:
  std::ostream& note(std::string_view name) {
    return (++notes_ <= 20 ? out_ : ignored_) << where_ << name << ' ';
  }

  bool ambiguous_;
  std::string where_;
  int notes_ = 0;
  std::ostringstream out_;
  std::ostringstream ignored_;
};

}  // namespace

std::string report_difference(const varve::report& expected, const varve::report& actual, bool ambiguous) {
  comparison c{ambiguous};
  const auto row_key = [](const varve::row& r) {
    return "\"" + r.path + "\" of " + r.phase + "|" + r.model + "|" + std::to_string(r.device);
  };
  const auto compare_rows = [&](const varve::row& e, const varve::row& a) { c.rows(e, a); };
  c.each(
      "phase ", expected.phases, actual.phases,
      [](const varve::phase_row& p) { return p.phase + "|" + p.model + "|" + std::to_string(p.device); },
      [&](const varve::phase_row& e, const varve::phase_row& a) { c.phases(e, a); });
  const auto compare_layers = [&](const varve::row& e, const varve::row& a) { c.layers(e, a); };
  c.each("layer ", expected.layers, actual.layers, row_key, compare_layers);
  c.each("label ", expected.labels, actual.labels, row_key, compare_layers);
  c.each("kernel ", expected.kernels, actual.kernels, row_key, compare_rows);
  c.each("category ", expected.categories, actual.categories, row_key, compare_rows);
  c.each(
      "device ", expected.devices, actual.devices,
      [](const varve::device_row& d) { return std::to_string(d.device.id); },
      [&](const varve::device_row& e, const varve::device_row& a) { c.devices(e, a); });
  c.each(
      "request ", expected.requests, actual.requests,
      [](const varve::request_row& r) { return r.label + " " + std::to_string(r.index); },
      [&](const varve::request_row& e, const varve::request_row& a) { c.requests(e, a); });
  c.qualities(expected.quality, actual.quality);
  c.trees(actual.layers);
  return c.text();
}

}  // namespace virtual_device
