// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// CUDA graphs from capture to replay, through sessions over the stand-in libcupti: each replayed kernel has
// the label path that was open when its node was captured, and the pass that was open at the launch.
#include "cuda/standin_session.hpp"
#include "support/ranges.hpp"

#include <initializer_list>
#include <optional>
#include <string_view>

namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using varve_test::cupti_in;
using varve_test::labels_of;
using varve_test::on_standin;
using varve_test::range_of;
using varve_test::stale_of;

/// A kernel in each of these layers, in the open pass.
void launch_layers(standin::stream s, std::initializer_list<const char*> layers) {
  std::int32_t index = 0;
  for (const char* name : layers) {
    const varve::label made{name, index++};
    const varve::layer layer{made};
    standin::launch(s, name);
  }
}

standin::graph capture(standin::stream s, std::initializer_list<const char*> layers) {
  const varve::phase pass{varve::capture};
  standin::begin_capture(s);
  launch_layers(s, layers);
  return standin::end_capture(s);
}

standin::done replay(standin::stream s, standin::executable e) {
  const varve::phase pass{varve::decode};
  return standin::launch(s, e);
}

/// As a test of each thing that libraries and programs do differently.
struct setting {
  const char* name;
  bool armed;  // long before the session, where everything is captured; else in the session
  standin::exec_clone_graph exec_clone;
  standin::nested_correlation correlation;
};

class graphs : public varve_test::over_standin, public testing::WithParamInterface<setting> {
 protected:
  graphs() {
    standin::config c = varve_test::standin_config();
    c.exec_clone = GetParam().exec_clone;
    c.correlation = GetParam().correlation;
    standin::reset(c);
    stream = standin::create_stream();
    if (GetParam().armed) {
      varve::arm();
    } else {
      session.emplace(on_standin());
    }
  }
  /// What is before it was captured long ago, where a server is armed.
  void record() {
    if (GetParam().armed) {
      session.emplace(on_standin());
    }
    ASSERT_EQ(cupti_in(session->status()).state, varve::collector_state::running);
  }
  standin::stream stream;
  std::optional<varve::session> session;
};

INSTANTIATE_TEST_SUITE_P(
    of, graphs,
    testing::Values(
        setting{"own", false, standin::exec_clone_graph::own, standin::nested_correlation::shared},
        setting{"source_armed", true, standin::exec_clone_graph::source, standin::nested_correlation::outer},
        setting{"null", false, standin::exec_clone_graph::null, standin::nested_correlation::inner},
        setting{"null_armed", true, standin::exec_clone_graph::null, standin::nested_correlation::inner}),
    [](const auto& of) { return std::string{of.param.name}; });

TEST_P(graphs, give_replayed_kernels_the_layers_of_their_capture_and_the_pass_of_their_launch) {
  const standin::graph g = capture(stream, {"attention", "mlp"});
  const standin::executable e = standin::instantiate(g);
  record();
  const standin::done first = replay(stream, e);
  const standin::done second = replay(stream, e);
  const varve::trace t = session->stop();
  for (const standin::done& launch : {first, second}) {
    EXPECT_THAT(labels_of(t, launch), ElementsAre("capture / attention 0", "capture / mlp 1"));
    EXPECT_EQ(range_of(t, launch.outer_correlation), "decode");
  }
  const varve::report report = varve::analyze(t);
  for (const varve::row_query& of :
       {varve::row_query{"attention", 0, VARVE_DECODE}, {"mlp", 1, VARVE_DECODE}}) {
    const varve::row* const row = report.find(of);
    ASSERT_NE(row, nullptr) << of.label;
    EXPECT_EQ(row->inclusive.calls, 2);  // two replays of one kernel of 1000 ns each
    EXPECT_EQ(row->inclusive.kernels, 2);
    EXPECT_EQ(row->inclusive.kernel_time, 2000);
  }
  EXPECT_EQ(report.quality.unlabelled_nodes, 0);
  EXPECT_EQ(report.quality.attributed, 1.0);
}

