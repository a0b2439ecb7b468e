// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// passes_test: a fixture whose tests look at the same measured passes. Part of testing.hpp.
#ifndef VARVE_TESTING_FIXTURE_HPP
#define VARVE_TESTING_FIXTURE_HPP

#include <varve/report.hpp>
#include <varve/testing/find.hpp>
#include <varve/testing/passes.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace varve {
inline namespace v0 {

namespace testing_detail {

template <class Engine, class = void>
struct options_of {
  static pass_options get() { return {}; }
};
template <class Engine>
struct options_of<Engine, std::void_t<decltype(Engine::options())>> {
  static pass_options get() { return Engine::options(); }
};

}  // namespace testing_detail

/// A fixture for engines that take long to set up: before the first test of its suite one `Engine` is made
/// and runs its warm-up and its measured passes; it stays until after the last test. The tests look at what
/// was recorded.
///
///     struct decoding {
///       engine tested{"model.gguf"};
///       void pass() { tested.decode_step(); tested.synchronise(); }
///     };
///     using decoder = varve::passes_test<decoding>;
///     TEST_F(decoder, launches_little) { EXPECT_THAT(passes_of(varve::decode), varve::launches_at_most(8));
///     }
///
/// `Engine` has a default constructor, pass(), which is to wait for its work on the device, and, where passes
/// are not to run as run_passes() runs them by default, `static varve::pass_options options()`. A suite whose
/// engine throws or whose passes could not be recorded fails, as does every matcher on what it has. A suite
/// with a SetUpTestSuite() or TearDownTestSuite() of its own is to call these.
template <class Engine>
class passes_test : public ::testing::Test {
 public:
  static void SetUpTestSuite() {
    suite_ = std::make_unique<state>();
    suite_->run.error = "the engine did not run its passes to their end";  // it may throw
    Engine& engine = suite_->engine.emplace();
    suite_->run = run_passes(testing_detail::options_of<Engine>::get(), [&engine] { engine.pass(); });
  }
  static void TearDownTestSuite() { suite_.reset(); }

 protected:
  [[nodiscard]] static const measured_passes& run() { return suite_->run; }
  [[nodiscard]] static const varve::report& report() { return suite_->run.report; }
  /// For what a test does besides; no more of its passes are recorded. Throws std::bad_optional_access where
  /// it could not be made.
  [[nodiscard]] static Engine& tested() { return suite_->engine.value(); }
  [[nodiscard]] static found_layer layer(const row_query& query) { return layer_of(report(), query); }
  [[nodiscard]] static found_phase passes_of(std::string_view kind, std::string_view model = {}) {
    return phase_of(report(), kind, model);
  }
  /// Over the measured passes, as measured_passes gives them.
  [[nodiscard]] static distribution step(std::string_view kind) { return run().step(kind); }
  [[nodiscard]] static distribution gpu_time(std::string_view kind) { return run().gpu_time(kind); }

 private:
  struct state {
    std::optional<Engine> engine;
    measured_passes run;
  };
  static inline std::unique_ptr<state> suite_;
};

}  // namespace v0
}  // namespace varve

#endif  // VARVE_TESTING_FIXTURE_HPP
