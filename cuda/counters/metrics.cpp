// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "counters/metrics.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace varve::counters {

namespace {

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> out;
  out.reserve(texts.size());
  for (const std::string& text : texts) {
    out.push_back(text.c_str());
  }
  return out;
}

/// Names after "sm__ops_path_tensor_src_", which differ from chip to chip, in the order of their use in
/// inference. Binary and 4-bit integer products have no pipe.
struct tensor_name {
  std::string_view source;
  math_pipe pipe;
};
constexpr std::array<tensor_name, 16> tensor_names{{{"bf16_dst_fp32", math_pipe::bf16_tensor},
                                                    {"fp16", math_pipe::fp16_tensor},
                                                    {"fp16_dst_fp32", math_pipe::fp16_tensor},
                                                    {"fp16_bf16_tf32_dst_fp32", math_pipe::fp16_tensor},
                                                    {"fp8", math_pipe::fp8_tensor},
                                                    {"fp8_dst_fp32", math_pipe::fp8_tensor},
                                                    {"fp4_fp6_fp8_dst_fp32", math_pipe::fp8_tensor},
                                                    {"fp16_dst_fp16", math_pipe::fp16_tensor_fp16},
                                                    {"tf32_dst_fp32", math_pipe::tf32_tensor},
                                                    {"int8", math_pipe::int8_tensor},
                                                    {"fp4_dst_fp32", math_pipe::fp4_tensor},
                                                    {"fp4_fp6_dst_fp32", math_pipe::fp4_tensor},
                                                    {"fp8_dst_fp16", math_pipe::fp8_tensor},
                                                    {"fp4_fp6_dst_fp16", math_pipe::fp4_tensor},
                                                    {"fp4_fp6_fp8_dst_fp16", math_pipe::fp8_tensor},
                                                    {"fp64", math_pipe::fp64_tensor}}};
constexpr std::size_t before_cores = 3;  ///< of these, the first: other cores come next

constexpr std::string_view tensor_prefix = "sm__ops_path_tensor_";

/// Splits a metric that takes several passes into ones that add up to it.
class splitter {
 public:
  splitter(const host& h, const std::vector<std::string>& known) : host_{h}, known_{known} {}

  [[nodiscard]] bool knows(const std::string& metric) const {
    return std::find(known_.begin(), known_.end(), metric) != known_.end();
  }

  /// Adds metrics of one pass each; false where the name cannot be split into such.
  bool split(const std::string& metric, std::vector<std::string>& to, int depth = 0) const {
    constexpr int deepest = 4;
    if (depth > deepest) {
      return false;
    }
    if (host_.passes({metric + ".sum"}) == 1) {
      to.push_back(metric);
      return true;
    }
    const std::vector<std::string> parts = parts_of(metric);
    return !parts.empty() && std::all_of(parts.begin(), parts.end(),
                                         [&](const std::string& part) { return split(part, to, depth + 1); });
  }

 private:
  /// By instruction, then by what is accumulated in, then by sparsity: whichever the chip has.
  [[nodiscard]] std::vector<std::string> parts_of(const std::string& metric) const {
    std::vector<std::string> out;
    const std::string source = metric.substr(tensor_prefix.size());
    if (source.rfind("src_", 0) == 0) {
      for (const std::string& name : known_) {
        const bool by_instruction = name.rfind(std::string{tensor_prefix} + "op_", 0) == 0;
        const std::string ending = '_' + source;
        if (by_instruction && name.size() > ending.size() &&
            name.compare(name.size() - ending.size(), ending.size(), ending) == 0) {
          out.push_back(name);
        }
      }
    }
    constexpr std::array<std::array<const char*, 2>, 2> endings{
        {{"_dst_fp32", "_dst_fp16"}, {"_sparsity_off", "_sparsity_on"}}};
    for (const auto& [first, second] : endings) {
      if (out.empty() && knows(metric + first) && knows(metric + second)) {
        out = {metric + first, metric + second};
      }
    }
    return out;
  }

  const host& host_;
  const std::vector<std::string>& known_;
};

void add_dram(const splitter& names, std::vector<quantity>& to) {
  constexpr std::array<std::array<const char*, 2>, 3> all{
      {{"dram__bytes_read", "dram__bytes_write"},
       {"dram__bytes_op_read", "dram__bytes_op_write"},  // GB20x
       {"fbpa__dram_read_bytes", "fbpa__dram_write_bytes"}}};
  for (const auto& [read, write] : all) {
    if (names.knows(read) && names.knows(write)) {
      to.push_back({count_kind::dram_read, math_pipe::unknown, 0, {{std::string{read} + ".sum", 1}}});
      to.push_back({count_kind::dram_written, math_pipe::unknown, 0, {{std::string{write} + ".sum", 1}}});
      return;
    }
  }
}

/// Additions and multiplications of threads, a fused one twice.
void add_cores(const splitter& names, std::vector<quantity>& to) {
  constexpr std::array<std::pair<char, math_pipe>, 3> all{
      {{'f', math_pipe::fp32}, {'h', math_pipe::fp16}, {'d', math_pipe::fp64}}};
  for (const auto& [letter, pipe] : all) {
    quantity q{count_kind::operations, pipe, 0, {}};
    for (const auto& [operation, weight] :
         {std::pair{"add", 1.0}, std::pair{"mul", 1.0}, std::pair{"fma", 2.0}}) {
      const std::string metric =
          std::string{"smsp__sass_thread_inst_executed_op_"} + letter + operation + "_pred_on";
      if (names.knows(metric)) {
        q.terms.push_back({metric + ".sum", weight});
      }
    }
    if (q.terms.size() == 3) {
      to.push_back(std::move(q));
    }
  }
}

