// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "counters/profiler.hpp"

#include "cupti/explain.hpp"

#include <algorithm>

namespace varve::counters {

namespace {

/// Codes that stay as they are as long as the process runs.
bool is_for_good(result code) noexcept {
  switch (code) {
    case result::invalid_device:
    case result::api_not_implemented:
    case result::not_initialized:
    case result::not_supported:
    case result::virtualized_device_not_supported:
    case result::insufficient_privileges:
    case result::old_profiler_api_initialized:
    case result::legacy_profiler_not_supported:
    case result::virtualized_device_insufficient_privileges:
    case result::confidential_computing_not_supported:
    case result::cmp_device_not_supported:
    case result::mig_device_not_supported:
    case result::sli_device_not_supported:
    case result::wsl_device_not_supported:
    case result::unknown:
      return true;
    default:
      return false;
  }
}

bool counts_dram(const std::vector<turn>& turns) {
  return std::any_of(turns.begin(), turns.end(), [](const turn& t) {
    return std::any_of(t.counts.begin(), t.counts.end(),
                       [](const quantity& q) { return q.what == count_kind::dram_read; });
  });
}

}  // namespace

bool profiler::check(result code, const char* function) {
  if (code == result::success) {
    return true;
  }
  code_ = code;
  error_ = cupti::explain(code, function);
  final_ = final_ || is_for_good(code);
  return false;
}

bool profiler::enable(cupti::context_handle context, std::uint32_t device, bool operations) {
  auto first = make_params<initialize_params>();
  if (!check(call_.initialize(&first), "cuptiProfilerInitialize")) {
    return false;
  }
  auto name = make_params<chip_name_params>();
  name.device = device;
  if (!check(call_.chip_name(&name), "cuptiDeviceGetChipName")) {
    return false;
  }
  chip_ = name.name != nullptr ? name.name : "";
  context_ = context;
  ask_availability();
  result known = plan_turns(operations);
  if (!counts_dram(turns_) && !availability_.empty()) {  // then rather what the chip should have
    availability_.clear();
    known = plan_turns(operations);
  }
  if (known != result::success) {
    error_ = "this libcupti does not know the metrics of the chip " + chip_ +
             " (cuptiProfilerHostInitialize: CUPTI error " +
             std::to_string(static_cast<std::uint32_t>(known)) + "): name one of a newer CUDA";
    final_ = true;
    return false;
  }
  if (turns_.empty()) {
    error_ =
        "no metric of the chip " + chip_ + " tells DRAM bytes in one pass: please report it, with the chip";
    final_ = true;
    return false;
  }
  return acquire();
}

// Which of the chip's counters this machine lets us use. CUPTI does without, for chips that it knows. It is
// asked before the profiler is at work, since then it may not answer.
void profiler::ask_availability() {
  constexpr std::size_t most = std::size_t{64} << 20U;
  availability_.clear();
  auto p = make_params<availability_params>();
  p.context = context_;
  if (call_.availability == nullptr || call_.availability(&p) != result::success || p.image_size > most) {
    return;
  }
  availability_.resize(p.image_size);
  p.image = availability_.data();
  if (!availability_.empty() && call_.availability(&p) != result::success) {
    availability_.clear();
  }
}

const std::uint8_t* profiler::availability() const noexcept {
  return availability_.empty() ? nullptr : availability_.data();
}

result profiler::plan_turns(bool operations) {
  const host known{call_, chip_, availability()};
  turns_ =
      known.error() == result::success ? plan(known, quantities_of(known, operations)) : std::vector<turn>{};
  return known.error();
}

bool profiler::acquire() {
  prepared_.clear();
  prepared_.resize(turns_.size());
  auto p = make_params<enable_params>();
  p.context = context_;
  if (!check(call_.enable(&p), "cuptiRangeProfilerEnable")) {
    return false;
  }
  object_ = p.profiler;
  return true;
}

void profiler::disable() noexcept {
  cancel();
  release();
}

void profiler::release() noexcept {
  if (object_ != nullptr) {
    auto p = make_params<profiler_params>();
    p.profiler = object_;
    call_.disable(&p);
    object_ = nullptr;
  }
  prepared_.clear();
}

bool profiler::prepare(prepared& p, const turn& t) {
  auto made = std::make_unique<host>(call_, chip_, availability());
  std::size_t passes = 0;
  p.config = made->config(t.metrics, passes);
  if (passes != 1) {
    code_ = result::success;
    error_ = "the chip " + chip_ + " does not count in one pass what it said it would: please report it";
    final_ = true;
    return false;
  }
  std::vector<const char*> names;
  for (const std::string& metric : t.metrics) {
    names.push_back(metric.c_str());
  }
  auto size = make_params<image_size_params>();
  size.profiler = object_;
  size.names = names.data();
  size.count = names.size();
  size.most_ranges = most_ranges_;
  size.most_nodes = static_cast<std::uint32_t>(most_ranges_);
  if (!check(call_.image_size(&size), "cuptiRangeProfilerGetCounterDataSize")) {
    return false;
  }
  p.image.resize(size.image_size);
  p.metrics = std::move(made);
  return true;
}

// Where it is refused, CUPTI may not take another configuration for an object that had one: a new object
// does. Or it has no room for so many ranges: it says that there is no memory, or calls the operation invalid
// (from two to three thousand ranges on).
bool profiler::start(std::size_t turn) {
  cancel();  // what its thread left behind
  turn_ = turn;
  constexpr std::size_t fewest = 16;
  const std::size_t asked = most_ranges_;
  bool renewed = false;
  while (!try_to_start(turn)) {
    const bool no_room = code_ == result::out_of_memory || (renewed && code_ == result::invalid_operation);
    if (final_ || (renewed && (!no_room || most_ranges_ / 2 < fewest))) {
      release();
      most_ranges_ = asked;
      return false;
    }
    most_ranges_ = no_room && most_ranges_ / 2 >= fewest ? most_ranges_ / 2 : most_ranges_;
    renewed = true;
    release();
    if (!acquire()) {
      return false;
    }
  }
  return true;
}

bool profiler::try_to_start(std::size_t turn) {
  if (object_ == nullptr && !acquire()) {
    return false;
  }
  prepared& p = prepared_[turn];
  if (p.metrics == nullptr && !prepare(p, turns_[turn])) {
    return false;
  }
  auto image = make_params<image_params>();
  image.profiler = object_;
  image.image_size = p.image.size();
  image.image = p.image.data();
  if (!check(call_.image_initialize(&image), "cuptiRangeProfilerCounterDataImageInitialize")) {
    return false;
  }
  auto set = make_params<set_config_params>();
  set.profiler = object_;
  set.config_size = p.config.size();
  set.config = p.config.data();
  set.image_size = p.image.size();
  set.image = p.image.data();
  set.range = user_range;
  set.replay = user_replay;
  set.most_ranges = most_ranges_;
  set.nesting_levels = 1;
  set.first_level = 1;
  set.target_level = 1;
  if (!check(call_.set_config(&set), "cuptiRangeProfilerSetConfig")) {
    return false;
  }
  auto begin = make_params<profiler_params>();
  begin.profiler = object_;
  started_ = check(call_.start(&begin), "cuptiRangeProfilerStart");
  return started_;
}

bool profiler::push(const char* name) noexcept {
  auto p = make_params<push_params>();
  p.profiler = object_;
  p.name = name;
  if (call_.push(&p) != result::success) {
    return false;
  }
  open_on_ = std::this_thread::get_id();
  return true;
}

bool profiler::pop() noexcept {
  auto p = make_params<profiler_params>();
  p.profiler = object_;
  open_on_ = {};
  return call_.pop(&p) == result::success;
}

void profiler::cancel() noexcept {
  if (open_on_ == std::this_thread::get_id()) {
    static_cast<void>(pop());
  }
  if (started_) {
    started_ = false;
    auto p = make_params<stop_params>();
    p.profiler = object_;
    call_.stop(&p);
  }
}

bool profiler::stop(outcome& to) {
  auto p = make_params<stop_params>();
  p.profiler = object_;
  started_ = false;
  if (!check(call_.stop(&p), "cuptiRangeProfilerStop")) {
    return false;
  }
  if (p.all_passes == 0) {
    error_ = "CUPTI wants this pass again, though its metrics take one pass: please report it";
    return false;
  }
  auto decode = make_params<decode_params>();
  decode.profiler = object_;
  if (!check(call_.decode(&decode), "cuptiRangeProfilerDecodeData")) {
    return false;
  }
  to.dropped = decode.dropped;
  return read(prepared_[turn_], turns_[turn_], to.ranges);
}

bool profiler::read(const prepared& p, const turn& t, std::vector<counted>& to) {
  auto info = make_params<image_info_params>();
  info.image = p.image.data();
  info.image_size = p.image.size();
  if (!check(call_.image_info(&info), "cuptiRangeProfilerGetCounterDataInfo")) {
    return false;
  }
  std::vector<double> of_metrics;
  for (std::size_t i = 0; i < std::min(info.ranges, most_ranges_); ++i) {
    auto range = make_params<range_info_params>();
    range.image = p.image.data();
    range.image_size = p.image.size();
    range.range = i;
    range.delimiter = "/";
    if (!check(call_.range_info(&range), "cuptiRangeProfilerCounterDataGetRangeInfo")) {
      return false;
    }
    if (range.name == nullptr || !p.metrics->evaluate(p.image, i, t.metrics, of_metrics)) {
      error_ = "cuptiProfilerHostEvaluateToGpuValues gave no values";
      return false;
    }
    counted& one = to.emplace_back();
    one.name = range.name;
    for (const quantity& q : t.counts) {
      double sum = 0;
      for (const quantity::term& term : q.terms) {
        const auto at = std::find(t.metrics.begin(), t.metrics.end(), term.metric) - t.metrics.begin();
        sum += term.weight * of_metrics[static_cast<std::size_t>(at)];
      }
      one.values.push_back(sum);
    }
  }
  return true;
}

}  // namespace varve::counters