TEST_P(graphs, follow_nodes_that_were_added_one_by_one) {
  const standin::graph g = standin::create_graph();
  {
    const varve::phase pass{varve::capture};
    {
      const varve::layer layer{"attention", 0};
      standin::add_kernel(g, "gemm");
      standin::add_empty(g);
    }
    const varve::layer layer{"mlp", 0};
    standin::add_kernel(g, "gemm");
  }
  const standin::executable e = standin::instantiate(g);
  record();
  const standin::done launch = replay(stream, e);
  EXPECT_THAT(labels_of(session->stop(), launch), ElementsAre("capture / attention 0", "capture / mlp 0"));
}

TEST_P(graphs, follow_clones_child_graphs_and_bodies_of_conditional_nodes) {
  const standin::graph inner = capture(stream, {"norm"});
  const standin::graph outer = standin::create_graph();
  {
    const varve::phase pass{varve::capture};
    {
      const varve::layer layer{"attention", 0};
      standin::add_kernel(outer, "gemm");
    }
    standin::add_child(outer, inner);
    const standin::graph body = standin::add_conditional(outer, 2);
    standin::begin_capture_to(stream, body);
    launch_layers(stream, {"experts"});
    standin::end_capture(stream);
  }
  const standin::graph copy = standin::clone(outer);
  const standin::executable e = standin::instantiate(copy);
  standin::destroy(inner);
  standin::destroy(outer);
  standin::destroy(copy);
  record();
  const standin::done launch = replay(stream, e);
  const varve::trace t = session->stop();
  EXPECT_THAT(labels_of(t, launch), ElementsAre("capture / attention 0", "capture / norm 0",
                                                "capture / experts 0", "capture / experts 0"));
  EXPECT_EQ(varve::analyze(t).quality.unlabelled_nodes, 0);
}

TEST_P(graphs, keep_the_labels_of_executables_when_the_graphs_behind_them_go) {
  const standin::graph g = capture(stream, {"attention"});
  const standin::executable first = standin::instantiate(g);
  const standin::executable second = standin::instantiate(g);
  standin::destroy(g);
  const standin::graph other = capture(stream, {"mlp", "norm"});  // with recycled handles
  const standin::executable third = standin::instantiate(other);
  record();
  const standin::done a = replay(stream, first);
  const standin::done b = replay(stream, third);
  const standin::done c = replay(stream, second);
  standin::destroy(first);
  const standin::done d = replay(stream, second);
  const varve::trace t = session->stop();
  EXPECT_THAT(labels_of(t, a), ElementsAre("capture / attention 0"));
  EXPECT_THAT(labels_of(t, b), ElementsAre("capture / mlp 0", "capture / norm 1"));
  EXPECT_THAT(labels_of(t, c), ElementsAre("capture / attention 0"));
  EXPECT_THAT(labels_of(t, d), ElementsAre("capture / attention 0"));
}

TEST_P(graphs, give_the_next_replay_the_labels_of_an_update_and_leave_those_of_before) {
  const standin::graph first = capture(stream, {"attention", "mlp"});
  const standin::executable e = standin::instantiate(first);
  record();
  const standin::done before = replay(stream, e);
  // As ggml does it: the graph goes, and the pass is captured anew.
  standin::destroy(first);
  const standin::graph second = capture(stream, {"sliding", "experts"});
  ASSERT_EQ(standin::update(e, second), 0);
  const standin::done after = replay(stream, e);
  standin::destroy(second);
  const standin::graph third = capture(stream, {"attention", "mlp"});
  ASSERT_EQ(standin::update(e, third), 0);
  const standin::done last = replay(stream, e);
  const varve::trace t = session->stop();
  EXPECT_THAT(labels_of(t, before), ElementsAre("capture / attention 0", "capture / mlp 1"));
  EXPECT_THAT(labels_of(t, after), ElementsAre("capture / sliding 0", "capture / experts 1"));
  EXPECT_THAT(labels_of(t, last), ElementsAre("capture / attention 0", "capture / mlp 1"));
  const varve::report report = varve::analyze(t);
  EXPECT_EQ(report.quality.stale_nodes, 0);
  EXPECT_EQ(report.quality.graph_launches_short, 0);  // the same executable, however often it is updated
  EXPECT_EQ(report.find({"attention", 0, VARVE_DECODE})->inclusive.calls, 2);
  EXPECT_EQ(report.find({"sliding", 0, VARVE_DECODE})->inclusive.calls, 1);
  EXPECT_THAT(cupti_in(t).detail, HasSubstr("graph updates 2 (0 not matched)"));
}

