// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// How deep the table shows the tree of layers, and which of them.
#include <varve/report.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "formats/small_report.hpp"
#include "formats/table_lines.hpp"

namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing_support::lines_of;
using testing_support::names;
using testing_support::rows_only;

/// Layers of a report whose decode phase has `phase_us` µs of GPU time.
class layers {
 public:
  explicit layers(std::int64_t phase_us) : report_{testing_support::small_report()} {
    report_.layers.clear();
    report_.phases[0].total.gpu_time = phase_us * 1000;
  }

  std::uint32_t add(const char* label, std::int32_t index, std::int64_t us,
                    std::uint32_t parent = varve::none, varve::range_kind kind = varve::range_kind::layer) {
    const std::string name = index == varve::no_index ? label : label + (' ' + std::to_string(index));
    const std::string above = parent == varve::none ? "" : report_.layers[parent].path + " / ";
    report_.layers.push_back(testing_support::layer(above + name, label, index, parent, us, 1));
    report_.layers.back().kind = kind;
    return static_cast<std::uint32_t>(report_.layers.size() - 1);
  }

  /// `count` blocks of 3.2 ms, with numbers that count through: attention of 1.2 ms, made of qkv (0.8 ms) and
  /// out (0.4 ms), and mlp of 2 ms.
  void add_blocks(std::int32_t count, std::uint32_t parent) {
    for (std::int32_t i = 0; i < count; ++i) {
      const std::uint32_t block = add("block", i, 3200, parent);
      const std::uint32_t attention = add("attention", i, 1200, block);
      add("linear", 2 * i, 800, attention);
      add("linear", 2 * i + 1, 400, attention);
      add("mlp", i, 2000, block);
    }
  }

  [[nodiscard]] const varve::report& get() const { return report_; }
  varve::report& get() { return report_; }

 private:
  varve::report report_;
};

/// A model of 10 ms: an embedding of 0.4 ms and three blocks of 3.2 ms.
varve::report model() {
  layers all{10000};
  const std::uint32_t top = all.add("model", 0, 10000);
  all.add("embedding", 0, 400, top);
  all.add_blocks(3, top);
  return all.get();
}

varve::table_options deep(std::size_t depth) {
  varve::table_options options = rows_only();
  options.depth = depth;
  return options;
}

varve::table_options named(const std::string& expression) {
  varve::table_options options = rows_only();
  options.layers = expression;
  return options;
}

// Each attention has two linears below it: 3 · 2 = 6 rows at level 4.
TEST(table_depth, ends_at_the_parts_of_repeated_blocks) {
  EXPECT_THAT(
      names(model(), rows_only()),
      ElementsAre("model 0", "├─ block 0", "│  ├─ mlp 0", "│  └─ attention 0", "├─ block 1", "│  ├─ mlp 1",
                  "│  └─ attention 1", "├─ block 2", "│  ├─ mlp 2", "│  └─ attention 2", "└─ embedding 0",
                  "… 6 rows lie deeper and count for those above: --depth 4 shows them", "total"));
}

// 40 blocks of 3.2 ms are 128 ms: in each of them mlp has 2 ÷ 128 = 1.6 % and attention 1.2 ÷ 128 = 0.9 %,
// but all attention has 37.5 %. 1 + 40 · 3 rows, the line for 80 linears and the total.
TEST(table_depth, shows_parts_that_are_small_in_each_block_and_large_in_all) {
  layers all{128000};
  all.add_blocks(40, all.add("model", 0, 128000));
  const auto shown = names(all.get(), rows_only());
  EXPECT_EQ(shown.size(), 123U);
  EXPECT_THAT(shown, AllOf(testing::Contains("   ├─ mlp 39"), testing::Contains("   └─ attention 39")));
  EXPECT_THAT(shown, Not(testing::Contains(HasSubstr("rows under"))));

  // All levels: a linear has 0.8 ÷ 128 = 0.6 % or 0.3 %, all of them 37.5 %. With them there are 40 · 5 = 200
  // lines, which is not too many.
  EXPECT_EQ(names(all.get(), deep(0)).size(), 202U);
}

