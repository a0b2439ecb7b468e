// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Descriptions of published models against values that a script of other hands computed: every row of
// models/reference.csv, integers exactly, ratios to 1e-6.
#include <varve/device.hpp>
#include <varve/io.hpp>
#include <varve/model.hpp>
#include <varve/report.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

const std::filesystem::path folder = std::filesystem::path{VARVE_REAL_DATA} / "models";

struct row {
  std::string scenario;
  std::string component;
  std::string metric;
  std::string value;
};

std::vector<row> rows_of(const std::string& model) {
  std::vector<row> out;
  std::ifstream in{folder / "reference.csv"};
  std::string line;
  while (std::getline(in, line)) {
    std::istringstream fields{line};
    std::string name;
    row r;
    std::getline(fields, name, ',');
    std::getline(fields, r.scenario, ',');
    std::getline(fields, r.component, ',');
    std::getline(fields, r.metric, ',');
    std::getline(fields, r.value, ',');
    if (name == model) {
      out.push_back(r);
    }
  }
  return out;
}

/// The reference's groups of operators.
std::string component_of(const varve::operator_work& o) {
  static const std::map<std::string_view, std::string> named{{"embed", "embed"},
                                                             {"qkv_proj", "qkv"},
                                                             {"q_proj", "qkv"},
                                                             {"q_a_proj", "qkv"},
                                                             {"q_b_proj", "qkv"},
                                                             {"kv_a_proj", "qkv"},
                                                             {"kv_b_proj", "qkv"},
                                                             {"kv_b_k_absorb", "qkv"},
                                                             {"kv_b_v_absorb", "qkv"},
                                                             {"attn_score", "attn_score"},
                                                             {"attn_value", "attn_value"},
                                                             {"o_proj", "o"},
                                                             {"gate_proj", "mlp_gate"},
                                                             {"up_proj", "mlp_up"},
                                                             {"fc1", "mlp_up"},
                                                             {"down_proj", "mlp_down"},
                                                             {"fc2", "mlp_down"},
                                                             {"router", "router"},
                                                             {"experts_gate_up", "experts"},
                                                             {"experts_down", "experts"},
                                                             {"shared_gate_up", "shared"},
                                                             {"shared_down", "shared"},
                                                             {"shared_gate", "shared"},
                                                             {"lm_head", "lm_head"}};
  if (o.block == "norm") {
    return "norm";
  }
  const auto found = named.find(o.name);
  return found != named.end() ? found->second : "eltwise";
}

struct sums {
  varve::work all;
  std::int64_t attention = 0;
  std::int64_t written_kv = 0;
  std::int64_t written = 0;
  std::int64_t elementwise = 0;
  std::map<std::string, varve::work> components;
};

sums sum(const std::vector<varve::operator_work>& pass) {
  sums out;
  for (const varve::operator_work& o : pass) {
    out.all += o.declared;
    out.written_kv += o.written_kv;
    out.written += o.written_activations;
    out.elementwise += o.elementwise_flops;
    out.components[component_of(o)] += o.declared;
  }
  out.attention = out.components["attn_score"].flops + out.components["attn_value"].flops;
  return out;
}

struct gpu {
  double flops;
  double bandwidth;
};
const std::map<std::string, gpu> gpus{
    {"H100-SXM", {989e12, 3.35e12}}, {"A100-80GB", {312e12, 2.039e12}}, {"T4", {65e12, 0.32e12}}};

double seconds(const varve::work& w, const gpu& g) {
  return std::max(static_cast<double>(w.flops) / g.flops, static_cast<double>(w.bytes()) / g.bandwidth);
}

double sum_of_operators(const std::vector<varve::operator_work>& pass, const gpu& g) {
  double out = 0;
  for (std::size_t i = 0; i < pass.size();) {
    varve::work one = pass[i].declared;
    for (++i; i < pass.size() && pass[i].with_previous; ++i) {
      one += pass[i].declared;
    }
    out += seconds(one, g);
  }
  return out;
}

struct scenario {
  std::vector<varve::pass_sequence> sequences;
  varve::work_options options;
};

/// "decode_b16_c1024", "prefill_b1_s2048_logits_all".
scenario scenario_of(const std::string& name) {
  scenario out;
  const bool decode = name.rfind("decode", 0) == 0;
  const std::size_t batch = name.find("_b") + 2;
  const std::size_t context = name.find(decode ? "_c" : "_s", batch) + 2;
  const std::int64_t length = std::strtoll(name.c_str() + context, nullptr, 10);
  out.sequences.assign(std::strtoull(name.c_str() + batch, nullptr, 10),
                       {decode ? 1 : length, length, decode});
  out.options.all_logits = name.find("logits_all") != std::string::npos;
  out.options.full_square = name.find("full_square") != std::string::npos;
  if (name.find("mla_expanded") != std::string::npos) {
    out.options.latent = varve::work_options::latent_form::expanded;
  }
  return out;
}

