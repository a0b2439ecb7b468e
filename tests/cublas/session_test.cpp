// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Whose work it is: ranges, threads, calls inside of calls, graphs, and what the engine says itself.
#include "cuda/standin_session.hpp"

#include <thread>

#include "cublas/prototypes.hpp"
#include "standin_cublas/control.hpp"

namespace {

using namespace varve::cublas;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;
using varve_test::on_standin;

constexpr float one = 1;
constexpr float zero = 0;

/// 2·1·1·k FLOPs.
int multiply(int k) {
  return cublasSgemm_v2(nullptr, 0, 0, 1, 1, k, &one, nullptr, 1, nullptr, k, &zero, nullptr, 1);
}

/// FLOPs by path of the range.
std::vector<std::pair<std::string, std::int64_t>> flops_of(const varve::trace& t) {
  std::vector<std::pair<std::string, std::int64_t>> out;
  for (const varve::range_work& w : t.works) {
    out.emplace_back(varve::label_text(t, t.ranges[w.range].label), w.declared.flops);
  }
  return out;
}

class cublas_session : public varve_test::over_standin {
 protected:
  cublas_session() {
    standin::reset(varve_test::standin_config());
    standin_cublas::reset();
    stream = standin::create_stream();
  }

  template <class Inside>
  standin::executable capture(Inside inside) {
    const varve::phase pass{varve::capture};
    standin::begin_capture(stream);
    inside();
    return standin::instantiate(standin::end_capture(stream));
  }
  void replay(standin::executable e) {
    const varve::phase pass{varve::decode};
    standin::launch(stream, e);
  }
  /// A product launches a kernel.
  void launch_inside() {
    standin_cublas::inside([this] { standin::launch(stream, "ampere_sgemm_32x32"); });
  }

  standin::stream stream;
};

TEST_F(cublas_session, gives_work_to_the_innermost_range) {
  multiply(9);  // nothing records
  varve::session session{on_standin()};
  multiply(8);  // in no range
  {
    const varve::phase pass{varve::decode};
    multiply(1);
    const varve::layer layer{"mlp", 3};
    multiply(2);
    const varve::op op{"up"};
    multiply(3);
    multiply(4);
  }
  EXPECT_THAT(flops_of(session.stop()),
              UnorderedElementsAre(std::pair{"decode", 2}, std::pair{"decode / mlp 3", 4},
                                   std::pair{"decode / mlp 3 / up", 6}, std::pair{"decode / mlp 3 / up", 8}));
  EXPECT_THAT(standin_cublas::calls(), SizeIs(6));
}

TEST_F(cublas_session, gives_work_of_adopted_places_to_the_range_that_was_left) {
  varve::session session{on_standin()};
  {
    const varve::phase pass{varve::decode};
    const varve::layer layer{"mlp", 3};
    const varve::handoff here = varve::here();
    std::thread{[&] {
      multiply(1);  // nowhere
      const varve::adopt adopted{here};
      multiply(2);
    }}.join();
  }
  EXPECT_THAT(flops_of(session.stop()), UnorderedElementsAre(std::pair{"decode / mlp 3", 4}));
}

TEST_F(cublas_session, counts_what_cublas_calls_of_itself_once) {
  varve::session session{on_standin()};
  standin_cublas::inside([] { multiply(100); });
  {
    const varve::phase pass{varve::decode};
    multiply(1);
    multiply(2);
  }
  EXPECT_THAT(flops_of(session.stop()), UnorderedElementsAre(std::pair{"decode", 2}, std::pair{"decode", 4}));
  EXPECT_THAT(standin_cublas::calls(), SizeIs(4));
}

TEST_F(cublas_session, keeps_threads_apart) {
  constexpr int threads = 4;
  constexpr int products = 500;
  varve::session session{on_standin()};
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([i] {
      const varve::phase pass{varve::decode};
      const varve::layer layer{"layer", i};
      for (int k = 0; k < products; ++k) {
        multiply(i + 1);
      }
    });
  }
  for (std::thread& one_of_them : all) {
    one_of_them.join();
  }
  std::map<std::string, std::int64_t> sums;
  for (const auto& [path, flops] : flops_of(session.stop())) {
    sums[path] += flops;
  }
  EXPECT_THAT(sums, UnorderedElementsAre(std::pair{"decode / layer 0", products * 2},
                                         std::pair{"decode / layer 1", products * 4},
                                         std::pair{"decode / layer 2", products * 6},
                                         std::pair{"decode / layer 3", products * 8}));
}

TEST_F(cublas_session, tells_nothing_of_calls_that_fail) {
  varve::session session{on_standin()};
  standin_cublas::answer(13);
  {
    const varve::phase pass{varve::decode};
    EXPECT_EQ(multiply(1), 13);
  }
  const varve::trace t = session.stop();
  EXPECT_THAT(t.works, IsEmpty());
  EXPECT_THAT(t.losses, IsEmpty());
}

TEST_F(cublas_session, counts_calls_with_types_that_nobody_knows) {
  varve::session session{on_standin()};
  {
    const varve::phase pass{varve::decode};
    cublasGemmEx(nullptr, 0, 0, 1, 1, 1, &one, nullptr, 1000, 1, nullptr, r_16f, 1, &zero, nullptr, r_16f, 1,
                 compute_32f, -1);
  }
  const varve::trace t = session.stop();
  EXPECT_THAT(t.works, IsEmpty());
  ASSERT_THAT(t.losses, SizeIs(1));
  EXPECT_THAT(t.losses[0].what, HasSubstr("calls of cuBLAS with types that are not known"));
  EXPECT_EQ(t.losses[0].count, 1U);
}

