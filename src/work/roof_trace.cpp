// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A pass as it would be at the roof.
#include "trace/pipe_names.hpp"
#include "work/label_rules.hpp"
#include "work/tensors.hpp"

#include <varve/model.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace varve {
inline namespace v0 {

namespace {

std::string name_of(math_pipe pipe) { return pipe_names[static_cast<std::size_t>(pipe)]; }

/// What stands in for a pipe: narrow factors are widened to `plain`, and cores do what no tensor core does.
math_pipe stand_in(math_pipe pipe, math_pipe plain, const ceilings& device) noexcept {
  switch (pipe) {
    case math_pipe::int8_tensor:
      return math_pipe::int8_dp4a;
    case math_pipe::unknown:
    case math_pipe::int8_dp4a:
    case math_pipe::fp8_tensor:
    case math_pipe::fp4_tensor:
      return plain;
    case math_pipe::bf16_tensor:
      return math_pipe::fp16_tensor;
    case math_pipe::fp16_tensor:
    case math_pipe::fp16_tensor_fp16:
      return device.peak(math_pipe::fp16) > device.peak(math_pipe::fp32) ? math_pipe::fp16 : math_pipe::fp32;
    case math_pipe::tf32_tensor:
      return math_pipe::fp32;
    default:
      return pipe;
  }
}

math_pipe rated_pipe(math_pipe pipe, math_pipe plain, const ceilings& device) {
  math_pipe rated = pipe;
  while (!(device.peak(rated) > 0)) {
    const math_pipe next = stand_in(rated, plain, device);
    if (next == rated) {
      throw std::invalid_argument{device.name + ": no rate is known for " + name_of(pipe) +
                                  ", nor for a pipe that stands in for it"};
    }
    rated = next;
  }
  return rated;
}

double roof_time(const work& w, const ceilings& device) noexcept {
  const double compute = w.flops > 0 ? static_cast<double>(w.flops) / device.peak(w.pipe) : 0;
  const double memory = w.bytes() > 0 ? static_cast<double>(w.bytes()) / device.bandwidth : 0;
  return 1e9 * std::max(compute, memory);
}

/// Formats of weights that no pipe multiplies as they are, and what they are widened to.
std::string widened_weights(const model& m) {
  std::string out;
  const auto add = [&](const weight_format& weights) {
    const math_pipe pipe = pipe_of(weights.type, m.factors);
    if (weights.type == m.type || pipe == pipe_of(weights.type, weights.type)) {
      return;
    }
    const std::string told = std::string{"; weights in "} +
                             dtype_names[static_cast<std::size_t>(weights.type)] +
                             " are widened and count on " + name_of(pipe);
    out += out.find(told) == std::string::npos ? told : "";
  };
  for (const model_layer& layer : m.layers) {
    for (const tensors::tensor& t : tensors::of(m, layer)) {
      if (t.n > 0 && t.copies > 0) {
        add(t.format);
      }
    }
  }
  add(m.head.value_or(m.type));
  return out;
}

class writer {
 public:
  writer(const ceilings& device, bool decode, const std::string& widened) : device_{device} {
    t_.intern_thread(0);
    t_.intern_stream({0, 0, 0});
    t_.devices.push_back({0, device.name, device.multiprocessors, device.compute_capability, 0});
    t_.begin = start;
    t_.live_cpu = false;
    t_.collectors.push_back({"prediction", "", collector_state::stopped, "nothing ran" + widened});
    pass_ = open(none, range_kind::phase, decode ? "decode" : "prefill", no_index);
  }

  [[nodiscard]] trace& to() noexcept { return t_; }
  [[nodiscard]] std::uint32_t pass() const noexcept { return pass_; }

  /// As the device does it.
  [[nodiscard]] work rated(work w, math_pipe plain) {
    if (w.bytes() > 0 && !(device_.bandwidth > 0)) {
      throw std::invalid_argument{device_.name + ": the bandwidth of its memory is not known"};
    }
    if (const math_pipe asked =
            std::exchange(w.pipe, w.flops > 0 ? rated_pipe(w.pipe, plain, device_) : w.pipe);
        asked != w.pipe) {
      const std::string replaced = "; " + name_of(asked) + " counts as " + name_of(w.pipe) + ", " +
                                   device_.name + " has no rate for it";
      std::string& detail = t_.collectors.front().detail;
      detail += detail.find(replaced) == std::string::npos ? replaced : "";
    }
    return w;
  }

  /// One that runs in one kernel with those after it, `name` with all their names.
  void add(const operator_work& first, const std::string& name, const work& all) {
    place(first);
    const time_ns begin = now();
    exact_ += roof_time(all, device_);
    total_ += all;
    if (total_.flops == sizes::most || total_.bytes() == sizes::most || !(exact_ < longest)) {
      throw std::overflow_error{
          "the FLOPs, bytes or nanoseconds of the pass are 2^63 or more, which varve does not count"};
    }
    const std::uint32_t innermost = inner_ != none ? inner_ : block_;
    t_.works.push_back({innermost, all, work_source::description});
    t_.add_call({begin, begin, ++correlation_, innermost, 0, call_kind::launch, false});
    t_.add_activity({begin, now(), correlation_, t_.strings.intern(name), none, none, 0});
    for (const std::uint32_t r : {pass_, layer_, block_, inner_}) {
      if (r != none) {
        t_.ranges[r].end = now();
      }
    }
  }

  trace finish() {
    t_.end = now();
    return std::move(t_);
  }

 private:
  /// Sums are right to a nanosecond, however short the operators.
  [[nodiscard]] time_ns now() const noexcept { return start + std::llround(exact_); }

  std::uint32_t open(std::uint32_t parent, range_kind kind, std::string_view name, std::int32_t index) {
    range r;
    r.begin = r.end = now();
    r.parent = parent;
    r.thread = 0;
    r.kind = kind;
    r.label = t_.labels.intern(
        {parent == none ? none : t_.ranges[parent].label, t_.strings.intern(name), index, kind});
    t_.ranges.push_back(r);
    return static_cast<std::uint32_t>(t_.ranges.size() - 1);
  }

  void place(const operator_work& o) {
    const bool same_layer =
        layer_ != none ? t_.labels[t_.ranges[layer_].label].index == o.layer : o.layer == no_index;
    if (!same_layer) {
      layer_ = o.layer == no_index ? none : open(pass_, range_kind::layer, "layer", o.layer);
    }
    // Norms of queries, keys or latents don't end the attention around them.
    const bool inside = same_layer && block_name_ == "attention" && model_work::is_inner_norm(o);
    inner_ = inside ? (inner_ != none ? inner_ : open(block_, range_kind::op, o.block, no_index)) : none;
    if (!inside && (!same_layer || block_ == none || o.block != block_name_)) {
      block_ = open(layer_ != none ? layer_ : pass_, range_kind::op, o.block, no_index);
      block_name_ = o.block;
    }
  }

  static constexpr time_ns start = 1;        ///< what begins and ends at 0 has no times
  static constexpr double longest = 9.2e18;  ///< nanoseconds

  const ceilings& device_;
  trace t_;
  work total_;
  double exact_ = 0;
  std::uint32_t pass_ = none;
  std::uint32_t layer_ = none;
  std::uint32_t block_ = none;
  std::uint32_t inner_ = none;  ///< in the block
  std::string_view block_name_;
  std::uint32_t correlation_ = 0;
};

}  // namespace

trace roof_trace(const model& m, const std::vector<pass_sequence>& sequences, const ceilings& device,
                 const work_options& options) {
  const bool decode =
      std::all_of(sequences.begin(), sequences.end(), [](const pass_sequence& s) { return s.decode; });
  writer out{device, decode, widened_weights(m)};
  const math_pipe plain = pipe_of(m.type, m.type);
  const std::vector<operator_work> operators = work_of_pass(m, sequences, options);
  for (std::size_t first = 0, last = 0; first < operators.size(); first = last) {
    work all = out.rated(operators[first].declared, plain);
    std::string name{operators[first].name};
    for (last = first + 1; last < operators.size() && operators[last].with_previous; ++last) {
      all += out.rated(operators[last].declared, plain);
      name.append(" + ").append(operators[last].name);
    }
    out.add(operators[first], name, all);
  }
  trace& t = out.to();
  std::int64_t tokens[2] = {0, 0};
  std::int64_t batch[2] = {0, 0};
  for (const pass_sequence& s : sequences) {
    tokens[s.decode ? 1 : 0] = sizes::sum(tokens[s.decode ? 1 : 0], s.tokens);
    ++batch[s.decode ? 1 : 0];
  }
  for (const auto& [key, value] : {std::pair{VARVE_PREFILL_TOKENS, tokens[0]},
                                   {VARVE_DECODE_TOKENS, tokens[1]},
                                   {VARVE_PREFILL_SEQUENCES, batch[0]},
                                   {VARVE_DECODE_SEQUENCES, batch[1]}}) {
    if (value != 0) {
      t.attributes.push_back({out.pass(), key, value});
    }
  }
  t.source = m.name + (m.ranks > 1 ? ", one of " + std::to_string(m.ranks) + " ranks," : "") + " on " +
             device.name + ": predicted, each operator at its roof";
  return out.finish();
}

}  // namespace v0
}  // namespace varve
