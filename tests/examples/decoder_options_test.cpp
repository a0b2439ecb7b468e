// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace {

decoder::options parse(std::vector<const char*> flags) {
  flags.insert(flags.begin(), "decoder");
  return decoder::parse_options(static_cast<int>(flags.size()), flags.data());
}

std::string refusal(const std::vector<const char*>& flags) {
  try {
    parse(flags);
  } catch (const std::invalid_argument& wrong) {
    return wrong.what();
  }
  return "accepted";
}

TEST(decoder_options, take_sizes_on_top_of_a_preset) {
  const decoder::options o = parse({"--preset", "tiny", "--layers", "5", "--tokens", "7"});
  EXPECT_EQ(o.model.layers, 5);
  EXPECT_EQ(o.model.hidden, 64);
  EXPECT_EQ(o.tokens, 7);
}

TEST(decoder_options, run_both_modes_unless_one_is_named) {
  const auto modes = [](const std::vector<const char*>& flags) {
    const decoder::options o = parse(flags);
    return std::pair{o.eager, o.graphs};
  };
  EXPECT_EQ(modes({}), std::pair(true, true));
  EXPECT_EQ(modes({"--eager"}), std::pair(true, false));
  EXPECT_EQ(modes({"--graph"}), std::pair(false, true));
  EXPECT_EQ(modes({"--graph", "--eager"}), std::pair(true, true));
}

TEST(decoder_options, take_half_precision_on_a_gpu_unless_told) {
  EXPECT_FALSE(parse({}).cuda);
  EXPECT_EQ(parse({}).type, varve::dtype::f32);
  EXPECT_TRUE(parse({"--backend", "cuda"}).cuda);
  EXPECT_EQ(parse({"--backend", "cuda"}).type, varve::dtype::f16);
  EXPECT_EQ(parse({"--dtype", "bf16", "--backend", "cuda"}).type, varve::dtype::bf16);
  EXPECT_EQ(parse({"--dtype", "f32", "--backend", "cuda"}).type, varve::dtype::f32);
  EXPECT_EQ(parse({"--dtype", "f32", "--backend", "cpu"}).type, varve::dtype::f32);
}

// Llama 3.2 1B: heads of 64, the embedding and as large a head; 1.5 · 10⁹ weights.
TEST(decoder_options, know_the_sizes_of_models) {
  const decoder::model_config llama = parse({"--preset", "llama-1b"}).model;
  EXPECT_EQ(llama.head_size(), 64);
  EXPECT_EQ(llama.kv_width(), 512);
  // A layer: 2048 · (2048 + 2 · 512 + 2048 + 3 · 8192) = 60817408; 16 of them, and twice 128256 · 2048.
  EXPECT_EQ(llama.layers * llama.hidden * (2 * llama.hidden + 2 * llama.kv_width() + 3 * llama.ffn) +
                2 * llama.vocab * llama.hidden,
            1498415104);
  for (const char* name : {"tiny", "small", "125m", "opt-125m", "llama-7b", "llama-8b"}) {
    EXPECT_NO_THROW(parse({"--preset", name})) << name;
  }
  EXPECT_EQ(parse({"--preset", "small"}).model.ffn, decoder::model_config{}.ffn);
}

TEST(decoder_options, repeat_and_count_when_told) {
  EXPECT_EQ(parse({}).repeat, 1);
  EXPECT_FALSE(parse({}).counters);
  const decoder::options o = parse({"--repeat", "7", "--counters"});
  EXPECT_EQ(o.repeat, 7);
  EXPECT_TRUE(o.counters);
}

TEST(decoder_options, name_what_is_wrong) {
  using testing::HasSubstr;
  EXPECT_THAT(refusal({"--frob"}), HasSubstr("--frob"));
  EXPECT_THAT(refusal({"--layers"}), HasSubstr("--layers needs a value"));
  EXPECT_THAT(refusal({"--layers", "3x"}), HasSubstr("'3x'"));
  EXPECT_THAT(refusal({"--layers", "0"}), HasSubstr("--layers"));
  EXPECT_THAT(refusal({"--tokens", "1000001"}), HasSubstr("--tokens"));
  EXPECT_THAT(refusal({"--tokens", "99999999999999999999"}), HasSubstr("--tokens"));
  EXPECT_THAT(refusal({"--preset", "huge"}), HasSubstr("'huge'"));
  EXPECT_THAT(refusal({"--heads", "7"}), HasSubstr("heads"));
  EXPECT_THAT(refusal({"--json", "x"}), HasSubstr("--eager"));
  EXPECT_THAT(refusal({"--trace", "x"}), HasSubstr("--eager"));
  EXPECT_THAT(refusal({"--backend", "gpu"}), HasSubstr("'gpu'"));
  EXPECT_THAT(refusal({"--backend", "cuda", "--dtype", "fp8"}), HasSubstr("'fp8'"));
  EXPECT_THAT(refusal({"--dtype", "f16"}), HasSubstr("--backend cuda"));
  EXPECT_THAT(refusal({"--repeat", "0"}), HasSubstr("--repeat"));
  EXPECT_THAT(refusal({"--overhead", "2", "--counters"}), HasSubstr("--counters"));
  EXPECT_THAT(refusal({"--overhead", "2", "--repeat", "2"}), HasSubstr("--repeat"));
}

}  // namespace