// 80 blocks are 256 ms and 80 · 3 = 240 lines, more than 200: ten keep their parts, 70 · 2 rows are counted.
TEST(table_depth, leaves_ten_blocks_of_a_deep_model_their_parts) {
  layers all{256000};
  all.add_blocks(80, all.add("model", 0, 256000));
  all.get().layers[1 + 5 * 77].inclusive.gpu_time += 1000;  // block 77 is the slowest by 1 µs
  const auto shown = names(all.get(), rows_only());
  ASSERT_EQ(shown.size(), 104U);  // 1 + 10 · 3 + 70 rows, two lines and the total
  EXPECT_THAT(std::vector(shown.begin(), shown.begin() + 5),
              ElementsAre("model 0", "├─ block 77", "│  ├─ mlp 77", "│  └─ attention 77", "├─ block 0"));
  EXPECT_THAT(std::vector(shown.begin() + 29, shown.begin() + 33),  // 77, 0 to 8 and then 9 without parts
              ElementsAre("│  ├─ mlp 8", "│  └─ attention 8", "├─ block 9", "├─ block 10"));
  EXPECT_EQ(shown[101], "… 140 rows of the other 70 blocks (in the rows above): --fold 0 shows all");

  varve::table_options options = rows_only();
  options.fold_below = 0;
  EXPECT_EQ(names(all.get(), options).size(), 243U);  // 1 + 80 · 3 rows, a line and the total
}

// Three norms of 0.02 ms have 0.06 ÷ 9.6 = 0.6 %, which the blocks above them hold; two ops of 0.03 ms beside
// these have 0.6 %, which nothing holds: 1.2 % in all.
TEST(table_depth, says_whether_what_is_folded_is_in_the_rows_above) {
  layers all{9660};
  for (std::int32_t i = 0; i < 3; ++i) {
    const std::uint32_t block = all.add("block", i, 3200);
    all.add("mlp", i, 3180, block);
    all.add("norm", i, 20, block);
  }
  EXPECT_THAT(names(all.get(), rows_only()),
              testing::Contains("… 3 rows under 1 %: 0.6 % (in the rows above)"));
  all.add("embedding", varve::no_index, 30);
  all.add("sampling", varve::no_index, 30);
  EXPECT_THAT(names(all.get(), rows_only()),
              testing::Contains("… 5 rows under 1 %: 1.2 %, of which 0.6 % in the rows above"));
}

TEST(table_depth, is_what_the_user_says) {
  EXPECT_THAT(
      names(model(), deep(1)),
      ElementsAre(
          "model 0",
          "… 16 rows lie deeper and count for those above: --depth 2 shows a level more, --depth 0 all",
          "total"));
  EXPECT_THAT(
      names(model(), deep(2)),
      ElementsAre(
          "model 0", "├─ block 0", "├─ block 1", "├─ block 2", "└─ embedding 0",
          "… 12 rows lie deeper and count for those above: --depth 3 shows a level more, --depth 0 all",
          "total"));
  for (const std::size_t all : {0U, 4U, 100000U}) {
    const auto shown = names(model(), deep(all));
    EXPECT_EQ(shown.size(), 18U) << all;  // 1 + 1 + 3 · 5 rows and the total
    EXPECT_THAT(shown, testing::Contains("│     ├─ linear 0")) << all;
  }
}

TEST(table_depth, counts_a_single_row_as_one) {
  layers all{1000};
  all.add("part", varve::no_index, 900, all.add("model", 0, 1000));
  EXPECT_THAT(varve::to_table(all.get(), deep(1)),
              HasSubstr("… 1 row lies deeper and counts for those above: --dep"));
}

TEST(table_depth, leaves_numbers_of_the_rows_above_as_they_are) {
  const auto line_of = [](const varve::table_options& options) {
    return lines_of(varve::to_table(model(), options)).at(3);
  };
  // The same row, in a table with narrower names.
  EXPECT_THAT(line_of(deep(1)), AllOf(HasSubstr("model 0"), HasSubstr("10.0 ms  100.0")));
  EXPECT_THAT(line_of(deep(0)), AllOf(HasSubstr("model 0"), HasSubstr("10.0 ms  100.0")));
}

