// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Each text that an engine puts around its passes, and exactly what it marks (docs/phases.md).
#include "formats/kineto_events.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace {

using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

class marks : public kineto_events {
 protected:
  using cases = std::vector<std::pair<std::string, std::string>>;

  /// "phase decode | d.tokens 4": kind, name, index, and attributes in the order of their keys.
  std::string mark_of(const std::string& text) {
    annotation(text, 0, 10);
    const varve::trace t = read();
    if (t.ranges.size() != 1) {
      return std::to_string(t.ranges.size()) + " ranges";
    }
    const varve::label_node& label = t.labels[t.ranges[0].label];
    const char* kinds[] = {"phase ", "layer ", "op ", "request "};
    std::string out = kinds[static_cast<int>(label.kind)] + std::string{t.strings[label.name]};
    if (label.index != varve::no_index) {
      out += " #" + std::to_string(label.index);
    }
    const char* keys[] = {"p.tokens", "p.sequences", "p.context", "p.q*k",
                          "d.tokens", "d.sequences", "d.context", "d.q*k"};
    for (int key = 0; key < 8; ++key) {
      for (const varve::range_attribute& a : t.attributes) {
        if (static_cast<int>(a.key) == key) {
          out += std::string{" | "} + keys[key] + ' ' + std::to_string(a.value);
        }
      }
    }
    losses_ = losses(t);
    return out;
  }
  void expect(const cases& all) {
    for (const auto& [text, mark] : all) {
      EXPECT_EQ(mark_of(text), mark) << text;
      EXPECT_THAT(losses_, IsEmpty()) << text;
    }
  }
  /// Ops of their own text, each counted as `loss`.
  void expect_unknown(const std::vector<std::string>& all, const std::string& loss) {
    for (const std::string& text : all) {
      EXPECT_EQ(mark_of(text), "op " + text);
      EXPECT_THAT(losses_, UnorderedElementsAre(Pair(loss, 1U))) << text;
    }
  }

  std::map<std::string, std::uint64_t> losses_;
};

TEST_F(marks, vllm_to_0_13_counts_new_and_cached_requests) {
  expect({
      {"execute_new_2_cached_0", "phase prefill | p.sequences 2"},
      // Cached requests are in decode, or in a later part of a prefill.
      {"execute_new_0_cached_16", "phase cached"},
      {"execute_new_1_cached_15", "phase new and cached"},
      {"execute_new_0_cached_0", "op execute_new_0_cached_0"},
  });
}

TEST_F(marks, vllm_from_0_14_gives_requests_and_scheduled_tokens) {
  expect({
      {"execute_context_2(14721)_generation_0(0)", "phase prefill | p.tokens 14721 | p.sequences 2"},
      {"execute_context_0(0)_generation_64(64)", "phase decode | d.tokens 64 | d.sequences 64"},
      {"execute_context_2(6144)_generation_3(3)",
       "phase mixed | p.tokens 6144 | p.sequences 2 | d.tokens 3 | d.sequences 3"},
      // Speculative decoding: one token and three drafts each.
      {"execute_context_0(0)_generation_8(32)", "phase decode | d.tokens 32 | d.sequences 8"},
      // Nothing was scheduled, so no model ran.
      {"execute_context_0(0)_generation_0(0)", "op execute_context_0(0)_generation_0(0)"},
  });
}

TEST_F(marks, the_private_form_gives_tokens_and_the_sum_of_their_squares) {
  expect({
      // 788544 = 888², no number of tokens, nor is 888788544.
      {"execute_context_1(888_788544)_generation_0(0)", "phase prefill | p.tokens 888 | p.sequences 1"},
      // 3 + 5 tokens: 9 + 25 = 34.
      {"execute_context_2(8_34)_generation_4(4)",
       "phase mixed | p.tokens 8 | p.sequences 2 | d.tokens 4 | d.sequences 4"},
      {"execute_context_2(7_25)_generation_0(0)", "phase prefill | p.tokens 7 | p.sequences 2"},  // 3 + 4
      {"execute_context_0(0_0)_generation_4(4)", "phase decode | d.tokens 4 | d.sequences 4"},
  });
}

