// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "compare/figure_lines.hpp"

namespace varve {
inline namespace v0 {
namespace budgets {

namespace {

using unit = figure_unit;

template <auto Member>
double declared(const measures& m) {
  return static_cast<double>(m.declared.*Member);
}
const measures& sums(const subject& s) { return s.one != nullptr ? s.one->inclusive : s.phase->total; }
const verdict& judged(const subject& s) { return s.one != nullptr ? s.one->verdict : s.phase->verdict; }

double bytes_of(const measures& m) {
  const work& w = m.declared;
  return static_cast<double>(w.weight_bytes) + static_cast<double>(w.kv_bytes) +
         static_cast<double>(w.activation_bytes);
}

figure_value rate(const subject& s, double amount) {
  const auto time = static_cast<double>(sums(s).gpu_time);
  return time > 0 ? known(amount / time * 1e9) : unknown("it took no GPU time");
}

figure_value intensity(const subject& s) {
  const double bytes = bytes_of(sums(s));
  return bytes > 0 ? known(declared<&work::flops>(sums(s)) / bytes) : unknown("no bytes are declared");
}

template <double verdict::*Share>
figure_value utilisation(const subject& s) {
  const verdict& v = judged(s);
  if (v.by != bound::unknown && v.roof_share > 0) {
    return known(v.*Share);
  }
  return {std::nullopt, v.why.empty() || v.by != bound::unknown
                            ? "its work, or what the device can do at most, is not known"
                            : v.why};
}
const distribution* latency(const subject& s) {
  return s.one != nullptr ? &s.one->launch_latency : &s.phase->launch_latency;
}
const distribution* queue(const subject& s) {
  return s.one != nullptr ? &s.one->queue_delay : &s.phase->queue_delay;
}

}  // namespace

std::vector<definition> measured_lines(std::string_view per) {
  using m = measures;
  std::vector<definition> out{
      sum_line("kernel_time", unit::time, rests_on::device, of<&m::kernel_time>,
               "sum of kernels' durations; overlap counts as often as it occurs"),
      sum_line("shared_time", unit::time, rests_on::device, of<&m::shared_time>,
               "GPU time, each instant divided among the rows active in it"),
      sum_line("alone_time", unit::time, rests_on::device, of<&m::alone_time>,
               "GPU time in which no other row was active"),
      sum_line("host_time", unit::time, rests_on::markers, of<&m::host_time>,
               "length of the ranges on the host"),
      sum_line("launch_time", unit::time, rests_on::calls, of<&m::launch_time>,
               "host time inside launching calls"),
      sum_line("graph_build_time", unit::time, rests_on::calls, of<&m::graph_build_time>,
               "host time in building and updating graphs"),
      sum_line("synchronise_time", unit::time, rests_on::calls, of<&m::synchronise_time>,
               "host time in waiting for the device"),
      sum_line("allocate_time", unit::time, rests_on::calls, of<&m::allocate_time>,
               "host time in allocating and freeing device memory"),
      sum_line("launches", unit::count, rests_on::calls, of<&m::launches>,
               "launching calls, a graph launch counting one"),
      sum_line("graph_launches", unit::count, rests_on::calls, of<&m::graph_launches>, "of these, of graphs"),
      sum_line("synchronisations", unit::count, rests_on::calls, of<&m::synchronisations>,
               "calls that wait for the device"),
      sum_line("allocations", unit::count, rests_on::calls, of<&m::allocations>,
               "calls that allocate or free device memory"),
      sum_line("kernels", unit::count, rests_on::device, of<&m::kernels>, "kernels that ran"),
      sum_line("copies", unit::count, rests_on::device, of<&m::copies>, "copies that ran"),
      sum_line("sets", unit::count, rests_on::device, of<&m::sets>, "memory sets that ran"),
      sum_line("copy_bytes", unit::bytes, rests_on::device, of<&m::copy_bytes>, "bytes of copies"),
      sum_line("collective_bytes", unit::bytes, rests_on::device, of<&m::collective_bytes>,
               "bytes of collectives' messages, as far as known"),
      sum_line("flops", unit::flops, rests_on::work, declared<&work::flops>, "FLOPs of the work"),
      sum_line("bytes", unit::bytes, rests_on::work, bytes_of, "bytes of the work"),
      sum_line("weight_bytes", unit::bytes, rests_on::work, declared<&work::weight_bytes>,
               "of these, of weights"),
      sum_line("kv_bytes", unit::bytes, rests_on::work, declared<&work::kv_bytes>,
               "of these, of the KV cache"),
      spread_line("launch_latency", "launch", rests_on::device, latency,
                  "a launching call's begin to its kernel's begin"),
      spread_line("queue_delay", "launch", rests_on::device, queue,
                  "a launching call's end to its kernel's begin, where positive"),
      value_line(
          "flop_rate", unit::flop_rate, rests_on::work,
          [](const subject& s) { return rate(s, declared<&work::flops>(sums(s))); }, "FLOPs ÷ GPU time"),
      value_line(
          "byte_rate", unit::byte_rate, rests_on::work,
          [](const subject& s) { return rate(s, bytes_of(sums(s))); }, "bytes of the work ÷ GPU time"),
      value_line("intensity", unit::intensity, rests_on::work, intensity, "FLOPs ÷ bytes of the work"),
      value_line("efficiency", unit::share, rests_on::device, utilisation<&verdict::roof_share>,
                 "roof time ÷ GPU time, where a verdict is not withheld"),
      value_line("compute_utilisation", unit::share, rests_on::device, utilisation<&verdict::compute_share>,
                 "likewise, time that its FLOPs take at least ÷ GPU time"),
      value_line("memory_utilisation", unit::share, rests_on::device, utilisation<&verdict::memory_share>,
                 "likewise, time that its bytes take at least ÷ GPU time")};
  for (definition& d : out) {
    d.info.per = d.info.per.empty() ? per : d.info.per;
  }
  return out;
}

}  // namespace budgets
}  // namespace v0
}  // namespace varve