TEST(table_depth, ends_nowhere_without_repeated_blocks) {
  const auto shows_all = [](const layers& l) {
    return names(l.get(), rows_only()).size() == l.get().layers.size() + 1;  // and a total
  };
  layers two{6400};
  two.add_blocks(2, two.add("model", 0, 6400));
  EXPECT_TRUE(shows_all(two));

  layers little{20000};  // 9.6 ms of 20 ms
  const std::uint32_t top = little.add("model", 0, 20000);
  little.add("other", 0, 10400, top);
  little.add_blocks(3, top);
  EXPECT_TRUE(shows_all(little));

  layers unnumbered{9600};
  for (const char* name : {"first", "second", "third"}) {
    const std::uint32_t block = unnumbered.add(name, varve::no_index, 3200);
    unnumbered.add("linear", 0, 3000, unnumbered.add("attention", varve::no_index, 3100, block));
  }
  EXPECT_TRUE(shows_all(unnumbered));
}

// Each pass has 9.6 of 19.2 ms, which is no more than half.
TEST(table_depth, finds_blocks_that_several_ranges_have) {
  layers all{19200};
  all.add_blocks(3, all.add("prefill part", varve::no_index, 9600, varve::none, varve::range_kind::op));
  all.add_blocks(3, all.add("decode part", varve::no_index, 9600, varve::none, varve::range_kind::op));
  const auto shown = names(all.get(), rows_only());
  EXPECT_THAT(shown,
              testing::Contains("… 12 rows lie deeper and count for those above: --depth 4 shows them"));
  EXPECT_EQ(shown.size(), 22U);  // 2 · (1 + 3 · 3) rows, the counted line and the total
}

// Three blocks of 3.2 ms in each of two graphs, which two calls of each row replayed: 19.2 ms and 1.6 ms a
// call.
TEST(table_depth, counts_blocks_once_whatever_the_number_of_graphs) {
  using varve::range_kind;
  layers all{19200};
  const auto graph = [&](const char* name) {
    return all.add(name, varve::no_index, 9600, varve::none, range_kind::op);
  };
  all.add_blocks(3, graph("graph 1 (39 nodes)"));
  all.add_blocks(3, graph("graph 2 (39 nodes)"));
  EXPECT_THAT(
      varve::to_table(all.get()),
      HasSubstr("\n  blocks   3 × block of 1.60 ms in each of 2 graphs, 100.0 % · in them mlp 62.5 % · "));

  layers uneven{22400};  // 3 · 3.2 + 4 · 3.2
  uneven.add_blocks(3, uneven.add("first", varve::no_index, 9600));
  uneven.add_blocks(4, uneven.add("second", varve::no_index, 12800));
  EXPECT_THAT(varve::to_table(uneven.get()),
              HasSubstr("\n  blocks   up to 4 × block of 1.60 ms in each of 2 places, 100.0 % · "));
}

TEST(table_depth, finds_blocks_of_several_kinds) {
  layers all{6000};
  for (int i = 0; i < 3; ++i) {  // mamba 2.4 ms and attention 3 ms: neither kind is more than half
    all.add("linear", 2 * i, 700, all.add("scan", i, 750, all.add("mamba", i, 800)));
    all.add("linear", 2 * i + 1, 900, all.add("kernel", i, 950, all.add("attention", i, 1000)));
  }
  all.add("head", 0, 600);
  EXPECT_THAT(names(all.get(), rows_only()),
              testing::Contains("… 6 rows lie deeper and count for those above: --depth 3 shows them"));
}

TEST(table_depth, takes_layers_for_blocks_before_numbered_ops) {
  layers all{28800};
  for (int i = 0; i < 3; ++i) {
    all.add_blocks(3, all.add("iteration", i, 9600, varve::none, varve::range_kind::op));
  }
  const auto shown = names(all.get(), rows_only());
  EXPECT_THAT(shown, testing::Contains("│  └─ attention 0"));
  EXPECT_THAT(shown,
              testing::Contains("… 18 rows lie deeper and count for those above: --depth 4 shows them"));

  layers ops{6000};  // where there are no others, ops will do
  for (int i = 0; i < 3; ++i) {
    const auto op = varve::range_kind::op;
    ops.add("c", 0, 1700, ops.add("b", 0, 1800, ops.add("a", i, 2000, varve::none, op), op), op);
  }
  EXPECT_THAT(names(ops.get(), rows_only()),
              testing::Contains("… 3 rows lie deeper and count for those above: --depth 3 shows them"));
}