TEST_P(graphs, count_as_stale_what_an_update_cannot_be_shown_to_match) {
  // A child graph's nodes are of two graphs: their order says nothing.
  const auto build = [&](const char* name) {
    const standin::graph inner = capture(stream, {"norm"});
    const varve::phase pass{varve::capture};
    const standin::graph outer = standin::create_graph();
    const varve::label made{name, 0};
    const varve::layer layer{made};
    standin::add_kernel(outer, "gemm");
    standin::add_child(outer, inner);
    return outer;
  };
  const standin::executable e = standin::instantiate(build("attention"));
  record();
  const standin::done before = replay(stream, e);
  ASSERT_EQ(standin::update(e, build("mlp")), 0);
  const standin::done after = replay(stream, e);
  const varve::trace t = session->stop();
  EXPECT_EQ(stale_of(t, before), 0U);
  EXPECT_EQ(stale_of(t, after), 2U);
  EXPECT_THAT(labels_of(t, after), ElementsAre("capture / attention 0", "capture / norm 0"));
  EXPECT_EQ(varve::analyze(t).quality.stale_nodes, 2);
  EXPECT_THAT(cupti_in(t).detail, HasSubstr("graph updates 1 (1 not matched)"));
}

TEST_P(graphs, take_nothing_from_an_executable_whose_update_fails) {
  const standin::executable e = standin::instantiate(capture(stream, {"attention", "mlp"}));
  record();
  const standin::graph longer = capture(stream, {"a", "b", "c"});
  EXPECT_EQ(standin::update(e, longer), 910);
  const standin::done launch = replay(stream, e);
  const varve::trace t = session->stop();
  EXPECT_THAT(labels_of(t, launch), ElementsAre("capture / attention 0", "capture / mlp 1"));
  EXPECT_EQ(stale_of(t, launch), 0U);
}

TEST_P(graphs, keep_labels_when_parameters_of_nodes_change) {
  const standin::graph g = standin::create_graph();
  standin::cupti::graph_node_handle node = nullptr;
  {
    const varve::phase pass{varve::capture};
    const varve::layer layer{"attention", 0};
    node = standin::add_kernel(g, "gemm");
  }
  const standin::executable e = standin::instantiate(g);
  record();
  standin::set_kernel(e, node, "faster");
  const standin::done of_executable = replay(stream, e);
  standin::set_kernel(g, node, "fastest");
  const standin::executable again = standin::instantiate(g);
  const standin::done of_graph = replay(stream, again);
  const varve::trace t = session->stop();
  const auto name = [&](const standin::done& d) {
    return std::string{t.strings[t.activities.name[varve_test::work_of(t, d).at(0)]]};
  };
  EXPECT_EQ(name(of_executable), "faster");
  EXPECT_EQ(name(of_graph), "fastest");
  EXPECT_THAT(labels_of(t, of_executable), ElementsAre("capture / attention 0"));
  EXPECT_THAT(labels_of(t, of_graph), ElementsAre("capture / attention 0"));
}

TEST_P(graphs, tell_a_clone_after_an_instantiation_that_failed_from_one_inside_it) {
  const standin::graph gone = capture(stream, {"attention"});
  const standin::graph kept = capture(stream, {"attention"});
  standin::destroy(gone);
  standin::call fails;
  fails.result = 2;  // out of memory
  standin::instantiate(kept, fails);
  const standin::graph copy = standin::clone(kept);
  const standin::executable e = standin::instantiate(copy);
  record();
  const standin::graph other = capture(stream, {"mlp"});
  ASSERT_EQ(standin::update(e, other), 0);
  const standin::done launch = replay(stream, e);
  const varve::trace t = session->stop();
  EXPECT_THAT(labels_of(t, launch), ElementsAre("capture / mlp 0"));
  EXPECT_EQ(stale_of(t, launch), 0U);
}

