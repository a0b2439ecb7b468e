// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Layers from calls of modules in traces that other people recorded on real GPUs, against values that an
// independent script computed from the events: kernels by the innermost module around the middle of their
// launch. And what must hold of any report: rows add up to totals.
#include "formats/real_traces.hpp"

#include <varve/io.hpp>
#include <varve/report.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;
using varve::time_ns;

using real_modules = real_traces;

/// Kernels of all modules that stand at one place, whatever their indices: those launched in them and in no
/// deeper module, and with those of deeper ones.
struct module_facts {
  std::int64_t calls = 0;
  std::int64_t own = 0;
  time_ns own_time = 0;
  std::int64_t kernels = 0;
  time_ns time = 0;
  bool operator==(const module_facts& o) const {
    return std::tie(calls, own, own_time, kernels, time) ==
           std::tie(o.calls, o.own, o.own_time, o.kernels, o.time);
  }
};

std::ostream& operator<<(std::ostream& out, const module_facts& f) {
  return out << f.calls << " calls, own " << f.own << " in " << f.own_time << ", all " << f.kernels << " in "
             << f.time;
}

/// By the classes above and of a module, "Qwen2Model/Qwen2DecoderLayer"; annotations are no steps, and what
/// they launched is their module's.
std::map<std::string, module_facts> modules_of(const varve::report& r) {
  std::map<std::string, module_facts> out;
  std::vector<std::string> places;  // of each row, or of the module around it
  for (const varve::row& row : r.layers) {
    std::string place = row.parent == varve::none ? "" : places[row.parent];
    const bool is_module = row.kind == varve::range_kind::layer && !row.path.empty();
    if (is_module) {
      place += (place.empty() ? "" : "/") + row.label;
    }
    places.push_back(place);
    if (place.empty()) {
      continue;
    }
    module_facts& f = out[place];
    f.own += row.exclusive.kernels;
    f.own_time += row.exclusive.kernel_time;
    if (is_module) {
      f.calls += row.inclusive.calls;
      f.kernels += row.inclusive.kernels;
      f.time += row.inclusive.kernel_time;
    }
  }
  return out;
}

/// The rows of a class in the order of their indices.
std::vector<const varve::row*> rows_of(const varve::report& r, std::string_view label) {
  varve::row_query query;
  query.label = label;
  std::vector<const varve::row*> rows = r.select(query);
  std::sort(rows.begin(), rows.end(),
            [](const varve::row* a, const varve::row* b) { return a->index < b->index; });
  return rows;
}

std::vector<time_ns> kernel_times(const std::vector<const varve::row*>& rows) {
  std::vector<time_ns> out;
  out.reserve(rows.size());
  for (const varve::row* row : rows) {
    out.push_back(row->inclusive.kernel_time);
  }
  return out;
}

using interval = std::pair<time_ns, time_ns>;

/// The least and the most of them.
interval extremes(const std::vector<time_ns>& times) {
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  return {*least, *most};
}

void expect_24_equal_layers(const std::vector<const varve::row*>& layers) {
  ASSERT_EQ(layers.size(), 24U);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    EXPECT_EQ(layers[i]->index, static_cast<std::int32_t>(i));
    EXPECT_EQ(layers[i]->inclusive.calls, 1);
    EXPECT_EQ(layers[i]->inclusive.kernels, 42) << i;
    EXPECT_EQ(layers[i]->exclusive.kernels, 2) << i;  // the two residual additions
  }
}