void add_tensor(const splitter& names, const tensor_name& name, std::vector<quantity>& to) {
  const std::string metric = std::string{tensor_prefix} + "src_" + std::string{name.source};
  std::vector<std::string> parts;
  if (!names.knows(metric) || !names.split(metric, parts)) {
    return;
  }
  const auto before = std::count_if(to.begin(), to.end(), [&](const quantity& q) {
    return q.what == count_kind::operations && q.pipe == name.pipe;
  });
  for (std::size_t i = 0; i < parts.size(); ++i) {
    to.push_back({count_kind::operations,
                  name.pipe,
                  static_cast<std::uint8_t>(static_cast<std::size_t>(before) + i),
                  {{parts[i] + ".sum", 1}}});
  }
}

/// Of `t` and `q` together.
std::vector<std::string> metrics_with(const turn& t, const quantity& q) {
  std::vector<std::string> out = t.metrics;
  for (const quantity::term& term : q.terms) {
    out.push_back(term.metric);
  }
  return out;
}

}  // namespace

host::host(const functions& call, const std::string& chip, const std::uint8_t* availability)
    : call_{call}, chip_{chip}, availability_{availability} {
  object_ = open(error_);
}

host::~host() {
  if (object_ != nullptr) {
    auto p = make_params<host_deinitialize_params>();
    p.host = object_;
    call_.host_deinitialize(&p);
  }
}

host_object host::open(result& error) const noexcept {
  auto p = make_params<host_initialize_params>();
  p.profiler_type = range_profiler;
  p.chip = chip_.c_str();
  p.availability = availability_;
  error = call_.host_initialize(&p);
  return error == result::success ? p.host : nullptr;
}

std::vector<std::string> host::base_metrics() const {
  auto p = make_params<base_metrics_params>();
  p.host = object_;
  p.metric_type = metric_counter;
  std::vector<std::string> out;
  if (object_ != nullptr && call_.base_metrics(&p) == result::success && p.names != nullptr) {
    out.assign(p.names, p.names + p.count);
  }
  return out;
}

std::vector<std::uint8_t> host::config(const std::vector<std::string>& metrics, std::size_t& passes) const {
  passes = 0;
  std::vector<const char*> names = pointers(metrics);
  auto add = make_params<add_metrics_params>();
  add.host = object_;
  add.names = names.data();
  add.count = names.size();
  auto size = make_params<config_size_params>();
  size.host = object_;
  if (object_ == nullptr || call_.add_metrics(&add) != result::success ||
      call_.config_size(&size) != result::success) {
    return {};
  }
  std::vector<std::uint8_t> out(size.config_size);
  auto image = make_params<config_params>();
  image.host = object_;
  image.config_size = out.size();
  image.config = out.data();
  auto count = make_params<passes_params>();
  count.config_size = out.size();
  count.config = out.data();
  if (call_.config(&image) != result::success || call_.passes(&count) != result::success) {
    return {};
  }
  passes = count.passes;
  return out;
}

// Metrics that were added stay added: an object of its own for each question.
std::size_t host::passes(const std::vector<std::string>& metrics) const {
  std::size_t out = 0;
  static_cast<void>(host{call_, chip_, availability_}.config(metrics, out));
  return out;
}

bool host::evaluate(const std::vector<std::uint8_t>& image, std::size_t range,
                    const std::vector<std::string>& metrics, std::vector<double>& values) const {
  values.assign(metrics.size(), 0);
  std::vector<const char*> names = pointers(metrics);
  auto p = make_params<evaluate_params>();
  p.host = object_;
  p.image = image.data();
  p.image_size = image.size();
  p.range = range;
  p.names = names.data();
  p.count = names.size();
  p.values = values.data();
  return object_ != nullptr && call_.evaluate(&p) == result::success;
}

std::vector<quantity> quantities_of(const host& h, bool operations) {
  const std::vector<std::string> known = h.base_metrics();
  const splitter names{h, known};
  std::vector<quantity> out;
  add_dram(names, out);
  for (std::size_t i = 0; operations && i < tensor_names.size(); ++i) {
    if (i == before_cores) {
      add_cores(names, out);
    }
    add_tensor(names, tensor_names[i], out);
  }
  return out;
}

std::vector<turn> plan(const host& h, const std::vector<quantity>& wanted) {
  std::vector<turn> out;
  const auto add = [](turn& to, const quantity& q) {
    to.metrics = metrics_with(to, q);
    to.counts.push_back(q);
  };
  for (const quantity& q : wanted) {
    const auto room = std::find_if(out.begin(), out.end(),
                                   [&](const turn& t) { return h.passes(metrics_with(t, q)) == 1; });
    if (room != out.end()) {
      add(*room, q);
    } else if (h.passes(metrics_with({}, q)) == 1) {
      add(out.emplace_back(), q);
    }
  }
  for (turn& t : out) {
    for (const quantity& q : wanted) {
      const bool has = std::any_of(t.counts.begin(), t.counts.end(), [&](const quantity& c) {
        return c.what == q.what && c.pipe == q.pipe && c.part == q.part;
      });
      if (q.what != count_kind::operations && !has && h.passes(metrics_with(t, q)) == 1) {
        add(t, q);
      }
    }
  }
  return out;
}

}  // namespace varve::counters
