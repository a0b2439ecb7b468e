// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Traces made by hand, for tests of what reads reports: no GPU, no session, no clock. docs/testing.md has an
// example.
//
//     varve::trace_builder built;
//     const auto pass = built.pass(varve::decode, {0us, 900us});
//     const auto attention = built.layer(pass, "attention", 3, {0us, 300us});
//     built.kernel(attention, "flash_fwd", {10us, 15us}, {20us, 220us});
//     const varve::report report = built.analyze();
#ifndef VARVE_TRACE_BUILDER_HPP
#define VARVE_TRACE_BUILDER_HPP

#include <varve/report.hpp>
#include <varve/trace.hpp>
#include <varve/work.hpp>

#include <chrono>
#include <cstdint>
#include <string_view>

namespace varve {
inline namespace v0 {

/// Builds a trace record by record. Times count from the trace's begin. Everything happens on one thread of
/// the host. A value; functions throw only std::bad_alloc.
class trace_builder {
 public:
  struct interval {
    std::chrono::nanoseconds begin{};
    std::chrono::nanoseconds end{};
  };
  struct place {
    std::uint32_t device = 0;
    std::uint64_t stream = 0;
  };
  /// A range: its index in trace::ranges.
  using range_id = std::uint32_t;

  trace_builder() {
    records_.source = "trace_builder";
    records_.clock = "made by hand";
    records_.intern_thread(1);
  }

  /// What a device is, for its ceilings; without, a device has a number only.
  trace_builder& device(const device_info& device) {
    records_.devices.push_back(device);
    return *this;
  }

  range_id pass(std::string_view kind, interval when, std::string_view model = {}) {
    const range_id id = range(range_kind::phase, none, kind, no_index, when);
    if (!model.empty()) {
      records_.models.push_back({id, records_.strings.intern(model)});
    }
    return id;
  }
  range_id layer(range_id in, std::string_view name, interval when) {
    return range(range_kind::layer, in, name, no_index, when);
  }
  range_id layer(range_id in, std::string_view name, std::int32_t index, interval when) {
    return range(range_kind::layer, in, name, index, when);
  }
  range_id op(range_id in, std::string_view name, interval when) {
    return range(range_kind::op, in, name, no_index, when);
  }

  /// Work of a range; several entries add up.
  void work(range_id of, const varve::work& declared) {
    records_.works.push_back({of, declared, work_source::engine});
  }
  /// A number that a pass carries: attribute(pass, VARVE_DECODE_TOKENS, 16).
  void attribute(range_id pass, varve_attribute key, std::int64_t value) {
    records_.attributes.push_back({pass, key, value});
  }

  /// A call on the host made in `in`, or in no range (none); gives its correlation.
  std::uint32_t call(range_id in, call_kind kind, interval when) {
    records_.add_call({when.begin.count(), when.end.count(), ++correlation_, in, 0, kind, false});
    return correlation_;
  }
  /// A kernel with a launch of its own.
  void kernel(range_id in, std::string_view name, interval launch, interval ran, place where = {0, 0},
              const launch_shape& shape = {}) {
    activity(activity_kind::kernel, call(in, call_kind::launch, launch), name, ran, where,
             records_.intern_shape(shape));
  }
  /// A copy with a call of its own.
  void copy(range_id in, std::int64_t bytes, interval called, interval ran, place where = {0, 0}) {
    activity(activity_kind::copy, call(in, call_kind::copy, called), "memcpy", ran, where,
             records_.intern_bytes(bytes));
  }

  /// The trace so far.
  [[nodiscard]] const trace& records() const noexcept { return records_; }
  /// The same, for what this class has no function for: graphs, other threads, gauges.
  [[nodiscard]] trace& records() noexcept { return records_; }
  [[nodiscard]] report analyze(const analyze_options& options = {}) const {
    return varve::analyze(records_, options);
  }

 private:
  range_id range(range_kind kind, range_id in, std::string_view name, std::int32_t index, interval when) {
    varve::range made;
    made.begin = when.begin.count();
    made.end = when.end.count();
    made.parent = in;
    made.label = records_.labels.intern({in < records_.ranges.size() ? records_.ranges[in].label : none,
                                         records_.strings.intern(name), index, kind});
    made.thread = 0;
    made.kind = kind;
    records_.ranges.push_back(made);
    return static_cast<range_id>(records_.ranges.size() - 1);
  }
  void activity(activity_kind kind, std::uint32_t correlation, std::string_view name, interval ran,
                place where, std::uint32_t detail) {
    records_.add_activity({ran.begin.count(), ran.end.count(), correlation, records_.strings.intern(name),
                           none, detail, records_.intern_stream({where.device, 1, where.stream}), kind});
  }

  trace records_;
  std::uint32_t correlation_ = 0;
};

}  // namespace v0
}  // namespace varve

#endif  // VARVE_TRACE_BUILDER_HPP