using value = std::optional<double>;  // exact up to 2^53: those beyond are compared as the double nearest

value of_work(const varve::work& w, const std::string& metric) {
  if (metric == "flops") {
    return static_cast<double>(w.flops);
  }
  if (metric == "bytes") {
    return static_cast<double>(w.bytes());
  }
  if (metric == "bytes_weights") {
    return static_cast<double>(w.weight_bytes);
  }
  return std::nullopt;
}

value of_total(const sums& s, const std::string& metric) {
  const auto head = s.components.find("lm_head")->second.flops;
  const auto flops = static_cast<double>(s.all.flops);
  const std::map<std::string, double> values{
      {"flops_linear", static_cast<double>(s.all.flops - s.attention - head)},
      {"flops_attn", static_cast<double>(s.attention)},
      {"flops_lm_head", static_cast<double>(head)},
      {"flops_elementwise_estimate", static_cast<double>(s.elementwise)},
      {"bytes_kv_read", static_cast<double>(s.all.kv_bytes - s.written_kv)},
      {"bytes_kv_write", static_cast<double>(s.written_kv)},
      {"bytes_act_in", static_cast<double>(s.all.activation_bytes - s.written)},
      {"bytes_act_out", static_cast<double>(s.written)},
      {"arithmetic_intensity", flops / static_cast<double>(s.all.bytes())},
      {"arithmetic_intensity_weights_kv_only",
       flops / static_cast<double>(s.all.weight_bytes + s.all.kv_bytes)}};
  const auto found = values.find(metric);
  return found != values.end() ? found->second : of_work(s.all, metric);
}

/// "layer3x58.router": the operator of layer 3, and that 58 layers have it alike.
value of_layer(const std::vector<varve::operator_work>& pass, const row& r) {
  const std::size_t dot = r.component.find('.');
  const std::int32_t layer = std::atoi(r.component.c_str() + 5);
  for (const varve::operator_work& o : pass) {
    if (o.layer == layer && o.name == r.component.substr(dot + 1)) {
      return of_work(o.declared, r.metric);
    }
  }
  return std::nullopt;
}

value of_pass(const varve::model& m, const row& r) {
  static std::map<std::string, std::vector<varve::operator_work>> passes;
  const scenario asked = scenario_of(r.scenario);
  auto [found, added] = passes.try_emplace(m.name + r.scenario);
  if (added) {
    found->second = work_of_pass(m, asked.sequences, asked.options);
  }
  const auto& pass = found->second;
  if (r.component.rfind("layer", 0) == 0) {
    return of_layer(pass, r);
  }
  const sums s = sum(pass);
  if (r.metric == "roofline_whole_pass") {
    return seconds(s.all, gpus.at(r.component));
  }
  if (r.metric == "roofline_sum_of_operators") {
    return sum_of_operators(pass, gpus.at(r.component));
  }
  if (r.component == "total") {
    return of_total(s, r.metric);
  }
  if (r.component == "attn") {
    return static_cast<double>(s.attention);
  }
  const auto component = s.components.find(r.component);
  return component != s.components.end() ? of_work(component->second, r.metric) : std::nullopt;
}

value of_static(const varve::model& stored, const varve::model& m, const row& r) {
  const varve::parameter_counts p = count_parameters(m);
  const std::map<std::string, std::int64_t> parameters{{"total", p.total},
                                                       {"active", p.active},
                                                       {"embed", p.embedding},
                                                       {"pos_embed", p.positions},
                                                       {"proj", p.projections},
                                                       {"lm_head", p.head},
                                                       {"lm_head_bias", p.head_bias},
                                                       {"layers", p.layers},
                                                       {"final_norm", p.final_norm},
                                                       {"mat_active", p.active_matrices},
                                                       {"qkv", p.qkv},
                                                       {"o", p.output},
                                                       {"mlp_gate", p.gate},
                                                       {"mlp_up", p.up},
                                                       {"mlp_down", p.down},
                                                       {"router", p.router},
                                                       {"experts", p.experts},
                                                       {"shared", p.shared},
                                                       {"qkv_bias", p.qkv_bias},
                                                       {"o_bias", p.output_bias},
                                                       {"mlp_bias", p.mlp_bias},
                                                       {"router_bias", p.router_bias},
                                                       {"experts_bias", p.expert_bias},
                                                       {"norm", p.norms},
                                                       {"sinks", p.sinks}};
  if (r.metric == "params") {
    const auto found = parameters.find(r.component);
    return found != parameters.end() ? value{static_cast<double>(found->second)} : std::nullopt;
  }
  const std::map<std::string, std::int64_t> bytes{{"weight_bytes_bf16", weight_bytes(m)},
                                                  {"weight_bytes_stored", weight_bytes(stored)},
                                                  {"kv_bytes_per_token_bf16", kv_bytes_per_token(m)},
                                                  {"kv_bytes_sequence_1024_windowed", kv_bytes(m, 1024)},
                                                  {"kv_bytes_sequence_4096_windowed", kv_bytes(m, 4096)},
                                                  {"kv_bytes_sequence_32768_windowed", kv_bytes(m, 32768)}};
  const auto found = bytes.find(r.metric);
  return found != bytes.end() ? value{static_cast<double>(found->second)} : std::nullopt;
}

