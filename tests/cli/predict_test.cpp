// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/device.hpp>
#include <varve/io.hpp>
#include <varve/model.hpp>
#include <varve/report.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/process.hpp"
#include "formats/small_report.hpp"

namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing_support::folder;
using testing_support::outcome;
using testing_support::run;

/// Two layers of width 512.
constexpr const char* config = R"({"model_type": "llama", "hidden_size": 512, "intermediate_size": 1024,
  "num_hidden_layers": 2, "num_attention_heads": 8, "num_key_value_heads": 4, "vocab_size": 1000,
  "tie_word_embeddings": false, "torch_dtype": "float16"})";

class predict : public testing::Test {
 protected:
  folder files;
  std::string model = files.write("config.json", config);
};

TEST_F(predict, prints_the_table_of_a_pass_that_nothing_ran) {
  const outcome o = run({"predict", "--model", model, "--device", "h200", "--context", "1024"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err, "");
  // A layer has 512 · 512 · 2 of q and o, 512 · 256 · 2 of k and v, 3 · 512 · 1024 of its block and 2 · 512
  // of norms: 2,360,320. Two of them, 2 · 512,000 of tables and 512: 5,745,152. Two bytes each. A token has 2
  // · 2 layers · 256 · 2 = 2048 bytes of keys and values: 2,097,152 for 1024.
  EXPECT_THAT(o.out, AllOf(HasSubstr("0.01 billion parameters, weights 11.5 MB, KV cache 2.1 MB for 1 "
                                     "sequence of 1024 tokens\n"),
                           HasSubstr("decode · 1 pass"), HasSubstr("each operator at its roof"),
                           HasSubstr("layer 1"), HasSubstr("memory")));
}

// A token takes 2 of 8 experts; 512 tokens all but surely take all. Even routers miss one with odds of 8 ·
// 0.75^512 = 8.5e-64. With a tenth of even odds they miss one with 8 · 0.975^512 = 1.9e-5, which is above one
// in a million, and two with 28 · 0.975^1024 = 1.5e-10: 7 are the fewest. With nothing known of the router it
// is the 2 of one token.
TEST_F(predict, takes_routers_to_be_as_even_as_it_is_told) {
  const std::string mixture = files.write("mixtral.json", R"({"model_type": "mixtral", "hidden_size": 4096,
    "intermediate_size": 14336, "num_hidden_layers": 2, "num_attention_heads": 32, "num_key_value_heads": 8,
    "num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 32000, "torch_dtype": "bfloat16"})");
  const auto of = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"predict", "--model",  mixture, "--device",
                                   "h200",    "--tokens", "512",   "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const outcome o = run(words);
    EXPECT_EQ(o.code, 0) << o.err;
    const varve::report r = varve::read_report(files.write("report.json", o.out));
    return r.find({.label = "layer", .index = 1})->inclusive.declared;
  };
  // An expert has 3 · 4096 · 14336 weights of two bytes: 352,321,536 bytes.
  constexpr std::int64_t expert = 352'321'536;
  EXPECT_EQ(of({"--rarest-expert", "100"}).bytes_below, 0);
  EXPECT_EQ(of({}).bytes_below, expert);
  EXPECT_EQ(of({"--rarest-expert", "0"}).bytes_below, 6 * expert);
  EXPECT_EQ(run({"predict", "--model", mixture, "--device", "h200", "--rarest-expert", "101"}).code, 2);
}

// 100,000,000 tokens of 2048 bytes: 204.8 GB.
TEST_F(predict, takes_contexts_of_a_hundred_million_keys) {
  const auto of = [&](const char* context) {
    return run({"predict", "--model", model, "--device", "h200", "--context", context});
  };
  EXPECT_THAT(of("10000000").out, HasSubstr("KV cache 20.5 GB for 1 sequence of 10000000 tokens"));
  EXPECT_THAT(of("100000000").out, HasSubstr("KV cache 204.8 GB for 1 sequence of 100000000 tokens"));
  EXPECT_THAT(of("1").out, HasSubstr("KV cache 2.05 kB for 1 sequence of 1 tokens"));
  EXPECT_THAT(of("488281").out, HasSubstr("KV cache 1.0 GB"));  // 999,999,488 bytes
  EXPECT_EQ(of("100000001").code, 2);
  EXPECT_THAT(of("0").err, HasSubstr("no number from 1 to 100000000"));
}

