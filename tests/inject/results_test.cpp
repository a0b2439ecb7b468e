// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "inject/results.hpp"

#include <varve/io.hpp>
#include <varve/varve.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cfenv>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <new>
#include <utility>

#include "cli/process.hpp"

#ifndef VARVE_SANITIZED  // sanitizers bring operators of their own

namespace {
thread_local int allocations_to_fail = 0;
}

// NOLINTBEGIN(cppcoreguidelines-no-malloc): what the standard's own do
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const p = allocations_to_fail > 0 && allocations_to_fail-- > 0 ? nullptr : std::malloc(size);
  return p != nullptr ? p : throw std::bad_alloc{};
}
void* operator new(std::size_t size, const std::nothrow_t& /*how*/) noexcept { return std::malloc(size); }
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t /*size*/) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t& /*how*/) noexcept { std::free(p); }
// NOLINTEND(cppcoreguidelines-no-malloc)

#endif

namespace {

using testing::ElementsAre;
using testing::Key;
using varve::inject::results;
using varve::inject::settings;
using varve::inject::stage;
namespace fs = std::filesystem;

class run_results : public testing::Test {
 protected:
  /// "report.json" for "FOLDER/PID.0.report.json", and what is in it; "" for the claim.
  std::map<std::string, std::string> left(int number = 0) const {
    const std::string mine = std::to_string(::getpid()) + '.' + std::to_string(number);
    std::map<std::string, std::string> out;
    for (const auto& entry : fs::directory_iterator{folder()}) {
      const std::string name = entry.path().filename();
      if (name.compare(0, mine.size(), mine) == 0) {
        out[name.substr(mine.size())] = testing_support::content_of(entry.path());
      }
    }
    return out;
  }
  std::string folder() const { return files_.path(""); }
  settings asked(bool traced = false) const {
    settings s;
    s.folder = folder();
    s.traced = traced;
    s.log.reset();
    return s;
  }
  /// Of so many passes.
  static varve::trace passes(int count) {
    varve::session_options options;
    options.gpu.enabled = false;
    varve::session session{std::move(options)};
    for (int i = 0; i < count; ++i) {
      const varve::phase pass{varve::decode};
    }
    return session.stop();
  }
  varve::report report_in(const std::string& text) const {
    return varve::read_report(files_.write("text", text));
  }
  varve::report trace_in(const std::string& text) const {
    return varve::analyze(varve::read_pytorch(files_.write("text", text)));
  }

 private:
  testing_support::folder files_;
};

TEST_F(run_results, are_the_report_alone_where_no_trace_is_asked_for) {
  varve::trace t = passes(2);
  const std::string expected = to_json(varve::analyze(t));
  results r{asked()};
  EXPECT_TRUE(r.write(std::move(t), stage::last));
  EXPECT_THAT(left(), ElementsAre(Key(""), Key(".report.json")));
  EXPECT_EQ(to_json(report_in(left()[".report.json"])), expected);
}

TEST_F(run_results, replace_each_other) {
  results r{asked(true)};
  EXPECT_TRUE(r.write(passes(1), stage::snapshot));
  EXPECT_THAT(left(), ElementsAre(Key(""), Key(".snapshot.report.json"), Key(".snapshot.trace.json")));
  EXPECT_TRUE(r.write(passes(2), stage::last));  // the process may end, and does not
  EXPECT_THAT(left(), ElementsAre(Key(""), Key(".report.json"), Key(".trace.json")));
  EXPECT_EQ(report_in(left()[".report.json"]).phases.at(0).passes, 2);
  EXPECT_EQ(trace_in(left()[".trace.json"]).phases.at(0).passes, 2);
  EXPECT_TRUE(r.write(passes(3), stage::snapshot));
  EXPECT_THAT(left(), ElementsAre(Key(""), Key(".snapshot.report.json"), Key(".snapshot.trace.json")));
}

#ifndef VARVE_SANITIZED
TEST_F(run_results, are_the_trace_where_there_is_no_memory_for_a_report) {
  results r{asked()};
  EXPECT_TRUE(r.write(passes(1), stage::snapshot));
  varve::trace t = passes(2);
  allocations_to_fail = 1;
  EXPECT_TRUE(r.write(std::move(t), stage::last));
  EXPECT_EQ(allocations_to_fail, 0);
  EXPECT_THAT(left(), ElementsAre(Key(""), Key(".trace.json")));  // the report was of older records
  EXPECT_EQ(trace_in(left()[".trace.json"]).phases.at(0).passes, 2);
}
#endif

TEST_F(run_results, leave_the_last_snapshot_and_a_mark_where_the_disk_is_full) {
  results r{asked(true)};
  EXPECT_TRUE(r.write(passes(1), stage::snapshot));
  varve::trace t = passes(2);
  const auto before = ::signal(SIGXFSZ, SIG_IGN);
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &usual), 0);
  const rlimit few{16, usual.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &few), 0);
  const bool written = r.write(std::move(t), stage::last);
  ::setrlimit(RLIMIT_FSIZE, &usual);
  ::signal(SIGXFSZ, before);
  EXPECT_FALSE(written);
  EXPECT_THAT(left(), ElementsAre(Key(""), Key(".snapshot.report.json"), Key(".snapshot.trace.json")));
  EXPECT_EQ(left()[""][0], '!');
  EXPECT_EQ(left()[""].substr(1), program_invocation_short_name);
}

TEST_F(run_results, of_programs_of_one_process_are_apart) {
  const results first{asked()};
  results second{asked()};
  EXPECT_TRUE(second.write(passes(1), stage::last));
  EXPECT_THAT(left(0), ElementsAre(Key("")));
  EXPECT_THAT(left(1), ElementsAre(Key(""), Key(".report.json")));
  settings nowhere;
  nowhere.folder = folder() + "/nowhere";
  EXPECT_THROW(results{nowhere}, varve::error);
}

// As numerical programs have it.
TEST_F(run_results, do_not_trap_where_the_engine_does) {
  varve::trace t = passes(3);
  results r{asked()};
  ::feenableexcept(FE_INEXACT | FE_INVALID | FE_DIVBYZERO);
  const bool written = r.write(std::move(t), stage::last);
  const int traps = ::fegetexcept();
  ::fedisableexcept(FE_ALL_EXCEPT);
  EXPECT_TRUE(written);
  EXPECT_EQ(traps, FE_INEXACT | FE_INVALID | FE_DIVBYZERO) << "the engine's are not as they were";
}

}  // namespace