TEST_F(marks, vllm_from_0_26_gives_lengths_and_products_on_request) {
  expect({
      {"execute_14721_context_2(sq14721sk14721sqsq108745533sqsk108745533)_generation_0(sq0sk0sqsq0sqsk0)",
       "phase prefill | p.tokens 14721 | p.sequences 2 | p.context 14721 | p.q*k 108745533"},
      {"execute_64_context_0(sq0sk0sqsq0sqsk0)_generation_64(sq64sk131072sqsq64sqsk131072)",
       "phase decode | d.tokens 64 | d.sequences 64 | d.context 131072 | d.q*k 131072"},
      // 6144 + 3 = 6147 tokens.
      {"execute_6147_context_2(sq6144sk7144sqsq20971520sqsk23019520)_generation_3(sq3sk6144sqsq3sqsk6144)",
       "phase mixed | p.tokens 6144 | p.sequences 2 | p.context 7144 | p.q*k 23019520 | d.tokens 3 | "
       "d.sequences 3 | d.context 6144 | d.q*k 6144"},
      // SGLang 0.5.9 to 0.5.12 patched by TraceLens: the first number is all requests, 1 + 0.
      {"execute_1_context_1(sq512sk512sqsq262144sqsk262144)_generation_0(sq0sk0sqsq0sqsk0)",
       "phase prefill | p.tokens 512 | p.sequences 1 | p.context 512 | p.q*k 262144"},
  });
}

TEST_F(marks, passes_of_vllm_that_are_not_understood_stay_ops_and_are_counted) {
  expect_unknown(
      {
          "execute_context_1(888)_generation_0",                  // cut
          "execute_context_1(888)_generation_0(0)_lora_2",        // a newer form
          "execute_context_1(888_788543)_generation_0(0)",        // one request: 888² = 788544
          "execute_context_1(888_788545)_generation_0(0)",        // likewise
          "execute_context_2(7_24)_generation_0(0)",              // 7² / 2 = 24.5, at least 25
          "execute_context_2(7_50)_generation_0(0)",              // more than 7²
          "execute_context_0(0_1)_generation_4(4)",               // of none
          "execute_context_1(888)_generation_0(0_0)",             // squares where nobody put them
          "execute_context_-1(888)_generation_0(0)",              //
          "execute_context_1(9999999999999999)_generation_0(0)",  // 16 digits
          "execute_context_2(1)_generation_0(0)",                 // fewer tokens than requests
          "execute_context_0(5)_generation_0(0)",                 // tokens of no request
          "execute_context_1(888_88)_generation_0(0)",            // squares smaller than their roots
          "execute_new_1",
          "execute_new_1_cached_2_resumed_3",
          "execute_5_context_1(sq4sk4sqsq16sqsk16)_generation_0(sq0sk0sqsq0sqsk0)",  // 5 ≠ 4 tokens, ≠ 1
                                                                                     // request
          "execute_4_context_1(sq4sk3sqsq16sqsk12)_generation_0(sq0sk0sqsq0sqsk0)",  // attends to less than q
          "execute_4_context_1(sq4sk4)_generation_0(sq0sk0)",
      },
      "annotations that look like a pass of vLLM, but whose numbers are not understood: taken as ops");
}

TEST_F(marks, sglang_of_april_2026_is_sure_of_decode_only) {
  expect({
      {"step[decode bs=16]", "phase decode | d.tokens 16 | d.sequences 16"},
      {"step[idle]", "phase idle"},
      // Verification and draft steps were called "prefill" and "mixed" too.
      {"step[prefill bs=2 toks=300]", "phase extend"},
      {"step[mixed bs=4 ext=300 dec=2]", "phase extend"},
  });
}