TEST_F(real_modules, qwen_has_24_decoder_layers_of_42_kernels) {
  const varve::report r = varve::analyze(read("h100-qwen1.5-0.5b"));
  const std::string layer = "Qwen2Model/Qwen2DecoderLayer";
  EXPECT_THAT(modules_of(r),
              UnorderedElementsAre(
                  Pair("Qwen2Model", module_facts{1, 3, 7'488, 1029, 31'760'058}),
                  Pair("Qwen2Model/Embedding", module_facts{1, 1, 51'776, 1, 51'776}),
                  Pair("Qwen2Model/Qwen2RotaryEmbedding", module_facts{1, 9, 19'775, 9, 19'775}),
                  Pair(layer, module_facts{24, 48, 854'619, 1008, 31'531'131}),
                  Pair(layer + "/Qwen2RMSNorm", module_facts{48, 384, 7'228'105, 384, 7'228'105}),
                  Pair(layer + "/Qwen2Attention", module_facts{24, 360, 12'441'454, 456, 15'465'886}),
                  Pair(layer + "/Qwen2Attention/Linear", module_facts{96, 96, 3'024'432, 96, 3'024'432}),
                  Pair(layer + "/Qwen2MLP", module_facts{24, 24, 1'227'131, 120, 7'982'521}),
                  Pair(layer + "/Qwen2MLP/Linear", module_facts{72, 72, 5'830'275, 72, 5'830'275}),
                  Pair(layer + "/Qwen2MLP/SiLU", module_facts{24, 24, 925'115, 24, 925'115}),
                  Pair("Qwen2Model/Qwen2RMSNorm", module_facts{1, 8, 149'888, 8, 149'888})));

  const auto layers = rows_of(r, "Qwen2DecoderLayer");
  expect_24_equal_layers(layers);
  const auto times = kernel_times(layers);
  EXPECT_EQ(extremes(times), (interval{1'308'189, 1'322'427}));
  EXPECT_THAT(std::vector(times.begin(), times.begin() + 3), ElementsAre(1'318'172, 1'310'552, 1'314'843));
  EXPECT_EQ(times.back(), 1'313'661);
  time_ns host = 0;
  for (const varve::row* row : layers) {
    host += row->inclusive.host_time;
  }
  EXPECT_EQ(host, 30'980'950);

  const auto attention = rows_of(r, "Qwen2Attention");
  ASSERT_EQ(attention.size(), 24U);
  EXPECT_EQ(extremes(kernel_times(attention)), (interval{639'456, 651'260}));
  EXPECT_EQ(extremes(kernel_times(rows_of(r, "Qwen2MLP"))), (interval{329'311, 335'262}));
  EXPECT_EQ(extremes(kernel_times(rows_of(r, "Qwen2RMSNorm"))), (interval{146'718, 152'481}));
  EXPECT_EQ(rows_of(r, "Qwen2RMSNorm").size(), 49U);  // the last of them outside the layers
  // Which of them a module is, is its place in the tree: norms 2 i and 2 i + 1 are layer i's.
  EXPECT_EQ(rows_of(r, "Qwen2RMSNorm")[27]->path, "Qwen2Model 0 / Qwen2DecoderLayer 13 / Qwen2RMSNorm 27");
}

TEST_F(real_modules, the_transformer_block_is_mostly_attention_and_mlp) {
  const varve::report r = varve::analyze(read("h100-transformer-block"));
  const std::string layer = "SimpleTransformerLayer";
  EXPECT_THAT(
      modules_of(r),
      UnorderedElementsAre(Pair(layer, module_facts{3, 6, 24'000, 48, 390'000}),
                           Pair(layer + "/MultiheadAttention", module_facts{3, 27, 186'000, 27, 186'000}),
                           Pair(layer + "/Dropout", module_facts{6, 0, 0, 0, 0}),
                           Pair(layer + "/LayerNorm", module_facts{6, 6, 42'000, 6, 42'000}),
                           Pair(layer + "/Sequential", module_facts{3, 0, 0, 9, 138'000}),
                           Pair(layer + "/Sequential/Linear", module_facts{6, 6, 114'000, 6, 114'000}),
                           Pair(layer + "/Sequential/ReLU", module_facts{3, 3, 24'000, 3, 24'000}),
                           Pair(layer + "/Sequential/Dropout", module_facts{3, 0, 0, 0, 0})));
  // The engine's own annotations around the two say the same.
  const std::map<std::string, time_ns> expected{{"Self-Attention", 186'000},
                                                {"MultiheadAttention", 186'000},
                                                {"MLP", 138'000},
                                                {"Sequential", 138'000}};
  std::map<std::string, time_ns> found;
  for (const varve::row& label : r.labels) {
    if (expected.count(label.label) > 0) {
      found[label.label] += label.inclusive.gpu_time;
      EXPECT_EQ(label.inclusive.gpu_time, label.inclusive.kernel_time) << label.label;
    }
  }
  EXPECT_EQ(found, expected);
}

TEST_F(real_modules, vllm_prefill_has_36_blocks_of_attention_and_experts) {
  const varve::trace t = read("b200-vllm-prefill");
  const varve::report r = varve::analyze(t);
  const std::string model = "GptOssForCausalLM";
  const std::string block = model + "/TransformerBlock";
  const std::string attention = block + "/OAIAttention";
  EXPECT_THAT(modules_of(r),
              UnorderedElementsAre(
                  Pair(model, module_facts{1, 0, 0, 761, 10'793'699}),
                  Pair(model + "/VocabParallelEmbedding", module_facts{1, 4, 237'472, 4, 237'472}),
                  Pair(block, module_facts{36, 0, 0, 756, 10'549'538}),
                  Pair(block + "/RMSNorm", module_facts{72, 72, 449'955, 72, 449'955}),
                  Pair(attention, module_facts{36, 36, 127'387, 288, 2'422'576}),
                  Pair(attention + "/QKVParallelLinear", module_facts{36, 36, 287'423, 36, 287'423}),
                  Pair(attention + "/YaRNScalingRotaryEmbedding", module_facts{36, 36, 133'085, 36, 133'085}),
                  Pair(attention + "/Attention", module_facts{36, 72, 648'507, 108, 745'820}),
                  Pair(attention + "/Attention/QuantFP8", module_facts{36, 36, 97'313, 36, 97'313}),
                  Pair(attention + "/RowParallelLinear", module_facts{36, 72, 1'128'861, 72, 1'128'861}),
                  Pair(block + "/MLPBlock", module_facts{36, 0, 0, 396, 7'677'007}),
                  Pair(block + "/MLPBlock/Linear", module_facts{36, 36, 236'220, 36, 236'220}),
                  Pair(block + "/MLPBlock/FusedMoE", module_facts{36, 360, 7'440'787, 360, 7'440'787}),
                  Pair(model + "/RMSNorm", module_facts{1, 1, 6'689, 1, 6'689}),
                  Pair("LogitsProcessor", module_facts{1, 2, 55'457, 2, 55'457})));

  const auto blocks = rows_of(r, "TransformerBlock");
  ASSERT_EQ(blocks.size(), 36U);
  time_ns blocks_alone = 0;
  for (const varve::row* row : blocks) {
    EXPECT_EQ(row->inclusive.kernels, 21) << row->index;  // 8 of attention, 11 of the MLP, 2 norms
    blocks_alone += row->inclusive.kernel_time - row->inclusive.overlap;
  }
  const auto times = kernel_times(blocks);
  EXPECT_EQ(extremes(times), (interval{274'463, 313'789}));
  EXPECT_THAT(std::vector(times.begin(), times.begin() + 3), ElementsAre(305'664, 313'471, 304'446));
  EXPECT_EQ(times.back(), 276'860);
  EXPECT_EQ(extremes(kernel_times(rows_of(r, "OAIAttention"))), (interval{64'831, 69'887}));
  EXPECT_EQ(extremes(kernel_times(rows_of(r, "MLPBlock"))), (interval{196'223, 232'672}));

  // Kernels that begin before their predecessor on the stream ends, all of them in MLPs, count from there:
  // what is cut off is what the sum of all kernels has over their union.
  std::vector<interval> on_stream;
  for (std::size_t i = 0; i < t.activities.size(); ++i) {
    on_stream.emplace_back(t.activities.begin[i], t.activities.end[i]);
  }
  std::sort(on_stream.begin(), on_stream.end());
  std::int64_t overlaps = 0;
  for (std::size_t i = 1; i < on_stream.size(); ++i) {
    overlaps += on_stream[i].first < on_stream[i - 1].second ? 1 : 0;
  }
  EXPECT_EQ(overlaps, 74);
  time_ns cut = 0;
  for (const varve::phase_row& p : r.phases) {
    cut += p.total.overlap;
  }
  EXPECT_EQ(cut, 10'862'916 - 10'793'638);
  EXPECT_EQ(blocks_alone, 10'480'260);
  time_ns experts_alone = 0;
  for (const varve::row* row : rows_of(r, "MLPBlock")) {
    experts_alone += row->inclusive.kernel_time - row->inclusive.overlap;
    // Nothing runs beside it on another stream.
    EXPECT_EQ(row->inclusive.shared_time, static_cast<double>(row->inclusive.gpu_time)) << row->index;
  }
  EXPECT_EQ(experts_alone, 7'607'729);

  // All-reduces 19.51 % of the kernels' time, the gathering of the logits 0.20 %.
  std::int64_t reductions = 0;
  time_ns reducing = 0;
  for (const varve::row& kernel : r.kernels) {
    if (kernel.path.find("multimem_all_reduce") != std::string::npos) {
      reductions += kernel.inclusive.kernels;
      reducing += kernel.inclusive.kernel_time;
    }
  }
  EXPECT_EQ(reductions, 73);
  EXPECT_EQ(reducing, 2'119'548);
  time_ns collective = 0;
  for (const varve::row& category : r.categories) {
    collective += category.path == "collective" ? category.inclusive.kernel_time : 0;
  }
  EXPECT_EQ(collective, 2'119'548 + 21'953);
}

/// What adds up over rows, as numbers with their names.
std::map<std::string, double> sums_of(const varve::measures& m) {
  return {{"kernels", static_cast<double>(m.kernels)},
          {"copies", static_cast<double>(m.copies)},
          {"sets", static_cast<double>(m.sets)},
          {"kernel time", static_cast<double>(m.kernel_time)},
          {"overlap", static_cast<double>(m.overlap)},
          {"shared time", m.shared_time},
          {"copied bytes", static_cast<double>(m.copy_bytes)},
          {"launches", static_cast<double>(m.launches)},
          {"graph launches", static_cast<double>(m.graph_launches)},
          {"launch time", static_cast<double>(m.launch_time)},
          {"graph building", static_cast<double>(m.graph_build_time)},
          {"synchronising", static_cast<double>(m.synchronise_time)},
          {"allocating", static_cast<double>(m.allocate_time)},
          {"starved", static_cast<double>(m.starved.total())},
          {"device gap", static_cast<double>(m.device_gap)},
          {"FLOPs", static_cast<double>(m.declared.flops)},
          {"weight bytes", static_cast<double>(m.declared.weight_bytes)},
          {"KV bytes", static_cast<double>(m.declared.kv_bytes)},
          {"activation bytes", static_cast<double>(m.declared.activation_bytes)},
          {"collective bytes", static_cast<double>(m.collective_bytes)},
          {"unknown work", static_cast<double>(m.unknown_work_time)}};
}

void add(std::map<std::string, double>& to, const varve::measures& m) {
  for (const auto& [name, value] : sums_of(m)) {
    to[name] += value;
  }
}

void expect_equal(const std::map<std::string, double>& sums, const std::map<std::string, double>& expected,
                  const std::string& where) {
  ASSERT_EQ(sums.size(), expected.size()) << where;
  for (const auto& [name, value] : expected) {
    // Shared time is a fraction of an instant: some 1e-16 of it are lost in each addition.
    EXPECT_NEAR(sums.at(name), value, name == "shared time" ? 1e-9 * (1 + value) : 0)
        << where << ": " << name;
  }
}

using key = std::tuple<std::string, std::string, std::uint32_t>;
using sums_by_key = std::map<key, std::map<std::string, double>>;

template <class Row>
key key_of(const Row& r) {
  return {r.phase, r.model, r.device};
}

class real_sums : public real_traces, public testing::WithParamInterface<const char*> {};

TEST_P(real_sums, rows_add_up_to_totals) {
  const varve::trace t = read(GetParam());
  const varve::report r = varve::analyze(t);
  ASSERT_FALSE(r.layers.empty());

  // A row has what is its own and what its rows inside have.
  std::vector<std::map<std::string, double>> inside(r.layers.size());
  sums_by_key exclusive;
  sums_by_key roots;
  std::map<std::uint32_t, double> shared;
  std::map<std::uint32_t, double> kernels;
  for (std::size_t i = 0; i < r.layers.size(); ++i) {
    const varve::row& row = r.layers[i];
    add(inside[i], row.exclusive);
    add(exclusive[key_of(row)], row.exclusive);
    shared[row.device] += row.exclusive.shared_time;
    kernels[row.device] += static_cast<double>(row.exclusive.kernels);
    if (row.parent == varve::none) {
      add(roots[key_of(row)], row.inclusive);
      EXPECT_EQ(row.depth, 0U) << row.path;
      continue;
    }
    ASSERT_LT(row.parent, i);
    EXPECT_EQ(row.depth, r.layers[row.parent].depth + 1) << row.path;
    EXPECT_EQ(key_of(row), key_of(r.layers[row.parent])) << row.path;
    add(inside[row.parent], row.inclusive);
    EXPECT_LE(row.inclusive.gpu_time, r.layers[row.parent].inclusive.gpu_time) << row.path;
  }
  for (std::size_t i = 0; i < r.layers.size(); ++i) {
    expect_equal(inside[i], sums_of(r.layers[i].inclusive), r.layers[i].path);
  }

  // All rows of a phase, its roots, its kernels and its categories have what the phase has. An instant that
  // several have in common is divided among the rows of a view: that adds up over the device alone.
  sums_by_key by_kernel;
  sums_by_key by_category;
  std::map<std::uint32_t, double> shared_by_kernel;
  std::map<std::uint32_t, double> shared_by_category;
  for (const varve::row& row : r.kernels) {
    add(by_kernel[key_of(row)], row.inclusive);
    shared_by_kernel[row.device] += row.inclusive.shared_time;
  }
  for (const varve::row& row : r.categories) {
    add(by_category[key_of(row)], row.inclusive);
    shared_by_category[row.device] += row.inclusive.shared_time;
  }
  for (const varve::phase_row& p : r.phases) {
    const auto total = sums_of(p.total);
    expect_equal(exclusive[key_of(p)], total, p.phase + " by layer");
    expect_equal(roots[key_of(p)], total, p.phase + " by root");
    for (const char* name : {"kernels", "copies", "sets", "kernel time", "overlap", "copied bytes"}) {
      EXPECT_EQ(by_kernel[key_of(p)][name], total.at(name)) << p.phase << " by kernel: " << name;
      EXPECT_EQ(by_category[key_of(p)][name], total.at(name)) << p.phase << " by category: " << name;
    }
  }

  // Phases and what lies outside them are all that the device did.
  for (const varve::device_row& d : r.devices) {
    const auto busy = static_cast<double>(d.busy);
    EXPECT_NEAR(shared[d.device.id], busy, 1e-9 * busy);
    EXPECT_NEAR(shared_by_kernel[d.device.id], busy, 1e-9 * busy);
    EXPECT_NEAR(shared_by_category[d.device.id], busy, 1e-9 * busy);
    EXPECT_EQ(kernels[d.device.id], static_cast<double>(d.kernels));
  }
}

INSTANTIATE_TEST_SUITE_P(files, real_sums,
                         testing::Values("h100-transformer-block", "h100-qwen1.5-0.5b", "b200-vllm-prefill",
                                         "v100-cuda-graphs", "two-ranks.rank0", "two-ranks.rank1"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           for (char& c : name) {
                             c = c == '-' || c == '.' ? '_' : c;
                           }
                           return name;
                         });

}  // namespace
