// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The whole model: against double, decode against prefill, graphs against eager launches.
#include "cpu_backend.hpp"
#include "one_sequence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <tuple>

namespace {

using decoder::engine_limits;
using decoder::generator;
using decoder::launch_mode;
using decoder::model_config;
using decoder::token_list;
using reference::one_sequence;
using reference::prompts;
using reference::shapes;
using reference::sizes;

class model : public testing::TestWithParam<std::size_t> {
 protected:
  const model_config& config_ = shapes[GetParam()];
  std::unique_ptr<decoder::backend> device_ = decoder::make_cpu_backend();
};

// Logits are of magnitude 1. A thousand roundings of float are 6e-5; a wrong position, head or residual
// changes logits in the first decimal.
constexpr double tolerance = 6e-5;

TEST_P(model, gives_the_logits_of_double) {
  one_sequence sequence{*device_, config_};
  const token_list tokens = prompts(config_, {9}, 3).front();
  const std::vector<float> logits = sequence.forward(tokens, 0);
  const reference::row expected = sequence.exact(tokens);
  ASSERT_EQ(logits.size(), expected.size());
  for (std::size_t i = 0; i < logits.size(); ++i) {
    EXPECT_NEAR(logits[i], expected[i], tolerance);
  }
}

TEST_P(model, decodes_over_its_cache_as_it_prefills) {
  const token_list tokens = prompts(config_, {12}, 4).front();
  one_sequence stepwise{*device_, config_};
  std::vector<float> decoded = stepwise.forward({tokens.begin(), tokens.begin() + 8}, 0);
  for (std::int32_t i = 8; i < 12; ++i) {
    decoded = stepwise.forward({tokens[static_cast<std::size_t>(i)]}, i);
  }
  one_sequence at_once{*device_, config_};
  const std::vector<float> prefilled = at_once.forward(tokens, 0);
  ASSERT_EQ(decoded.size(), prefilled.size());
  for (std::size_t i = 0; i < decoded.size(); ++i) {
    EXPECT_NEAR(decoded[i], prefilled[i], tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(shapes, model, testing::Range(std::size_t{0}, std::size_t{3}));

class modes : public testing::TestWithParam<std::tuple<std::size_t, std::uint64_t>> {};

TEST_P(modes, give_the_same_tokens) {
  const model_config& c = shapes[std::get<0>(GetParam())];
  const std::uint64_t seed = std::get<1>(GetParam());
  const auto device = decoder::make_cpu_backend();
  const engine_limits limits{3, 64, 64};
  generator eager{*device, c, limits, launch_mode::eager, seed};
  generator replayed{*device, c, limits, launch_mode::graphs, seed};
  replayed.warm_up();  // leaves no trace in what follows
  const auto lists = prompts(c, {5, 20, 11}, seed);
  const auto tokens = eager.generate(lists, 30);
  EXPECT_EQ(tokens, replayed.generate(lists, 30));
  ASSERT_EQ(tokens.size(), 3U);
  for (const token_list& list : tokens) {
    EXPECT_EQ(list.size(), 30U);
  }
  // The first decode pass has a context of 21, the 29th and last one of 49: steps of 32 and 64.
  EXPECT_EQ(replayed.captures(), 2);
  EXPECT_EQ(eager.captures(), 0);
}

INSTANTIATE_TEST_SUITE_P(shapes_and_seeds, modes,
                         testing::Combine(testing::Range(std::size_t{0}, std::size_t{3}),
                                          testing::Values(1U, 2U)));

TEST(generator, begins_anew_with_other_prompts_and_another_batch) {
  const auto device = decoder::make_cpu_backend();
  const engine_limits limits{3, 32, 48};
  generator used{*device, shapes[1], limits, launch_mode::graphs, 5};
  const auto three = prompts(shapes[1], {4, 9, 2}, 1);
  const auto one = prompts(shapes[1], {6}, 2);
  const auto first = used.generate(three, 12);
  const auto alone = used.generate(one, 12);  // one row: other kernels, so the graph is made anew
  EXPECT_EQ(used.generate(three, 12), first);
  generator fresh{*device, shapes[1], limits, launch_mode::eager, 5};
  EXPECT_EQ(fresh.generate(one, 12), alone);
}

TEST(generator, makes_what_the_logits_say) {
  const token_list prompt = prompts(shapes[0], {7}, 6).front();
  const auto device = decoder::make_cpu_backend();
  generator engine{*device, shapes[0], {1, 16, 16}, launch_mode::eager, 7};  // one_sequence's seed
  token_list tokens = prompt;
  const token_list generated = engine.generate({prompt}, 4).front();
  one_sequence sequence{*device, shapes[0]};
  for (const std::int32_t token : generated) {
    const reference::row logits = sequence.exact(tokens);
    EXPECT_EQ(token, std::max_element(logits.begin(), logits.end()) - logits.begin());
    tokens.push_back(token);
  }
}

TEST(generator, refuses_what_its_limits_do_not_hold) {
  const auto device = decoder::make_cpu_backend();
  generator engine{*device, shapes[0], {2, 8, 10}, launch_mode::eager, 1};
  EXPECT_THROW(engine.generate({}, 1), std::invalid_argument);
  EXPECT_THROW(engine.generate({{}}, 1), std::invalid_argument);
  EXPECT_THROW(engine.generate({{1}}, 0), std::invalid_argument);
  EXPECT_THROW(engine.generate({{1}, {1}, {1}}, 1), std::invalid_argument);     // 3 sequences of 2
  EXPECT_THROW(engine.generate({token_list(9, 1)}, 1), std::invalid_argument);  // 9 rows of 8
  EXPECT_THROW(engine.generate({token_list(8, 1)}, 3), std::invalid_argument);  // 11 tokens of 10
  EXPECT_EQ(engine.generate({token_list(8, 1)}, 2).front().size(), 2U);
}

TEST(generator, surfaces_what_fails_in_a_kernel) {
  const auto device = decoder::make_cpu_backend();
  generator engine{*device, shapes[0], {1, 8, 10}, launch_mode::graphs, 1};
  EXPECT_THROW(engine.generate({{61}}, 2), std::out_of_range);  // tokens are 0 to 60
}

TEST(model_config, refuses_sizes_that_do_not_fit_together) {
  EXPECT_THROW(sizes(0, 24, 4, 4, 37, 61).check(), std::invalid_argument);
  EXPECT_THROW(sizes(1, 26, 4, 4, 37, 61).check(), std::invalid_argument);  // heads of 6.5
  EXPECT_THROW(sizes(1, 24, 4, 3, 37, 61).check(), std::invalid_argument);
  EXPECT_THROW(sizes(1, 12, 4, 4, 37, 61).check(), std::invalid_argument);  // heads of 3: odd
  sizes(1, 24, 4, 4, 37, 61).check();
}

}  // namespace