TEST_F(marks, sglang_from_may_2026_names_its_forward_mode) {
  expect({
      {"step[EXTEND bs=2 toks=14721]", "phase prefill | p.tokens 14721 | p.sequences 2"},
      {"step[DECODE bs=64]", "phase decode | d.tokens 64 | d.sequences 64"},
      {"step[MIXED bs=2]", "phase mixed"},  // how many of each is not said
      {"step[IDLE bs=0]", "phase idle"},
      {"step[TARGET_VERIFY bs=8]", "phase verify | d.sequences 8"},
      {"step[DRAFT_EXTEND bs=8]", "phase draft | d.sequences 8"},
      {"step[DRAFT_EXTEND_V2 bs=8]", "phase draft | d.sequences 8"},
      {"step[DRAFT_LOOP raw_bs=5 bs=8 topk=1]", "phase draft | d.sequences 5"},  // padded to 8
      {"step[SPLIT_PREFILL bs=1]", "phase prefill | p.sequences 1"},
      {"step[DLLM_EXTEND bs=3]", "phase extend"},
  });
}

TEST_F(marks, sglang_from_august_2026_gives_lengths_and_products_on_request) {
  expect({
      {"step[EXTEND bs=2 toks=14721 c_sq=14721 c_sqsq=108745533 c_sqsk=108745533 c_sk=14721]",
       "phase prefill | p.tokens 14721 | p.sequences 2 | p.context 14721 | p.q*k 108745533"},
      // An earlier variant has no c_sq.
      {"step[EXTEND bs=1 toks=1025 c_sqsq=1050625 c_sqsk=1050625 c_sk=1025]",
       "phase prefill | p.tokens 1025 | p.sequences 1 | p.context 1025 | p.q*k 1050625"},
      {"step[DECODE bs=64 g_sq=64 g_sqsq=64 g_sqsk=100032 g_sk=100032]",
       "phase decode | d.tokens 64 | d.sequences 64 | d.context 100032 | d.q*k 100032"},
      // Two tokens each: lengths may or may not count them.
      {"step[DECODE bs=64 g_sq=128 g_sqsq=256 g_sqsk=262144 g_sk=131072]",
       "phase decode | d.tokens 128 | d.sequences 64"},
      {"step[MIXED bs=2 c=1 g=1 c_sq=5 c_sk=8 c_sqsq=25 c_sqsk=40 g_sq=1 g_sk=12 g_sqsq=1 g_sqsk=12]",
       "phase mixed | p.tokens 5 | p.sequences 1 | p.context 8 | p.q*k 40 | d.tokens 1 | d.sequences 1 | "
       "d.context 12 | d.q*k 12"},
      {"step[TARGET_VERIFY bs=8 g_sq=32 g_sqsq=128 g_sqsk=32000 g_sk=8000]",
       "phase verify | d.tokens 32 | d.sequences 8"},
      {"step[TARGET_VERIFY bs=8 c_sq=32 c_sqsq=128 c_sqsk=32000 c_sk=8000]",  // patched by TraceLens
       "phase verify | d.tokens 32 | d.sequences 8"},
      {"step[DRAFT_EXTEND_V2 bs=8 c_sq=24 c_sqsq=72 c_sqsk=24000 c_sk=8000]",
       "phase draft | d.tokens 24 | d.sequences 8 | d.context 8000 | d.q*k 24000"},
  });
}

TEST_F(marks, passes_of_sglang_that_are_not_understood_stay_ops_and_are_counted) {
  expect_unknown(
      {"step[", "step[]", "step[DECODE", "step[DECODE]", "step[DECODE bs=x]", "step[DECODE bs]",
       "step[DECODE bs=-1]", "step[NEW_MODE bs=4]", "step[DRAFT_LOOP bs=8 topk=1]", "step[PREBUILT bs=2]"},
      "annotations that look like a pass of SGLang, but are not understood: taken as ops");
}