TEST_P(graphs, that_interleave_keep_their_layers_apart) {
  const standin::stream other = standin::create_stream();
  standin::graph a;
  standin::graph b;
  {
    // Two captures under way at once, on two streams.
    const varve::phase pass{varve::capture};
    standin::begin_capture(stream);
    standin::begin_capture(other);
    {
      const varve::layer layer{"draft", 0};
      standin::launch(stream, "gemm");
    }
    {
      const varve::layer layer{"target", 0};
      standin::launch(other, "gemm");
      standin::copy(other, standin::cupti::copy_direction::device_to_device, 64);
      standin::memset(other, 0, 64);
    }
    a = standin::end_capture(stream);
    b = standin::end_capture(other);
  }
  const standin::executable ea = standin::instantiate(a);
  const standin::executable eb = standin::instantiate(b);
  record();
  std::vector<standin::done> of_a;
  std::vector<standin::done> of_b;
  for (int i = 0; i < 3; ++i) {
    of_a.push_back(replay(stream, ea));
    of_b.push_back(replay(other, eb));
  }
  const varve::trace t = session->stop();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_THAT(labels_of(t, of_a[i]), ElementsAre("capture / draft 0"));
    EXPECT_THAT(labels_of(t, of_b[i]), testing::AllOf(SizeIs(3), Each("capture / target 0")));
  }
}

TEST_P(graphs, attribute_hundreds_of_nodes_of_a_launch) {
  constexpr int layers = 300;
  standin::graph g;
  {
    const varve::phase pass{varve::capture};
    standin::begin_capture(stream);
    for (int i = 0; i < layers; ++i) {
      const varve::layer layer{"attention", i};
      standin::launch(stream, "gemm");
      standin::launch(stream, "softmax");
    }
    g = standin::end_capture(stream);
  }
  const standin::executable e = standin::instantiate(g);
  record();
  standin::change([](standin::config& c) { c.records_per_buffer = 50; });  // split over buffers
  const standin::done launch = replay(stream, e);
  const varve::trace t = session->stop();
  const std::vector<std::string> labels = labels_of(t, launch);
  ASSERT_THAT(labels, SizeIs(2 * layers));
  for (std::size_t i = 0; i < layers; ++i) {
    EXPECT_EQ(labels[2 * i], "capture / attention " + std::to_string(i));
    EXPECT_EQ(labels[2 * i + 1], labels[2 * i]);
  }
}

class graphs_in_a_session : public varve_test::over_standin {
 protected:
  graphs_in_a_session() {
    standin::reset(varve_test::standin_config());
    stream = standin::create_stream();
  }
  standin::stream stream;
};

TEST_F(graphs_in_a_session, mark_calls_that_only_captured) {
  varve::session session{on_standin()};
  standin::begin_capture(stream);
  std::vector<standin::done> captured{
      standin::launch(stream, "gemm"),
      standin::copy(stream, standin::cupti::copy_direction::host_to_device, 64),
      standin::memset(stream, 0, 64), standin::host_function(stream)};
  const standin::graph g = standin::end_capture(stream);
  const standin::done live = standin::launch(stream, "gemm");
  standin::add_kernel(g, "gemm");
  const standin::done replayed = standin::launch(stream, standin::instantiate(g));
  const varve::trace t = session.stop();
  const auto row = [&](const standin::done& d) {
    const auto& all = t.calls.correlation;
    return static_cast<std::size_t>(std::find(all.begin(), all.end(), d.outer_correlation) - all.begin());
  };
  for (const standin::done& d : captured) {
    EXPECT_TRUE(d.captured);
    EXPECT_EQ(t.calls.captured.at(row(d)), 1);
  }
  EXPECT_EQ(t.calls.captured.at(row(live)), 0);
  EXPECT_EQ(t.calls.captured.at(row(replayed)), 0);
  EXPECT_EQ(std::count(t.calls.captured.begin(), t.calls.captured.end(), 1), 4);  // building says nothing
  EXPECT_EQ(t.calls.kind.at(row(replayed)), varve::call_kind::graph_launch);
  EXPECT_EQ(std::count(t.calls.kind.begin(), t.calls.kind.end(), varve::call_kind::graph_launch), 1);
}

