// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Sessions of the library, from outside, where another tool has CUPTI: what passes that name their stream
// get.
#include "standin_cuda/control.hpp"
#include "standin_cupti/control.hpp"

#include <varve/varve.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace {

using standin_cuda::handle;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

varve::session_options options() {
  varve::session_options o;
  o.gpu.cupti_library = "libcupti.so.13";
  return o;
}

class event_sessions : public testing::Test {
 protected:
  event_sessions() {
    take_cupti(true);
    standin_cuda::reset();
    standin_cuda::create_context();
    stream = standin_cuda::create_stream();
  }
  ~event_sessions() override {
    EXPECT_THAT(standin_cuda::misuses(), IsEmpty());
    EXPECT_EQ(standin_cuda::events_alive(), 0U);
  }

  static void take_cupti(bool taken) {
    standin::config c;
    c.other_subscriber = taken;
    standin::reset(c);
  }
  void work(std::uint64_t nanoseconds) const {
    standin_cuda::launch(stream, nanoseconds);
    standin_cuda::advance(nanoseconds);
  }
  template <class Has>
  static std::uint64_t lost(const Has& t, const char* what) {
    std::uint64_t count = 0;
    for (const varve::loss& l : t.losses) {
      count += l.what.find(what) != std::string::npos ? l.count : 0;
    }
    return count;
  }
  static const varve::collector_status* collector(const varve::trace& t, const std::string& name) {
    const auto found = std::find_if(t.collectors.begin(), t.collectors.end(),
                                    [&](const varve::collector_status& c) { return c.name == name; });
    return found != t.collectors.end() ? &*found : nullptr;
  }

  handle stream = nullptr;
};