TEST_F(cublas_session, leaves_the_last_word_to_the_engine) {
  varve::session session{on_standin()};
  {
    const varve::phase pass{varve::decode};
    varve::layer said{"said"};
    said.work([] { return varve::work{1000}; });
    multiply(1);
    standin::launch(stream, "ampere_sgemm_32x32");
    said.end();
    const varve::layer silent{"silent"};
    multiply(7);
    standin::launch(stream, "ampere_sgemm_32x32");
  }
  const varve::report r = varve::analyze(session.stop());
  const varve::row* const said = r.find({"said", varve::no_index, VARVE_DECODE});
  const varve::row* const silent = r.find({"silent", varve::no_index, VARVE_DECODE});
  ASSERT_TRUE(said != nullptr && silent != nullptr);
  EXPECT_EQ(said->inclusive.declared.flops, 1000);
  EXPECT_EQ(silent->inclusive.declared.flops, 14);
  // Calls of cuBLAS tell a part of what the engine does: no difference.
  EXPECT_THAT(r.findings, Not(Contains(Field(&varve::finding::what, varve::finding::kind::work_difference))));
}

TEST_F(cublas_session, knows_the_work_of_products_alone_in_a_range_of_more) {
  varve::session session{on_standin()};
  launch_inside();
  {
    const varve::phase pass{varve::decode};
    varve::layer linear{"linear"};
    multiply(1);
    linear.end();
    const varve::layer both{"both"};
    multiply(1);
    standin::launch(stream, "rms_norm");
  }
  const varve::report r = varve::analyze(session.stop());
  const varve::row* const linear = r.find({"linear", varve::no_index, VARVE_DECODE});
  const varve::row* const both = r.find({"both", varve::no_index, VARVE_DECODE});
  ASSERT_TRUE(linear != nullptr && both != nullptr);
  EXPECT_EQ(linear->inclusive.unknown_work_time, 0);
  EXPECT_EQ(both->inclusive.unknown_work_time, 1000);  // one of two kernels of 1000 ns
  EXPECT_DOUBLE_EQ(r.quality.work_known[static_cast<std::size_t>(varve::work_source::shapes)], 2.0 / 3.0);
}

TEST_F(cublas_session, gives_way_to_a_description_where_more_than_products_ran) {
  varve::session session{on_standin()};
  {
    const varve::phase pass{varve::decode};
    for (int i = 0; i < 2; ++i) {
      const varve::layer layer{"layer", i};
      multiply(50);
      standin::launch(stream, "ampere_sgemm_32x32");
      if (i == 0) {
        standin::launch(stream, "flash_fwd_kernel");
      }
    }
  }
  varve::trace t = session.stop();
  // 100 FLOPs by the calls, 150 by the description: of the first layer, in which attention runs too, that
  // counts.
  ASSERT_THAT(t.works, SizeIs(2));
  ASSERT_EQ(t.works[0].declared.flops, 100);
  const std::int64_t bytes = t.works[0].declared.bytes();
  t.works.push_back({t.works[0].range, varve::work{150, bytes}, varve::work_source::description});
  t.works.push_back({t.works[1].range, varve::work{150, bytes}, varve::work_source::description});
  const varve::report r = varve::analyze(t);
  const varve::row* const both = r.find({"layer", 0, VARVE_DECODE});
  const varve::row* const linear = r.find({"layer", 1, VARVE_DECODE});
  ASSERT_TRUE(both != nullptr && linear != nullptr);
  EXPECT_EQ(both->inclusive.declared.flops, 150);
  EXPECT_EQ(linear->inclusive.declared.flops, 100);
  EXPECT_THAT(r.findings, Contains(Field(&varve::finding::what, varve::finding::kind::work_difference)));
}

TEST_F(cublas_session, gives_work_at_capture_to_each_replay) {
  varve::session session{on_standin()};
  launch_inside();
  const standin::executable e = capture([] {
    const varve::layer layer{"mlp", 0};
    multiply(3);
    multiply(5);
  });
  replay(e);
  replay(e);
  replay(e);
  const varve::trace t = session.stop();
  const varve::report r = varve::analyze(t);
  const varve::row* const row = r.find({"mlp", 0, VARVE_DECODE});
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->inclusive.declared.flops, 3 * (2 * 3 + 2 * 5));
  EXPECT_EQ(row->inclusive.unknown_work_time, 0);
  ASSERT_THAT(t.graph_nodes, SizeIs(2));
  EXPECT_EQ(t.graph_nodes[0].told_by, varve::work_source::shapes);
  EXPECT_DOUBLE_EQ(r.quality.work_known[static_cast<std::size_t>(varve::work_source::shapes)], 1);
}

TEST_F(cublas_session, leaves_the_last_word_to_the_engine_at_capture_too) {
  varve::session session{on_standin()};
  launch_inside();
  const standin::executable e = capture([&] {
    varve::layer layer{"mlp", 0};
    layer.work([] { return varve::work{1000}; });
    multiply(3);
    const varve::op op{"down"};  // inside of what the engine has told
    multiply(5);
  });
  replay(e);
  const varve::report r = varve::analyze(session.stop());
  const varve::row* const row = r.find({"mlp", 0, VARVE_DECODE});
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->inclusive.declared.flops, 1000);
}

}  // namespace