// 3 · 3.2 = 9.6 of 10 ms; of these mlp has 6 and attention 3.6: 62.5 % and 37.5 %. Rows have two calls: 1.6
// ms.
TEST(table_depth, says_what_the_blocks_are_made_of) {
  EXPECT_THAT(
      varve::to_table(model()),
      HasSubstr("\n  blocks   3 × block of 1.60 ms, 96.0 % · in them mlp 62.5 % · attention 37.5 %\n"));
  EXPECT_THAT(varve::to_table(testing_support::small_report()),
              Not(HasSubstr("\n  blocks")));  // two are none
}

// All time is of three kernels of one name: places in the graph, each 10 of 30 ms.
TEST(table_depth, places_in_a_graph_are_no_blocks) {
  using varve::range_kind;
  layers all{30000};
  const std::uint32_t top = all.add("graph 1 (3 nodes)", varve::no_index, 30000, varve::none, range_kind::op);
  for (std::int32_t i = 0; i < 3; ++i) {
    all.add("gemm_qkv", i, 10000, top, range_kind::op);
  }
  EXPECT_THAT(varve::to_table(all.get()), Not(HasSubstr("3 × gemm_qkv")));
  // Neither those in an inferred layer.
  all = layers{30000};
  const std::uint32_t graph =
      all.add("graph 12 (9 nodes)", varve::no_index, 30000, varve::none, range_kind::op);
  const std::uint32_t layer = all.add("inferred layer", 0, 30000, graph);
  for (std::int32_t i = 0; i < 3; ++i) {
    all.add("gemm_qkv", i, 10000, layer, range_kind::op);
  }
  EXPECT_THAT(varve::to_table(all.get()), Not(HasSubstr("3 × gemm_qkv")));
  // Numbered ops below anything else may be.
  all = layers{30000};
  const std::uint32_t other =
      all.add("graph 1 (3 parts)", varve::no_index, 30000, varve::none, range_kind::op);
  for (std::int32_t i = 0; i < 3; ++i) {
    all.add("gemm_qkv", i, 10000, other, range_kind::op);
  }
  EXPECT_THAT(varve::to_table(all.get()), HasSubstr("3 × gemm_qkv"));
}

TEST(table_depth, is_no_limit_to_what_the_filter_finds) {
  varve::table_options options = rows_only();
  options.filter = "linear";
  EXPECT_EQ(names(model(), options).size(), 7U);  // six, and the total
}

TEST(table_depth, matters_to_no_other_view) {
  layers all{10000};
  all.get().labels = model().layers;
  varve::table_options options = deep(1);
  options.by = varve::view::label;
  EXPECT_EQ(names(all.get(), options).size(), 18U);
}

TEST(table_layers, are_found_by_their_own_names) {
  EXPECT_THAT(names(model(), named("^(block|mlp)$")),
              ElementsAre("model 0 / block 0", "└─ mlp 0", "model 0 / block 1", "└─ mlp 1",
                          "model 0 / block 2", "└─ mlp 2", "total"));
  EXPECT_THAT(names(model(), named("n 2$")), ElementsAre("block 2 / attention 2", "total"));
  for (const char* none : {"block 0 / mlp", "Block"}) {  // a path is no name, and capitals matter
    EXPECT_THAT(varve::to_table(model(), named(none)), HasSubstr("(no layer has such a name)")) << none;
  }
}

TEST(table_layers, tell_where_they_stand_by_the_nearest_row_left_out) {
  EXPECT_THAT(names(model(), named("linear [01]$")),
              ElementsAre("attention 0 / linear 0", "attention 0 / linear 1", "total"));
}

TEST(table_layers, are_shown_however_small_and_deep) {
  varve::report r = model();
  for (varve::row& row : r.layers) {
    row.inclusive.gpu_time /= row.label == "linear" ? 1000 : 1;
  }
  EXPECT_EQ(names(r, named("linear")).size(), 7U);
  varve::table_options options = named("block|linear");
  options.depth = 1;  // of the rows that there are
  EXPECT_THAT(names(model(), options),
              ElementsAre("model 0 / block 0", "model 0 / block 1", "model 0 / block 2",
                          "… 6 rows lie deeper and count for those above: --depth 2 shows them", "total"));
}

