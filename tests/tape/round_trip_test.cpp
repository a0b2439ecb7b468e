// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// One program over the stand-in for CUPTI: recorded to a tape that is then played under a session, and under
// a session at once. Both tell the same.
#include "gpu/tape/listener.hpp"
#include "standin_cupti/control.hpp"
#include "tape/session_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <thread>

/// The recorder asks for it; no collector does, so that the stand-in lacks it.
CUptiResult CUPTIAPI cuptiGetContextId(CUcontext /*context*/, std::uint32_t* id) {
  *id = 1;
  return CUPTI_SUCCESS;
}

namespace varve_tape {
namespace {

using testing::HasSubstr;

/// Writes itself down.
class recorded_program final : public program {
 public:
  explicit recorded_program(const std::string& path) : listener_{path, head(), {}} {}
  void arms() override {}
  void disarms() override {}
  void starts(const start& /*how*/) override { listener_.start(); }
  void stops() override {
    listener_.stop();
    listener_.finish();
  }
  void begins(const begin& range) override { listener_.add(range); }
  void ends() override { listener_.add(end{}); }

 private:
  static header head() {
    header h;
    h.name = "round_trip";
    h.device = "none: the stand-in";
    return h;
  }
  listener listener_;
};

class in {
 public:
  in(program& p, const char* phase) : p_{p} {
    begin b;
    b.phase = phase;
    p_.begins(b);
  }
  in(program& p, const char* layer, int index) : p_{p} {
    begin b;
    b.layer = layer;
    b.index = index;
    p_.begins(b);
  }
  in(const in&) = delete;
  in& operator=(const in&) = delete;
  ~in() { p_.ends(); }

 private:
  program& p_;
};

standin::graph captured(program& p, standin::stream s, const char* kernel) {
  const in pass{p, "capture"};
  standin::begin_capture(s);
  for (int i = 0; i < 3; ++i) {
    const in layer{p, kernel, i};
    standin::launch(s, kernel);
  }
  return standin::end_capture(s);
}

void replay(program& p, standin::stream s, standin::executable e) {
  const in pass{p, "decode"};
  standin::launch(s, e);
}

/// Everything that tapes are about, once.
void run(program& p) {
  standin::config c;
  c.records_per_buffer = 5;
  standin::reset(c);
  p.starts({});
  const standin::stream s = standin::create_stream();
  {
    const in pass{p, "prefill"};
    const in layer{p, "attention", 0};
    standin::launch(s, "gemm");
    standin::copy(s, standin::cupti::copy_direction::host_to_device, 4096);
    standin::memset(s, 0, 64);
  }
  std::thread{[&] {
    const in pass{p, "draft"};
    const in layer{p, "mlp", 1};
    standin::launch(standin::create_stream(), "gelu");
  }}.join();
  const standin::graph first = captured(p, s, "attention");
  const standin::executable e = standin::instantiate(first);
  replay(p, s, e);
  standin::destroy(first);
  const standin::graph second = captured(p, s, "mlp");
  EXPECT_EQ(standin::update(e, second), 0);
  replay(p, s, e);
  const standin::graph whole = captured(p, s, "norm");
  {
    const in pass{p, "capture"};
    standin::add_child(whole, second);
    const standin::graph body = standin::add_conditional(whole, 3);
    const in layer{p, "expert", 2};
    standin::add_kernel(body, "expert");
  }
  const standin::executable other = standin::instantiate(standin::clone(whole));
  replay(p, s, other);
  standin::destroy(other);
  standin::synchronize_device();
  p.stops();
}

/// What a session tells of it, a line a piece of work.
std::string told_by(const session_program& engine) {
  std::vector<std::string> lines;
  for (const varve::trace& t : engine.traces()) {
    const std::vector<expect> work = work_in(t);
    for (std::size_t i = 0; i < work.size(); ++i) {
      const auto bytes = t.activities.detail[i];
      lines.push_back(line_of(work[i]) + ", ns " +
                      std::to_string(t.activities.end[i] - t.activities.begin[i]) + ", stream " +
                      std::to_string(t.streams.at(t.activities.stream[i]).stream) +
                      (t.activities.kind[i] == varve::activity_kind::kernel || bytes == varve::none
                           ? std::string{}
                           : ", bytes " + std::to_string(t.bytes.at(bytes))));
    }
    for (const varve::loss& l : t.losses) {
      lines.push_back("lost " + l.what + " " + std::to_string(l.count));
    }
  }
  std::sort(lines.begin(), lines.end());
  std::string out = engine.problem();
  for (const std::string& line : lines) {
    out += line + "\n";
  }
  return out;
}

/// In a process of its own: a collector stays with the libcupti that it found first.
std::string in_child(const std::function<std::string()>& what) {
  int ends[2] = {-1, -1};
  if (pipe(ends) != 0) {
    return "no pipe";
  }
  const pid_t child = fork();
  if (child == 0) {
    const std::string text = what();
    const ssize_t written = write(ends[1], text.data(), text.size());
    _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string out;
  char piece[4096];
  for (ssize_t n = 0; (n = ::read(ends[0], piece, sizeof piece)) > 0;) {
    out.append(piece, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? out : "the child failed";
}

TEST(round_trip, a_recorded_program_is_reported_as_a_live_one) {
  const std::string path = testing::TempDir() + "round_trip_" + std::to_string(getpid()) + ".tape";
  std::remove(path.c_str());
  {
    recorded_program recording{path};
    run(recording);
  }
  standin::reset();  // ends its threads
  const prepared p = prepare(read(path));
  std::remove(path.c_str());
  EXPECT_EQ(p.t.head.origin, "recorded");
  EXPECT_EQ(p.t.head.cupti, standin::config{}.version);
  const std::string played = in_child([&] {
    session_program engine;
    const std::vector<std::string> complaints = play(p, engine);
    return complaints.empty() ? told_by(engine) : complaints.front();
  });

  session_program engine{"libcupti.so.13"};
  run(engine);
  const std::string live = told_by(engine);
  EXPECT_THAT(live, HasSubstr("kernel gemm in prefill/attention:0, ns 1000"));
  EXPECT_THAT(live, HasSubstr("kernel expert in decode of capture/expert:2"));
  // 1 + 1 kernels of the passes, 3 + 3 of the first executable, 3 + 3 of the child + 3 · 1 of the other; a
  // copy and a set: 19 lines.
  EXPECT_EQ(std::count(live.begin(), live.end(), '\n'), 19);
  EXPECT_EQ(played, live);
}

}  // namespace
}  // namespace varve_tape