// 11,490,304 bytes of weights and 2048 for each of 70,000,000 tokens: 143.4 GB of 141 GiB, which are 151.4
// GB. For 80,000,000 tokens it is 163.9 GB.
TEST_F(predict, says_that_a_model_does_not_fit) {
  const auto of = [&](const std::string& device, const char* context) {
    return run({"predict", "--model", model, "--device", device, "--context", context}).out;
  };
  EXPECT_THAT(of("h200", "70000000"), AllOf(HasSubstr("143.4 GB"), Not(HasSubstr("fit"))));
  EXPECT_THAT(of("h200", "80000000"), HasSubstr("; 163.9 GB do not fit the 141 GiB of H200"));
  const std::string own =
      files.write("own.json", R"({"name": "abacus", "flops": {"fp16_tensor": 1e12}, "bandwidth": 1e12})");
  EXPECT_THAT(of(own, "80000000"), AllOf(HasSubstr("163.8 GB"), Not(HasSubstr("fit"))));
}

TEST_F(predict, says_that_a_table_of_positions_ends_before_the_context) {
  const std::string gpt2 = files.write("gpt2.json", R"({"model_type": "gpt2", "n_embd": 64, "n_head": 4,
    "n_layer": 2, "n_positions": 1024, "vocab_size": 100})");
  const auto of = [&](const std::string& of_model, const char* context) {
    return run({"predict", "--model", of_model, "--device", "h200", "--context", context}).out;
  };
  EXPECT_THAT(of(gpt2, "1025"),
              HasSubstr(" for 1 sequence of 1025 tokens; the model cannot run them: its table "
                        "of positions has 1024 rows\n"));
  EXPECT_THAT(of(gpt2, "1024"), Not(HasSubstr("cannot")));
  EXPECT_THAT(of(model, "100000"), Not(HasSubstr("cannot")));  // it has none
}

// One token at 10,000 keys, in bytes, of which each takes as long. Linear: of a layer 1024 · 512 · 2 of q, k
// and v, 512 · 512 · 2 of o, 3 · 512 · 1024 · 2 of its block: 4,718,592; activations with new keys and values
// 1024 · 3, 1024 · 2, 1024 + 2 · 2048, 2048 + 1024: 13,312. Two of them and the head's 1,024,000 + 1024 +
// 2000: 10,490,832. Attention: 2 · (10,000 · 1024 + 2048) = 20,484,096. Norms 5 · 3 · 1024, activation 2 · (2
// · 3 · 1024 + 3 · 2048), embedding 2 · 1024: 41,984. Of all 31,016,912, which take 6.46 µs of 4.8 TB/s, that
// is 33.8 % and 66.0 %. Kernels last whole nanoseconds: 2.187 µs for the 2.1856 of linear are 99.9 % of roof.
TEST_F(predict, shares_a_pass_out_among_operators_and_categories) {
  const auto by = [&](const char* view) {
    return run({"predict", "--model", model, "--device", "h200", "--context", "10000", "--by", view}).out;
  };
  EXPECT_THAT(by("category"),
              AllOf(ContainsRegex("\nattention +2 +4.27 µs +66.0 "),
                    ContainsRegex("\nlinear +9 +2.19 µs +33.8 [^\n]* memory +99.9\n"), Not(HasSubstr("≥"))));
  // Of the block's two products into it 2 · (2,097,152 + 1024 + 4096): 13.6 %.
  const std::string operators = by("operator");
  EXPECT_THAT(operators,
              AllOf(HasSubstr("\noperator "), ContainsRegex("\nattn_score \\+ attn_value +2 [^\n]* 66.0 "),
                    ContainsRegex("\ngate_proj \\+ up_proj +2 [^\n]* 13.6 [^\n]* 4,80[0-9] [^\n]* memory +"),
                    Not(HasSubstr("\nkernel "))));
  EXPECT_EQ(by("kernel"), operators);
}

