// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "standin_cupti/control.hpp"

#include <map>

#include "collector_contract.hpp"

namespace contract {
namespace {

class cupti_rig final : public rig {
 public:
  explicit cupti_rig(const standin::config& settings) {
    standin::reset(settings);
    standin::initialise(2);
  }
  ~cupti_rig() override { standin::reset(); }

  void choose(varve::session_options& options) override {
    options.gpu.cupti_library = "libcupti.so.13";
    options.gpu.buffers = 2000;  // for three records each
    options.gpu.buffer_bytes = 1;
  }

  int make_stream(std::uint32_t device) override {
    const standin::stream made = standin::create_stream(device);
    const std::lock_guard lock{mutex_};
    streams_.push_back(made);
    return static_cast<int>(streams_.size()) - 1;
  }
  std::uint64_t stream_id(int stream) override { return standin::stream_id(at(stream)); }

  std::uint32_t launch(int stream, const char* name) override {
    return note(standin::launch(at(stream), name));
  }
  std::uint32_t copy(int stream, std::int64_t bytes) override {
    return note(standin::copy(at(stream), varve::cupti::copy_direction::host_to_device,
                              static_cast<std::uint64_t>(bytes)));
  }
  std::uint32_t launch_that_fails(int stream) override {
    standin::work fails;
    fails.how.result = 2;
    return note(standin::launch(at(stream), "failed", {}, fails));
  }
  void begin_capture(int stream) override { standin::begin_capture(at(stream)); }
  int end_capture(int stream) override {
    executables_.push_back(standin::instantiate(standin::end_capture(at(stream))));
    return static_cast<int>(executables_.size()) - 1;
  }
  std::uint32_t replay(int stream, int executable) override {
    return note(standin::launch(at(stream), executables_[static_cast<std::size_t>(executable)]));
  }
  std::vector<std::pair<varve::time_ns, varve::time_ns>> times(std::uint32_t correlation) override {
    const std::lock_guard lock{mutex_};
    std::vector<std::pair<varve::time_ns, varve::time_ns>> out;
    for (const standin::interval& i : times_[correlation]) {
      out.emplace_back(i.begin, i.end);
    }
    return out;
  }

 private:
  standin::stream at(int stream) {
    const std::lock_guard lock{mutex_};
    return streams_[static_cast<std::size_t>(stream)];
  }
  std::uint32_t note(const standin::done& what) {
    const std::lock_guard lock{mutex_};
    times_[what.outer_correlation] = what.times;
    return what.outer_correlation;
  }

  std::mutex mutex_;
  std::vector<standin::stream> streams_;
  std::vector<standin::executable> executables_;
  std::map<std::uint32_t, std::vector<standin::interval>> times_;
};

std::unique_ptr<rig> make_good() { return std::make_unique<cupti_rig>(standin::config{}); }

/// As bad as records may come.
std::unique_ptr<rig> make_bad() {
  standin::config settings;
  settings.order = standin::record_order::at_flush;
  settings.correlation = standin::nested_correlation::inner;
  settings.records_per_buffer = 3;
  settings.shuffle = 7;
  return std::make_unique<cupti_rig>(settings);
}

INSTANTIATE_TEST_SUITE_P(in_order, collector_contract, testing::Values(&make_good));
INSTANTIATE_TEST_SUITE_P(shuffled, collector_contract, testing::Values(&make_bad));

}  // namespace
}  // namespace contract