value computed(const varve::model& stored, const varve::model& m, const row& r) {
  if (r.scenario == "static") {
    return of_static(stored, m, r);
  }
  if (r.scenario.rfind("moe_T", 0) == 0) {
    const varve::expert_layer& e = m.layers.back().experts;
    return varve::expected_experts(e.count, e.chosen, std::atoi(r.scenario.c_str() + 5));
  }
  return of_pass(m, r);
}

/// Integers exactly. The reference has bytes of expected experts as fractions, and sums of them, which varve
/// rounds for each operator: half a byte for each of two in a layer.
bool agrees(const varve::model& m, const row& r, double here) {
  const double there = std::strtod(r.value.c_str(), nullptr);
  if (r.metric.rfind("bytes", 0) == 0 && m.layers.back().experts.count > 0) {
    return std::abs(here - there) <= static_cast<double>(m.layers.size());
  }
  const bool ratio = r.value.find_first_of(".e") != std::string::npos;
  return ratio ? std::abs(here - there) <= 1e-6 * std::abs(there) : here == there;
}

class real_models : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(folder)) {
      GTEST_SKIP() << "there are no models in " << folder;
    }
  }
};

TEST_P(real_models, agree_with_every_value_of_the_reference) {
  const varve::model stored = varve::read_model((folder / "configs" / GetParam()).string() + ".json");
  varve::model m = unquantised(stored);
  m.name = GetParam();
  const std::vector<row> rows = rows_of(GetParam());
  EXPECT_GE(rows.size(), 31U);
  for (const row& r : rows) {
    const value here = computed(stored, m, r);
    const std::string what = r.scenario + " " + r.component + " " + r.metric;
    if (!here) {
      ADD_FAILURE() << what << ": not computed";
    } else if (!agrees(m, r, *here)) {
      ADD_FAILURE() << what << ": " << std::to_string(*here) << " here, " << r.value << " there";
    }
  }
}

// DeepSeek-V3 on an H200: 7.88 ms for one sequence, and 12.0 for two, whose tokens touch nearly twice as many
// experts. Times of operators are whole nanoseconds, hundreds of which make the shortest pass.
TEST_P(real_models, predict_of_twice_the_batch_what_twice_the_sequences_take) {
  const varve::model m = varve::read_model((folder / "configs" / GetParam()).string() + ".json");
  varve::analyze_options options;
  options.ceilings = varve::ceilings_named("h200");
  for (const std::size_t sequences : {1U, 8U}) {
    const auto report_of = [&](std::size_t n) {
      const std::vector<varve::pass_sequence> batch(n, {1, 1024, true});
      return analyze(roof_trace(m, batch, *options.ceilings), options);
    };
    const varve::report r = report_of(sequences);
    const auto twice = static_cast<double>(report_of(2 * sequences).phases.at(0).wall);
    const auto predicted = std::find_if(
        r.predictions.begin(), r.predictions.end(),
        [](const varve::prediction& p) { return p.what == varve::prediction::change::double_batch; });
    ASSERT_NE(predicted, r.predictions.end());
    EXPECT_NEAR(predicted->expected, twice, 0.005 * twice) << sequences;
  }
}

INSTANTIATE_TEST_SUITE_P(all, real_models,
                         testing::Values("deepseek-v3", "gemma-2-9b", "gpt-oss-20b", "gpt2", "llama-2-70b",
                                         "llama-2-7b", "llama-3-8b", "llama-3.1-70b", "llama-3.2-1b",
                                         "mistral-7b-v0.1", "mixtral-8x7b-v0.1", "opt-125m",
                                         "phi-3-mini-4k-instruct", "qwen1.5-0.5b-chat",
                                         "qwen2.5-7b-instruct-awq", "qwen2.5-7b-instruct", "qwen3-30b-a3b",
                                         "qwen3-8b"));

}  // namespace