TEST(table_layers, are_found_among_labels_too_and_not_among_kernels) {
  layers all{10000};
  all.get().labels = {
      testing_support::layer("mlp", "mlp", varve::no_index, varve::none, 6000, 1),
      testing_support::layer("attention", "attention", varve::no_index, varve::none, 3600, 1)};
  all.get().kernels = {testing_support::layer("gemm", "", varve::no_index, varve::none, 9600, 1)};
  varve::table_options options = named("m.p");
  options.by = varve::view::label;
  EXPECT_THAT(names(all.get(), options), ElementsAre("mlp", "total"));
  options.by = varve::view::kernel;
  EXPECT_THAT(names(all.get(), options), ElementsAre("gemm", "total"));
}

std::string refusal(const std::string& expression) {
  try {
    return varve::to_table(model(), named(expression)).empty() ? "empty" : "none";
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
}

TEST(table_layers, need_an_expression_that_is_one) {
  for (const char* wrong : {"[", "(", "*a", "\\", "x{2,1}", "[b-a]"}) {
    EXPECT_THAT(refusal(wrong),
                testing::StartsWith('"' + std::string{wrong} + "\" is no expression to find layers by: "));
  }
  EXPECT_EQ(refusal(std::string(512, 'a')), "none");
  EXPECT_THAT(refusal(std::string(513, 'a')), testing::EndsWith("it is longer than 512 bytes"));
  EXPECT_EQ(refusal("(a{4}b{4}){2}"), "none");  // 4 · 4 · 2 = 32
  EXPECT_THAT(refusal("(a{4}b{4}){3}"), testing::EndsWith("it repeats a part more than 32 times"));
  EXPECT_THAT(refusal("a{1,33}"), testing::EndsWith("it repeats a part more than 32 times"));
  EXPECT_THAT(refusal("a{99999999999999999999}"), testing::EndsWith("it repeats a part more than 32 times"));
}

// The time and the stack that these take must not grow with what a trace has for names.
TEST(table_layers, cannot_be_made_to_search_for_ever) {
  varve::report r = model();
  r.layers[0].label = std::string(100000, 'a');
  std::string nested = ".";
  for (int i = 0; i < 32; ++i) {
    nested = '(' + nested + "*)";
  }
  for (const std::string& expression : {nested, nested + 'b', std::string{"(a*)*(a*)*(a|aa)*b$"}}) {
    EXPECT_NE(varve::to_table(r, named(expression)), "") << expression;
  }
}

TEST(table_layers, are_found_in_the_first_512_bytes_of_a_name) {
  varve::report r = model();
  r.layers[0].label = std::string(511, 'a') + "bc";
  EXPECT_THAT(varve::to_table(r, named("^a+b")), Not(HasSubstr("no layer has")));
  EXPECT_THAT(varve::to_table(r, named("^a+bc")), HasSubstr("no layer has"));
}

// Where nothing was called twice, a call's average, median and longest are its time.
TEST(table_columns, of_calls_are_there_where_something_was_called_again) {
  varve::report r = model();
  const auto head = [&] { return lines_of(varve::to_table(r, rows_only())).at(1); };
  EXPECT_THAT(head(), AllOf(HasSubstr("  avg"), HasSubstr("  med"), HasSubstr("  max")));
  for (varve::row& row : r.layers) {
    row.inclusive.calls = 1;
    row.per_call = testing_support::times(1, 1000, 1000, 1000, 1000);
  }
  EXPECT_THAT(head(), AllOf(Not(HasSubstr("avg")), Not(HasSubstr("med")), Not(HasSubstr("max"))));
  r.layers[16].inclusive.calls = 2;
  EXPECT_THAT(head(), HasSubstr("  avg"));
}

// A report that is read from a file can have any tree.
TEST(table_depth, needs_no_stack_for_a_deep_tree) {
  layers all{1000};
  std::uint32_t parent = varve::none;
  for (int i = 0; i < 20000; ++i) {
    all.get().layers.push_back(testing_support::layer("x", "x", i, parent, 1000, 1));
    parent = static_cast<std::uint32_t>(i);
  }
  EXPECT_EQ(names(all.get(), deep(2)).size(), 4U);
  all.get().layers[5].parent = 7;  // not above it
  all.get().layers[6].parent = 6;
  EXPECT_EQ(names(all.get(), deep(1)).size(), 5U);  // three roots
}

}  // namespace