TEST_F(graphs_in_a_session, older_than_arming_belong_to_the_pass_that_launched_them_and_are_counted) {
  const standin::executable e = standin::instantiate(capture(stream, {"attention", "mlp"}));
  varve::arm();
  varve::session session{on_standin()};
  standin::done launch;
  {
    const varve::phase pass{varve::decode};
    const varve::layer layer{"graph", 0};
    launch = standin::launch(stream, e);
  }
  const standin::graph labelled = capture(stream, {"attention", "mlp"});
  ASSERT_EQ(standin::update(e, labelled), 0);  // of what it was before nothing is known
  const standin::done updated = replay(stream, e);
  const varve::trace t = session.stop();
  EXPECT_THAT(labels_of(t, launch), ElementsAre("", ""));
  EXPECT_EQ(range_of(t, launch.outer_correlation), "decode / graph 0");
  EXPECT_THAT(labels_of(t, updated), ElementsAre("", ""));
  const varve::report report = varve::analyze(t);
  EXPECT_EQ(report.quality.unlabelled_nodes, 4);
  EXPECT_EQ(report.find({"graph", 0, VARVE_DECODE})->inclusive.kernels, 2);
}

TEST_F(graphs_in_a_session, captured_in_it_and_not_armed_are_unlabelled_in_the_next) {
  varve::session first{on_standin()};
  const standin::executable e = standin::instantiate(capture(stream, {"attention"}));
  static_cast<void>(first.stop());
  varve::session second{on_standin()};
  const standin::done launch = replay(stream, e);
  const varve::trace t = second.stop();
  EXPECT_THAT(labels_of(t, launch), ElementsAre(""));
  EXPECT_EQ(varve::analyze(t).quality.unlabelled_nodes, 1);
}

TEST_F(graphs_in_a_session, captured_in_it_and_armed_are_labelled_in_the_next) {
  varve::arm();
  varve::session first{on_standin()};
  const standin::executable e = standin::instantiate(capture(stream, {"attention"}));
  static_cast<void>(first.stop());
  varve::session second{on_standin()};
  const standin::done launch = replay(stream, e);
  EXPECT_THAT(labels_of(second.stop(), launch), ElementsAre("capture / attention 0"));
}

TEST_F(graphs_in_a_session, armed_in_the_middle_keep_their_labels_for_the_next) {
  varve::session first{on_standin()};
  const standin::executable e = standin::instantiate(capture(stream, {"attention"}));
  varve::arm();
  static_cast<void>(first.stop());
  varve::session second{on_standin()};
  const standin::done launch = replay(stream, e);
  EXPECT_THAT(labels_of(second.stop(), launch), ElementsAre("capture / attention 0"));
}

TEST_F(graphs_in_a_session, count_the_work_declared_at_capture_once_a_replay) {
  varve::session session{on_standin()};
  standin::graph g;
  {
    const varve::phase pass{varve::capture};
    standin::begin_capture(stream);
    {
      varve::layer layer{"attention", 0};
      layer.work([] { return varve::work{100, 0, 0, 0}; });
      standin::launch(stream, "gemm");
      standin::launch(stream, "softmax");
    }
    g = standin::end_capture(stream);
  }
  const standin::executable first = standin::instantiate(g);
  const standin::executable second = standin::instantiate(g);
  const standin::executable third = standin::instantiate(standin::clone(g));
  // Two, one and one replays, each of 100 operations.
  for (const standin::executable& e : {first, second, first, third}) {
    replay(stream, e);
  }
  // Captured anew with 7: one more replay of the first, with that.
  standin::graph anew;
  {
    const varve::phase pass{varve::capture};
    standin::begin_capture(stream);
    {
      varve::layer layer{"attention", 0};
      layer.work([] { return varve::work{7, 0, 0, 0}; });
      standin::launch(stream, "gemm");
      standin::launch(stream, "softmax");
    }
    anew = standin::end_capture(stream);
  }
  ASSERT_EQ(standin::update(first, anew), 0);
  replay(stream, first);
  const varve::report report = varve::analyze(session.stop());
  const varve::row* const row = report.find({"attention", 0, VARVE_DECODE});
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->inclusive.calls, 5);
  EXPECT_EQ(row->inclusive.calls_with_work, 5);
  EXPECT_EQ(row->inclusive.declared.flops, 4 * 100 + 7);
}