// As a report of its own, and as a trace for a viewer of timelines.
TEST_F(predict, tells_operators_wherever_it_is_read) {
  const std::vector<std::string> words{"predict", "--model", model, "--device", "h200", "--context", "10000"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return run(more).out;
  };
  static_cast<void>(with({"--json", "--output", files.path("p.json")}));
  const std::string table = with({"--by", "operator"});
  EXPECT_EQ(run({"report", files.path("p.json"), "--by", "operator"}).out,
            table.substr(table.find("\n\n") + 2));

  const varve::ceilings h200 = *varve::find_ceilings({0, "NVIDIA H200"});
  varve::analyze_options options;
  options.ceilings = h200;
  const varve::trace t = roof_trace(varve::read_model(model), {{1, 10000, true}}, h200);
  write_chrome_trace(t, files.path("timeline.json"));
  const varve::report first = analyze(t, options);
  const varve::report again = analyze(varve::read_pytorch(files.path("timeline.json")), options);
  ASSERT_EQ(first.kernels.size(), 13U);
  ASSERT_EQ(again.kernels.size(), 13U);
  for (std::size_t i = 0; i < first.kernels.size(); ++i) {
    EXPECT_EQ(again.kernels[i].path, first.kernels[i].path);
    EXPECT_EQ(again.kernels[i].inclusive.declared, first.kernels[i].inclusive.declared);
    EXPECT_EQ(again.kernels[i].inclusive.calls_with_work, first.kernels[i].inclusive.calls);
  }
}

TEST_F(predict, names_what_runs_and_calls_nothing_recorded) {
  const outcome o = run(
      {"predict", "--model", model, "--device", "h200", "--tokens", "64", "--by", "category", "--fold", "0"});
  EXPECT_THAT(o.out,
              AllOf(HasSubstr("each operator at its roof · "), Not(HasSubstr("recorded")),
                    HasSubstr("\nlinear "), HasSubstr("\nattention "), HasSubstr("\nnormalisation "),
                    HasSubstr("\nembedding "), HasSubstr("\nactivation "), Not(HasSubstr("\nother "))));
  EXPECT_EQ(
      run({"predict", "--model", model, "--device", "h200", "--json", "--output", files.path("p.json")}).code,
      0);
  const outcome again = run({"report", files.path("p.json")});
  EXPECT_THAT(again.out, AllOf(HasSubstr("each operator at its roof · "), Not(HasSubstr("recorded"))));
}