TEST_F(marks, atom_gives_its_batch_in_brackets) {
  expect({
      {"prefill[bs=2 tok=14721 ctx=[7803, 6918]]", "phase prefill | p.tokens 14721 | p.sequences 2"},
      {"prefill[bs=6 tok=17408 ctx=[4096, 4096, 4096]...+3]",
       "phase prefill | p.tokens 17408 | p.sequences 6"},
      {"prefill[bs=1 tok=1024 ctx=1024]", "phase prefill | p.tokens 1024 | p.sequences 1"},
      {"prefill[bs=2 tok=14721 ctx=[7803, 6918] sqsq=108745533 sqsk=108745533 sk=14721]",
       "phase prefill | p.tokens 14721 | p.sequences 2 | p.context 14721 | p.q*k 108745533"},
      {"decode[bs=64 tok=64 d=64]", "phase decode | d.tokens 64 | d.sequences 64"},
      {"decode[bs=117/128 tok=117 d=117]", "phase decode | d.tokens 117 | d.sequences 117"},  // padded to 128
      {"eager_decode[bs=2 tok=2 ctx=[9, 8] tbo=1]", "phase decode | d.tokens 2 | d.sequences 2"},
      {"decode[bs=4 tok=4 d=4 sqsq=4 sqsk=400 sk=400]",
       "phase decode | d.tokens 4 | d.sequences 4 | d.context 400 | d.q*k 400"},
      {"decode[bs=32 tok=128 d=32 spec=3 sqsq=512 sqsk=262144 sk=65536]",
       "phase decode | d.tokens 128 | d.sequences 32"},
      // All sums are over both sides.
      {"decode[bs=128 tok=384 p=2 d=126 sqsq=132612 sqsk=1114112 sk=258048 tbo=1]",
       "phase mixed | p.sequences 2 | d.sequences 126"},
      {"dummy_decode[bs=1 tok=1 d=1]", "phase warm-up"},
      {"dummy_eager_decode[bs=1]", "phase warm-up"},
      {"dummy_prefill[bs=1 tok=16384 ctx=16384]", "phase warm-up"},
      {"draft[1/3 bs=64]", "phase draft | d.sequences 64"},
      {"dspark[bs=64 T=5]", "phase draft | d.sequences 64"},
      {"dspark_sched[bs=64]", "op dspark_sched"},
      {"dspark_ctx_kv[bs=64 tok=320]", "op dspark_ctx_kv"},
  });
  expect_unknown({"prefill[0]", "decode[]", "decode[bs=x]", "decode[bs=1/]", "draft[1 bs=64]", "draft[1/3]",
                  "decode[bs=64 tok=[64]]"},
                 "annotations that look like a pass of ATOM, but are not understood: taken as ops");
}

TEST_F(marks, captures_carry_what_they_are_captured_for_as_their_index) {
  expect({
      {"capture_64_FULL", "phase capture #64"},
      {"capture_8_PIECEWISE", "phase capture #8"},
      {"capture_16_DECODE", "phase capture #16"},
      {"capture_256_mixed_prefill", "phase capture #256"},
      {"capture_graph_bs_32", "phase capture #32"},
      {"capture_3_frames", "op capture_3_frames"},
      {"capture_FULL", "op capture_FULL"},
      {"capture_graph_bs_x", "op capture_graph_bs_x"},
  });
}

TEST_F(marks, other_passes) {
  expect({
      {"ProfilerStep#7", "phase ProfilerStep #7"},
      {"execute_diffusion_1_1024x1024", "phase diffusion"},
      {"execute_model", "op execute_model"},
      {"gpu_model_runner: forward", "op gpu_model_runner: forward"},
      {"scheduler.run_batch", "op scheduler.run_batch"},
      {"prefill", "op prefill"},
      {"steps[1]", "op steps[1]"},
  });
}

TEST_F(marks, dictionaries_of_nvtx_hooks_are_layers) {
  expect({
      {"{'Module': 'Qwen2ForCausalLM', 'Inputs': [[16]]}", "layer Qwen2ForCausalLM"},
      {"{'Module': 'Qwen2ForCausalLM.model.layers.3', 'TrainableParams': {}, 'Inputs': [[16, 64]]}",
       "layer layers #3"},
      {"{'Module': 'Qwen2ForCausalLM.model.layers.3.self_attn', 'Inputs': [[16, 64]]}", "layer self_attn"},
      // The second range of a module, of no length, for what it gave back.
      {"{'Module': 'Qwen2ForCausalLM.model.layers.3', 'Outputs': [[16, 64]]}", "0 ranges"},
      {"{'Module': ''}", "op {'Module': ''}"},
      {"{'Module': 'cut", "op {'Module': 'cut"},
      {"{'Model': 'a'}", "op {'Model': 'a'}"},
  });
}

}  // namespace