// The same path twice in a graph, each of two operators on pipes of their own, each with a kernel.
TEST_F(graphs_in_a_session, add_up_the_roofs_of_operators_on_several_pipes) {
  using varve::math_pipe;
  varve::session session{on_standin()};
  standin::graph g;
  {
    const varve::phase pass{varve::capture};
    standin::begin_capture(stream);
    for (int i = 0; i < 2; ++i) {
      varve::layer layer{"attention", 0};
      layer.work([] { return varve::work{4000, 0, 0, 0, math_pipe::int8_tensor}; });
      layer.work([] { return varve::work{6000, 0, 0, 0, math_pipe::bf16_tensor}; });
      standin::launch(stream, "gemm");
      standin::launch(stream, "softmax");
    }
    g = standin::end_capture(stream);
  }
  const standin::executable e = standin::instantiate(g);
  replay(stream, e);
  replay(stream, e);
  varve::analyze_options options;
  options.ceilings.emplace();
  options.ceilings->bandwidth = 1e12;
  options.ceilings->flops[static_cast<std::size_t>(math_pipe::int8_tensor)] = 2e12;
  options.ceilings->flops[static_cast<std::size_t>(math_pipe::bf16_tensor)] = 1e12;
  const varve::report report = varve::analyze(session.stop(), options);
  const varve::row* const row = report.find({"attention", 0, VARVE_DECODE});
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->inclusive.calls, 2);
  EXPECT_EQ(row->inclusive.calls_with_work, 2);
  EXPECT_EQ(row->inclusive.declared.flops, 2 * 2 * (4000 + 6000));
  // 4000 ÷ 2 a ns and 6000 ÷ 1 a ns, twice a replay.
  EXPECT_DOUBLE_EQ(row->inclusive.roof.compute, 2 * 2 * (2.0 + 6.0));
  EXPECT_EQ(row->inclusive.roof.unrated_flops, 0);
}

TEST_F(graphs_in_a_session, destroyed_before_their_records_come_keep_their_labels) {
  standin::change([](standin::config& c) { c.order = standin::record_order::at_flush; });
  varve::session session{on_standin()};
  const standin::executable e = standin::instantiate(capture(stream, {"attention"}));
  const standin::done launch = replay(stream, e);
  standin::destroy(e);
  EXPECT_THAT(labels_of(session.stop(), launch), ElementsAre("capture / attention 0"));
}

TEST_F(graphs_in_a_session, updated_before_their_records_come_keep_the_labels_of_the_launch) {
  standin::change([](standin::config& c) { c.order = standin::record_order::at_flush; });
  standin::set_next_correlation(0xFFFFFFF0U);  // and ids wrap meanwhile
  varve::session session{on_standin()};
  const standin::executable e = standin::instantiate(capture(stream, {"attention"}));
  std::vector<standin::done> launches{replay(stream, e)};
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_EQ(standin::update(e, capture(stream, {name})), 0);
    launches.push_back(replay(stream, e));
  }
  const varve::trace t = session.stop();
  EXPECT_THAT(labels_of(t, launches[0]), ElementsAre("capture / attention 0"));
  EXPECT_THAT(labels_of(t, launches[1]), ElementsAre("capture / a 0"));
  EXPECT_THAT(labels_of(t, launches[2]), ElementsAre("capture / b 0"));
  EXPECT_THAT(labels_of(t, launches[3]), ElementsAre("capture / c 0"));
}

TEST_F(graphs_in_a_session, as_whole_make_one_record_a_launch_and_say_that_their_layers_are_unknown) {
  varve::session_options options = on_standin();
  options.gpu.whole_graphs = true;
  varve::session session{options};
  const standin::executable e = standin::instantiate(capture(stream, {"attention", "mlp"}));
  const standin::done first = replay(stream, e);
  const standin::done second = replay(stream, e);
  const varve::trace t = session.stop();
  for (const standin::done& launch : {first, second}) {
    const auto rows = varve_test::work_of(t, launch);
    ASSERT_THAT(rows, SizeIs(1));
    EXPECT_EQ(t.activities.kind[rows[0]], varve::activity_kind::graph);
    EXPECT_EQ(t.activities.end[rows[0]] - t.activities.begin[rows[0]], 2000);  // two kernels of 1000 ns
  }
  const varve::report report = varve::analyze(t);
  EXPECT_EQ(report.quality.attributed, 0.0);
  EXPECT_EQ(report.find({"attention", 0, VARVE_DECODE}), nullptr);
  EXPECT_THAT(cupti_in(t).detail, HasSubstr("whole graphs 2"));
  EXPECT_THAT(cupti_in(t).detail, HasSubstr("layers inside of graphs are not recorded"));
}