TEST_F(event_sessions, hand_over_a_pass_when_its_span_has_come) {
  varve::session session{options()};
  {
    varve::phase pass{varve::decode};
    pass.stream(stream);
    standin_cuda::launch(stream, 100'000);
  }
  EXPECT_THAT(session.take().ranges, IsEmpty());
  standin_cuda::advance(100'000);
  varve::trace t = session.take();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (t.ranges.empty() && std::chrono::steady_clock::now() < until) {
    t = session.take();  // the recorder's thread was polling
  }
  EXPECT_EQ(t.ranges.size(), 1U);
  ASSERT_EQ(t.event_spans.size(), 1U);
  EXPECT_EQ(t.event_spans[0].range, 0U);
  EXPECT_EQ(t.event_spans[0].end - t.event_spans[0].begin, 100'000);
  const varve::trace rest = session.stop();
  EXPECT_THAT(rest.ranges, IsEmpty());
  EXPECT_THAT(rest.event_spans, IsEmpty());
  EXPECT_THAT(rest.losses, IsEmpty());
}

TEST_F(event_sessions, hand_over_each_span_with_its_pass_while_passes_come_and_go) {
  varve::session session{options()};
  std::atomic<bool> done{false};
  std::size_t passes = 0;
  const auto add = [&](const varve::trace& t) {
    EXPECT_EQ(t.event_spans.size(), t.ranges.size());
    EXPECT_THAT(t.losses, IsEmpty());
    passes += t.ranges.size();
  };
  std::thread taker{[&] {
    while (!done) {
      add(session.take());
    }
  }};
  for (int i = 0; i < 2000; ++i) {
    varve::phase pass{varve::decode};
    pass.stream(stream);
    work(1000);
  }
  done = true;
  taker.join();
  add(session.stop());
  EXPECT_EQ(passes, 2000U);
}

TEST_F(event_sessions, give_each_pass_that_names_its_stream_a_span) {
  varve::session session{options()};
  for (const std::uint64_t length : {100'000U, 250'000U}) {
    varve::phase pass{varve::decode};
    pass.stream(stream).decode_tokens(4);
    const varve::layer attention{"attention", 3};
    work(length);
  }
  const varve::trace t = session.stop();
  ASSERT_EQ(t.event_spans.size(), 2U);
  std::vector<varve::time_ns> lengths;
  for (const varve::event_span& s : t.event_spans) {
    ASSERT_LT(s.range, t.ranges.size());
    EXPECT_EQ(t.ranges[s.range].kind, varve::range_kind::phase);
    EXPECT_EQ(t.streams[s.stream].stream, reinterpret_cast<std::uintptr_t>(stream));
    lengths.push_back(s.end - s.begin);
  }
  EXPECT_THAT(lengths, testing::UnorderedElementsAre(100'000, 250'000));
  EXPECT_GE(t.clock_error, 500);
  EXPECT_THAT(t.losses, IsEmpty());
  ASSERT_EQ(t.devices.size(), 1U);
  EXPECT_EQ(t.devices[0].name, "simulated GPU 0");
  EXPECT_EQ(t.devices[0].clock, 1'777'000'000);  // of kHz
  EXPECT_EQ(t.devices[0].memory_clock, 7'501'000'000);
  EXPECT_EQ(t.devices[0].memory_bus, 192);
  EXPECT_EQ(t.devices[0].l2_bytes, 2'359'296);
  ASSERT_NE(collector(t, "cupti"), nullptr);
  EXPECT_EQ(collector(t, "cupti")->state, varve::collector_state::unavailable);
  ASSERT_NE(collector(t, "cuda events"), nullptr);
  EXPECT_EQ(collector(t, "cuda events")->detail, "GPU spans 2, of 2 streams that passes named");

  const varve::report r = varve::analyze(t);
  ASSERT_EQ(r.phases.size(), 1U);
  EXPECT_EQ(r.phases[0].event_span.total, 350'000);
  EXPECT_EQ(r.phases[0].total.gpu_time, 0);
  EXPECT_EQ(r.phases[0].partition.wall(), r.phases[0].wall);
  EXPECT_EQ(r.phases[0].partition.busy(), 0);
  for (const varve::row& layer : r.layers) {
    EXPECT_EQ(layer.inclusive.gpu_time, 0) << layer.path;
  }
  const std::string table = varve::to_table(r);
  EXPECT_THAT(table,
              AllOf(HasSubstr("GPU      span mean 175 µs · p50 100 µs · p95 250 µs · between CUDA events"),
                    HasSubstr("only 2 spans of passes between CUDA events"), HasSubstr("host time"),
                    Not(HasSubstr("GPU busy"))));
}

TEST_F(event_sessions, make_no_call_of_the_driver_for_it_where_cupti_works) {
  take_cupti(false);
  varve::session session{options()};
  {
    varve::phase pass{varve::decode};
    pass.stream(stream);
    work(1'000);
  }
  const varve::trace t = session.stop();
  ASSERT_NE(collector(t, "cupti"), nullptr);
  EXPECT_EQ(collector(t, "cupti")->state, varve::collector_state::stopped);
  EXPECT_EQ(collector(t, "cuda events"), nullptr);
  EXPECT_THAT(t.event_spans, IsEmpty());
  for (const char* function : {"cuStreamIsCapturing", "cuStreamGetCtx", "cuEventCreate", "cuEventRecord",
                               "cuEventQuery", "cuStreamCreate"}) {
    EXPECT_EQ(standin_cuda::calls(function), 0U) << function;
  }
}

TEST_F(event_sessions, tell_what_was_lost_before_cupti_began) {
  take_cupti(false);
  standin_cuda::reset();
  varve_cuda_(0);
  varve::session session{options()};
  {
    varve::phase pass{varve::decode};
    pass.stream(stream);  // of a driver that is not initialised
  }
  varve_cuda_(1);
  const varve::session_status status = session.status();
  const varve::trace t = session.stop();
  EXPECT_EQ(lost(status, "passes without a GPU span"), 1U);
  EXPECT_EQ(lost(t, "passes without a GPU span"), 1U);
  ASSERT_NE(collector(t, "cupti"), nullptr);
  EXPECT_EQ(collector(t, "cupti")->state, varve::collector_state::stopped);
  EXPECT_EQ(collector(t, "cuda events"), nullptr);
}

TEST_F(event_sessions, make_no_call_of_the_driver_when_nothing_records) {
  {
    varve::phase pass{varve::decode};
    pass.stream(stream);
  }
  {
    varve::session_options off = options();
    off.gpu.enabled = false;
    varve::session session{off};
    varve::phase pass{varve::decode};
    pass.stream(stream);
  }
  EXPECT_EQ(standin_cuda::calls(), 0U);
}

TEST_F(event_sessions, say_what_to_do_when_no_pass_names_its_stream) {
  varve::session session{options()};
  { const varve::phase pass{varve::decode}; }
  const varve::trace t = session.stop();
  ASSERT_NE(collector(t, "cuda events"), nullptr);
  EXPECT_THAT(collector(t, "cuda events")->detail, HasSubstr("varve::phase::stream"));
  EXPECT_EQ(standin_cuda::calls("cuEventCreate"), 0U);
}

TEST_F(event_sessions, take_streams_from_c_and_from_handles) {
  varve::session session{options()};
  const varve_range in_c = varve_phase_begin(VARVE_DECODE);
  varve_stream(in_c, stream);
  work(1'000);
  varve_end(in_c);
  varve::handle in_cxx = varve::begin_phase(varve::prefill);
  in_cxx.ref().stream(stream);
  work(2'000);
  in_cxx.end();
  const varve::report r = varve::analyze(session.stop());
  ASSERT_EQ(r.phases.size(), 2U);
  for (const varve::phase_row& p : r.phases) {
    EXPECT_EQ(p.event_span.total, p.phase == "decode" ? 1'000 : 2'000);
  }
}

TEST_F(event_sessions, end_a_span_with_its_pass_however_that_ends) {
  varve::session session{options()};
  {
    varve::phase outer{varve::decode};
    outer.stream(stream);
    work(1'000);
    const varve::layer inner{"attention", 0};
    outer.end();  // not the innermost
    work(500);
  }
  varve_range pass = varve_phase_begin(VARVE_DECODE);
  varve_stream(pass, stream);
  work(2'000);
  pass = varve_next(pass, "sampling", VARVE_NO_INDEX);
  work(500);
  varve_end(pass);
  const varve::trace t = session.stop();
  ASSERT_EQ(t.event_spans.size(), 2U);
  std::vector<varve::time_ns> lengths;
  for (const varve::event_span& s : t.event_spans) {
    lengths.push_back(s.end - s.begin);
  }
  EXPECT_THAT(lengths, testing::UnorderedElementsAre(1'000, 2'000));
}

TEST_F(event_sessions, refuse_streams_of_what_is_no_open_pass_of_the_thread) {
  varve::session session{options()};
  {
    const varve_range layer = varve_layer_begin("attention", 0);
    varve_stream(layer, stream);
    varve_end(layer);
  }
  {
    varve::phase pass{varve::decode};
    pass.end();
    pass.stream(stream);
  }
  {
    varve::phase pass{varve::decode};
    std::thread{[&, ref = pass.ref()]() mutable { ref.stream(stream); }}.join();
  }
  const varve::trace t = session.stop();
  EXPECT_EQ(lost(t, "no open pass"), 3U);
  EXPECT_THAT(t.event_spans, IsEmpty());
}

TEST_F(event_sessions, count_passes_that_are_open_at_the_stop_or_at_the_end_of_their_thread) {
  varve::session session{options()};
  const handle context = standin_cuda::create_context();
  std::thread{[&] {
    standin_cuda::set_current(context);
    const varve_range open = varve_phase_begin(VARVE_DECODE);
    varve_stream(open, nullptr);
  }}.join();
  varve::phase pass{varve::decode};
  pass.stream(stream);
  const varve::trace t = session.stop();
  EXPECT_EQ(lost(t, "their thread ended in them"), 1U);
  EXPECT_EQ(lost(t, "had not ended when the session stopped"), 1U);
  EXPECT_THAT(t.event_spans, IsEmpty());
}

}  // namespace