TEST_F(predict, tells_of_one_of_several_ranks) {
  const outcome o =
      run({"predict", "--model", model, "--device", "h200", "--context", "1024", "--tensor-parallel", "4"});
  EXPECT_EQ(o.code, 0) << o.err;
  // A layer has 512 · 512 · 2 ÷ 4 of q and o, 512 · 64 · 2 of k and v, 3 · 512 · 1024 ÷ 4 of its block and
  // 2 · 512 of norms: 590,848. Two of them, 2 · 512 · 250 of tables and 512: 1,438,208. Two bytes each. One
  // of 4 key-value heads: a quarter of 2,097,152.
  EXPECT_THAT(o.out, AllOf(HasSubstr("llama, one of 4 ranks: 0.00 billion parameters, weights 2.88 MB, KV "
                                     "cache 524 kB"),
                           HasSubstr("llama, one of 4 ranks, on H200")));
  const outcome wrong = run({"predict", "--model", model, "--device", "h200", "--tensor-parallel", "3"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--tensor-parallel: 3 ranks do not divide the 8 attention heads"));
}

TEST_F(predict, says_which_pipe_stands_in_for_another_or_refuses) {
  const outcome old = run({"predict", "--model", model, "--device", "p40", "--tokens", "64"});
  EXPECT_EQ(old.code, 0) << old.err;
  EXPECT_THAT(old.out, HasSubstr("FP16 tensor counts as FP32"));
  const std::string blind =
      files.write("blind.json", R"({"name": "abacus", "flops": {"fp16_tensor": 1e12}})");
  const outcome refused = run({"predict", "--model", model, "--device", blind});
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, HasSubstr("--device: abacus: the bandwidth of its memory is not known"));
}

TEST_F(predict, says_how_quantised_weights_are_multiplied) {
  const auto with = [&](const std::string& how, const char* device = "h200") {
    std::string quantised = config;
    quantised.insert(quantised.rfind('}'), R"(, "quantization_config": {)" + how + "}");
    return run({"predict", "--model", files.write("quantised.json", quantised), "--device", device}).out;
  };
  const std::string four = with(R"("quant_method": "gptq", "bits": 4)");
  EXPECT_THAT(four, AllOf(HasSubstr("(gptq, multiplied as FP16)"),
                          HasSubstr("weights in INT4 are widened and count on FP16 tensor")));
  EXPECT_THAT(with(R"("quant_method": "fp8")"),
              AllOf(HasSubstr("(fp8, multiplied as FP8)"), Not(HasSubstr("widened"))));
  // An A100 multiplies no FP8.
  EXPECT_THAT(with(R"("quant_method": "fp8")", "a100-sxm4-80gb"),
              AllOf(HasSubstr("(fp8, for FP8 tensor, which A100 SXM4 80GB has no rate for)"),
                    Not(HasSubstr("multiplied as")), HasSubstr("FP8 tensor counts as FP16 tensor")));
}

// 10^6 sequences of 10^6 tokens: of each layer 8 heads · 4 · 64 FLOPs for 10^6 · 5 · 10^11 pairs are 10^21.
TEST_F(predict, refuses_what_63_bits_do_not_count_by_the_largest_option) {
  const outcome o = run({"predict", "--model", model, "--device", "h200", "--tokens", "1000000",
                         "--sequences", "100000", "--context", "2000000"});
  EXPECT_EQ(o.code, 2);
  EXPECT_EQ(o.out, "");
  EXPECT_THAT(o.err, HasSubstr("varve: --context 2000000: the FLOPs, bytes or nanoseconds of the pass are"));
}

// One token and one sequence read 9.4 MB and multiply 9.4 MFLOPs; at half the clock that is no news, but of
// 4096 tokens compute decides. H200: 1830 of 1980 MHz as the H100.
TEST_F(predict, scales_ceilings_to_a_clock) {
  const auto predicted = [&](std::vector<std::string> more) {
    const std::string file = files.path("clock.json");
    std::vector<std::string> words{"predict",  "--model", model,    "--device", "h200",
                                   "--tokens", "4096",    "--json", "--output", file};
    words.insert(words.end(), more.begin(), more.end());
    const outcome o = run(words);
    EXPECT_EQ(o.code, 0) << o.err;
    return varve::read_report(file);
  };
  const varve::report usual = predicted({});
  const varve::report half = predicted({"--clock", "915MHz"});
  EXPECT_NEAR(half.phases[0].total.roof.compute, 2 * usual.phases[0].total.roof.compute,
              1e-6 * usual.phases[0].total.roof.compute);
  EXPECT_DOUBLE_EQ(half.phases[0].total.roof.memory, usual.phases[0].total.roof.memory);
  EXPECT_NEAR(half.phases[0].verdict.roof_share, 1, 1e-4);
  EXPECT_THAT(run({"predict", "--model", model, "--device", "h200", "--clock", "915"}).out,
              HasSubstr("scaled to the clock given, 915 MHz"));
  for (const char* wrong :
       {"0", "-1", "1.98", "99", "5001", "1e300", "fast", "1980GHz", "", "nan", "1980 MHz x"}) {
    const outcome o = run({"predict", "--model", model, "--device", "h200", "--clock", wrong});
    EXPECT_EQ(o.code, 2) << wrong;
    EXPECT_THAT(o.err, HasSubstr("--clock")) << wrong;
  }
}

TEST_F(predict, gives_json_that_is_read_back) {
  const outcome o = run({"predict", "--model", model, "--device", "h200", "--tokens", "64", "--sequences",
                         "2", "--json", "--output", files.path("out.json")});
  EXPECT_EQ(o.code, 0) << o.err;
  const varve::report r = varve::read_report(files.path("out.json"));
  ASSERT_EQ(r.phases.size(), 1U);
  EXPECT_EQ(r.phases[0].phase, "prefill");
  EXPECT_EQ(r.phases[0].prefill_tokens, 2 * 64);
}

TEST_F(predict, says_what_is_wrong) {
  EXPECT_EQ(run({"predict", "--device", "h200"}).code, 2);
  const outcome none = run({"predict", "--model", files.path("nowhere.json"), "--device", "h200"});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, HasSubstr("nowhere.json"));
  const outcome device = run({"predict", "--model", model, "--device", "abacus"});
  EXPECT_EQ(device.code, 2);
  EXPECT_THAT(device.err, HasSubstr("abacus"));
  const outcome context =
      run({"predict", "--model", model, "--device", "h200", "--tokens", "8", "--context", "4"});
  EXPECT_EQ(context.code, 2);
  EXPECT_THAT(context.err, HasSubstr("--context"));
  EXPECT_EQ(run({"predict", "--model", model, "--device", "h200", "--tokens", "0"}).code, 2);
}

}  // namespace