TEST_F(graphs_in_a_session, as_whole_can_be_asked_for_by_one_session_while_devices_are_armed) {
  using standin::cupti::record_kind;
  varve::arm_devices();
  const auto traces_graphs = [] {
    const auto on = standin::enabled_kinds();
    return std::count(on.begin(), on.end(), record_kind::graph_trace) == 1;
  };
  varve::session_options options = on_standin();
  options.gpu.whole_graphs = true;
  varve::session whole{options};
  EXPECT_TRUE(traces_graphs());
  const standin::done one = replay(stream, standin::instantiate(capture(stream, {"attention", "mlp"})));
  const varve::trace t = whole.stop();
  EXPECT_THAT(varve_test::work_of(t, one), SizeIs(1));
  EXPECT_FALSE(traces_graphs());
  varve::session session{on_standin()};
  EXPECT_FALSE(traces_graphs());
  const standin::done two = replay(stream, standin::instantiate(capture(stream, {"attention", "mlp"})));
  EXPECT_THAT(varve_test::work_of(session.stop(), two), SizeIs(2));
}

/// What is said to be alive, in a status.
std::string alive(const varve::session& session) {
  const std::string detail = cupti_in(session.status()).detail;
  const std::size_t from = detail.find('(', detail.find("graph nodes"));
  return detail.substr(from + 1, detail.find(')', from) - from - 1);
}

void make_and_destroy(standin::stream s) {
  const standin::graph inner = capture(s, {"norm"});
  const standin::graph g = capture(s, {"attention", "mlp"});
  {
    const varve::phase pass{varve::capture};
    standin::add_child(g, inner);
    const standin::graph body = standin::add_conditional(g);
    const varve::layer layer{"experts"};
    standin::add_kernel(body, "gemm");
  }
  const standin::executable e = standin::instantiate(g);
  ASSERT_EQ(standin::update(e, g), 0);
  standin::destroy(e);
  standin::destroy(g);
  standin::destroy(inner);
}

TEST_F(graphs_in_a_session, that_come_and_go_by_the_thousand_leave_nothing) {
  varve::arm();
  for (int i = 0; i < 500; ++i) {
    make_and_destroy(stream);
  }
  const standin::graph kept = capture(stream, {"attention", "mlp"});
  const standin::executable e = standin::instantiate(kept);
  // Two nodes, and their clones.
  constexpr const char* four = "4 in graphs and executables that are alive, labels of 4 kept";
  varve::session session{on_standin()};
  EXPECT_EQ(alive(session), four);
  for (int i = 0; i < 2000; ++i) {
    make_and_destroy(stream);
  }
  EXPECT_THAT(alive(session), testing::StartsWith("4 in graphs"));
  const standin::done launch = replay(stream, e);
  EXPECT_THAT(labels_of(session.stop(), launch), ElementsAre("capture / attention 0", "capture / mlp 1"));
  varve::session next{on_standin()};
  EXPECT_EQ(alive(next), four);
}

TEST_F(graphs_in_a_session, that_come_and_go_fill_no_more_than_the_trace_memory) {
  varve::session_options options = on_standin();
  options.trace_memory = std::size_t{256} << 10U;
  varve::session session{options};
  for (int i = 0; i < 3000; ++i) {
    const standin::graph g = capture(stream, {"attention"});
    const standin::executable e = standin::instantiate(g);
    replay(stream, e);
    standin::destroy(e);
    standin::destroy(g);
    if (i % 100 == 0) {
      static_cast<void>(session.snapshot());  // has what there is so far
    }
  }
  const varve::trace t = session.stop();
  EXPECT_GT(varve_test::lost(t, "trace memory full"), 0U);
  EXPECT_GT(t.graph_nodes.size(), 0U);
  EXPECT_LT(t.graph_nodes.size() * sizeof(varve::graph_node), options.trace_memory);
}

}  // namespace
