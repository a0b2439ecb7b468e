// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "standin_cupti/counters.hpp"

#ifdef VARVE_STANDIN_SPARSE

void standin::reset_counters() {}

#else

#include "counters/abi.hpp"
#include "standin_cupti/entry.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>

namespace standin {

namespace {

namespace counters = varve::counters;
using cupti::result;

struct counted_range {
  std::string name;
  std::map<std::string, double> values;
};

/// What a configuration or counter data image holds is looked up by its number, in its first bytes.
struct image {
  std::vector<std::string> metrics;
  std::vector<counted_range> ranges;
  std::size_t most = 0;
};

struct host {
  std::vector<std::string> metrics;
  std::vector<std::string> known;
  std::vector<const char*> names;
};

struct counting_state {
  std::mutex mutex;
  std::string chip = "GH100";
  std::map<void*, std::unique_ptr<host> > hosts;
  std::map<std::uint64_t, image> images;
  std::uint64_t next_image = 1;
  bool enabled = false;
  bool configured = false;
  bool started = false;
  std::uint64_t config = 0;
  std::uint64_t data = 0;
  std::thread::id thread;
  std::vector<counted_range> pass;
  bool open = false;
  std::size_t drop = 0;
  bool again = false;
  std::string hidden;  // how their names begin; empty: none
  std::vector<std::vector<std::string> > turns;
  std::size_t pushed = 0;
};

counting_state& all() {
  static auto* const leaked = new counting_state;
  return *leaked;
}

constexpr std::uint64_t availability_magic = 0x76'61'72'76'65;
int object_storage = 0;
counters::profiler_object object() { return reinterpret_cast<counters::profiler_object>(&object_storage); }

std::vector<std::string> metrics_of(const std::string& chip) {
  std::vector<std::string> out;
  const auto cores = [&](const std::string& letters) {
    for (const char letter : letters) {
      for (const char* const operation : {"add", "mul", "fma"}) {
        out.push_back(std::string{"smsp__sass_thread_inst_executed_op_"} + letter + operation + "_pred_on");
      }
    }
  };
  if (chip == "GH100") {
    out = {"dram__bytes_read",
           "dram__bytes_write",
           "sm__ops_path_tensor_src_bf16_dst_fp32",
           "sm__ops_path_tensor_src_fp16",
           "sm__ops_path_tensor_op_hgmma_src_fp16",
           "sm__ops_path_tensor_op_hmma_src_fp16",
           "sm__cycles_active"};
    cores("fhd");
  } else if (chip == "small") {
    out = {"fbpa__dram_read_bytes", "fbpa__dram_write_bytes"};
    cores("f");
  }
  return out;
}

bool begins_with(const std::string& text, std::string_view with) { return text.rfind(with, 0) == 0; }

/// One tensor metric a pass, FP16 as a whole in two; what threads execute in a pass of its own.
std::size_t passes_of(const std::vector<std::string>& metrics) {
  std::size_t tensor = 0;
  bool cores = false;
  bool others = false;
  for (const std::string& m : metrics) {
    tensor += m == "sm__ops_path_tensor_src_fp16.sum" ? 2U : begins_with(m, "sm__ops_") ? 1U : 0U;
    cores = cores || begins_with(m, "smsp__sass");
    others = others || begins_with(m, "dram") || begins_with(m, "fbpa");
  }
  return std::max<std::size_t>(tensor, others ? 1 : 0) + (cores ? 1 : 0);
}

std::uint64_t number_in(const std::uint8_t* bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}

/// Every structure has the size that it has in the headers.
template <class Params>
bool is_sound(const Params* p) {
  if (p == nullptr || p->size != Params::bytes() || p->reserved != nullptr) {
    misuse("a structure of another size");
    return false;
  }
  return true;
}

template <class Params, class Body>
result invoke(const char* function, Params* p, needs what, Body&& body) {
  return enter(function, {}, what, logging::full, [&] {
    if (!is_sound(p)) {
      return result::invalid_parameter;
    }
    const std::lock_guard lock{all().mutex};
    return body(all());
  });
}

result refuse(const char* why) {
  misuse(why);
  return result::invalid_operation;
}

host* host_of(counting_state& s, counters::host_object h) {
  const auto found = s.hosts.find(h);
  return found != s.hosts.end() ? found->second.get() : nullptr;
}

}  // namespace

void set_chip(const std::string& name) {
  const std::lock_guard lock{all().mutex};
  all().chip = name;
}

void do_work(const std::string& metric, double value) {
  counting_state& s = all();
  const std::lock_guard lock{s.mutex};
  if (s.started && s.open) {
    s.pass.back().values[metric + ".sum"] += value;
  }
}

void drop_ranges(std::size_t n) {
  const std::lock_guard lock{all().mutex};
  all().drop = n;
}

void hide_counters(const std::string& beginning) {
  const std::lock_guard lock{all().mutex};
  all().hidden = beginning;
}

void want_pass_again(bool again) {
  const std::lock_guard lock{all().mutex};
  all().again = again;
}

bool profiler_enabled() {
  const std::lock_guard lock{all().mutex};
  return all().enabled;
}

std::vector<std::vector<std::string> > turns_started() {
  const std::lock_guard lock{all().mutex};
  return all().turns;
}

std::size_t ranges_pushed() {
  const std::lock_guard lock{all().mutex};
  return all().pushed;
}

void reset_counters() {
  counting_state& s = all();
  const std::lock_guard lock{s.mutex};
  s.chip = "GH100";
  s.hosts.clear();
  s.images.clear();
  s.enabled = s.configured = s.started = s.open = s.again = false;
  s.pass.clear();
  s.drop = s.pushed = 0;
  s.hidden.clear();
  s.turns.clear();
}

}  // namespace standin

using namespace standin;          // NOLINT(google-build-using-namespace): what it exports is C
using namespace varve::counters;  // NOLINT(google-build-using-namespace)

// NOLINTBEGIN(readability-identifier-naming): CUPTI's names
extern "C" {

STANDIN_EXPORT result cuptiProfilerInitialize(initialize_params* p) {
  return invoke("cuptiProfilerInitialize", p, needs::driver, [](counting_state&) { return result::success; });
}

STANDIN_EXPORT result cuptiDeviceGetChipName(chip_name_params* p) {
  return invoke("cuptiDeviceGetChipName", p, needs::driver, [&](counting_state& s) {
    p->name = s.chip.c_str();
    return result::success;
  });
}

STANDIN_EXPORT result cuptiProfilerGetCounterAvailability(availability_params* p) {
  return invoke("cuptiProfilerGetCounterAvailability", p, needs::driver, [&](counting_state& s) {
    if (s.enabled || p->context == nullptr) {
      return refuse("what counters there are is asked for in no context, or while they are in use");
    }
    if (p->image != nullptr) {
      if (p->image_size < sizeof availability_magic) {
        return refuse("no room for what counters there are");
      }
      std::memcpy(p->image, &availability_magic, sizeof availability_magic);
    }
    p->image_size = sizeof availability_magic;
    return result::success;
  });
}

STANDIN_EXPORT result cuptiProfilerHostInitialize(host_initialize_params* p) {
  return invoke("cuptiProfilerHostInitialize", p, needs::nothing, [&](counting_state& s) {
    auto made = std::make_unique<standin::host>();
    made->known = metrics_of(p->chip);
    if (p->availability != nullptr) {
      if (number_in(p->availability) != availability_magic) {
        return refuse("not what was told of counters");
      }
      if (!s.hidden.empty()) {
        made->known.erase(
            std::remove_if(made->known.begin(), made->known.end(),
                           [&](const std::string& name) { return begins_with(name, s.hidden); }),
            made->known.end());
      }
    }
    if (p->profiler_type != range_profiler || metrics_of(p->chip).empty()) {
      return result::invalid_parameter;
    }
    for (const std::string& name : made->known) {
      made->names.push_back(name.c_str());
    }
    p->host = reinterpret_cast<host_object>(made.get());
    s.hosts[p->host] = std::move(made);
    return result::success;
  });
}

STANDIN_EXPORT result cuptiProfilerHostDeinitialize(host_deinitialize_params* p) {
  return invoke("cuptiProfilerHostDeinitialize", p, needs::nothing, [&](counting_state& s) {
    return s.hosts.erase(p->host) == 1 ? result::success : refuse("a host object that is not there");
  });
}

STANDIN_EXPORT result cuptiProfilerHostGetBaseMetrics(base_metrics_params* p) {
  return invoke("cuptiProfilerHostGetBaseMetrics", p, needs::nothing, [&](counting_state& s) {
    standin::host* const h = host_of(s, p->host);
    if (h == nullptr) {
      return refuse("a host object that is not there");
    }
    p->names = h->names.data();
    p->count = h->names.size();
    return result::success;
  });
}

STANDIN_EXPORT result cuptiProfilerHostConfigAddMetrics(add_metrics_params* p) {
  return invoke("cuptiProfilerHostConfigAddMetrics", p, needs::nothing, [&](counting_state& s) {
    standin::host* const h = host_of(s, p->host);
    if (h == nullptr) {
      return refuse("a host object that is not there");
    }
    for (std::size_t i = 0; i < p->count; ++i) {
      const std::string name = p->names[i];
      const bool known = std::any_of(h->known.begin(), h->known.end(),
                                     [&](const std::string& base) { return base + ".sum" == name; });
      if (!known) {
        return result::invalid_parameter;
      }
      h->metrics.push_back(name);
    }
    return result::success;
  });
}

STANDIN_EXPORT result cuptiProfilerHostGetConfigImageSize(config_size_params* p) {
  return invoke("cuptiProfilerHostGetConfigImageSize", p, needs::nothing, [&](counting_state&) {
    p->config_size = 64;
    return result::success;
  });
}

STANDIN_EXPORT result cuptiProfilerHostGetConfigImage(config_params* p) {
  return invoke("cuptiProfilerHostGetConfigImage", p, needs::nothing, [&](counting_state& s) {
    standin::host* const h = host_of(s, p->host);
    if (h == nullptr || p->config_size < sizeof s.next_image) {
      return refuse("no host object, or no room for its image");
    }
    s.images[s.next_image].metrics = h->metrics;
    std::memcpy(p->config, &s.next_image, sizeof s.next_image);
    ++s.next_image;
    return result::success;
  });
}

STANDIN_EXPORT result cuptiProfilerHostGetNumOfPasses(passes_params* p) {
  return invoke("cuptiProfilerHostGetNumOfPasses", p, needs::nothing, [&](counting_state& s) {
    p->passes = passes_of(s.images[number_in(p->config)].metrics);
    return result::success;
  });
}

STANDIN_EXPORT result cuptiProfilerHostEvaluateToGpuValues(evaluate_params* p) {
  return invoke("cuptiProfilerHostEvaluateToGpuValues", p, needs::nothing, [&](counting_state& s) {
    const image& data = s.images[number_in(p->image)];
    if (host_of(s, p->host) == nullptr || p->range >= data.ranges.size()) {
      return refuse("values of a range that is not there");
    }
    for (std::size_t i = 0; i < p->count; ++i) {
      if (std::find(data.metrics.begin(), data.metrics.end(), p->names[i]) == data.metrics.end()) {
        return refuse("values of a metric that was not counted");
      }
      const auto found = data.ranges[p->range].values.find(p->names[i]);
      p->values[i] = found != data.ranges[p->range].values.end() ? found->second : 0;
    }
    return result::success;
  });
}

STANDIN_EXPORT result cuptiRangeProfilerEnable(enable_params* p) {
  return invoke("cuptiRangeProfilerEnable", p, needs::driver, [&](counting_state& s) {
    if (s.enabled || p->context == nullptr) {
      return refuse("the range profiler is enabled twice, or in no context");
    }
    s.enabled = true;
    s.configured = false;
    p->profiler = object();
    return result::success;
  });
}

STANDIN_EXPORT result cuptiRangeProfilerDisable(profiler_params* p) {
  return invoke("cuptiRangeProfilerDisable", p, needs::driver, [&](counting_state& s) {
    if (!s.enabled || s.started || p->profiler != object()) {
      return refuse("a range profiler is disabled that is not enabled, or still counts");
    }
    s.enabled = false;
    return result::success;
  });
}

STANDIN_EXPORT result cuptiRangeProfilerGetCounterDataSize(image_size_params* p) {
  return invoke("cuptiRangeProfilerGetCounterDataSize", p, needs::driver, [&](counting_state& s) {
    if (!s.enabled || p->most_nodes < p->most_ranges) {
      return refuse("the size of an image that cannot be");
    }
    p->image_size = 128 + 64 * p->most_ranges;
    return result::success;
  });
}

STANDIN_EXPORT result cuptiRangeProfilerCounterDataImageInitialize(image_params* p) {
  return invoke("cuptiRangeProfilerCounterDataImageInitialize", p, needs::driver, [&](counting_state& s) {
    if (!s.enabled || s.started || p->image_size < 128) {
      return refuse("an image is made while the range profiler counts, or has no room");
    }
    s.images[s.next_image].most = (p->image_size - 128) / 64;
    std::memcpy(p->image, &s.next_image, sizeof s.next_image);
    ++s.next_image;
    return result::success;
  });
}

STANDIN_EXPORT result cuptiRangeProfilerSetConfig(set_config_params* p) {
  return invoke("cuptiRangeProfilerSetConfig", p, needs::driver, [&](counting_state& s) {
    const bool right = p->range == user_range && p->replay == user_replay && p->nesting_levels == 1 &&
                       p->first_level == 1 && p->target_level == 1 && p->pass == 0 && p->most_ranges > 0;
    if (!s.enabled || s.started || !right) {
      return refuse("a configuration that cannot be");
    }
    s.config = number_in(p->config);
    s.data = number_in(p->image);
    s.images[s.data].metrics = s.images[s.config].metrics;
    s.configured = true;
    return result::success;
  });
}

STANDIN_EXPORT result cuptiRangeProfilerStart(profiler_params* p) {
  return invoke("cuptiRangeProfilerStart", p, needs::driver, [&](counting_state& s) {
    if (!s.configured || s.started || p->profiler != object()) {
      return refuse("started without a configuration of its own, or twice");
    }
    s.started = true;
    s.configured = false;
    s.thread = std::this_thread::get_id();
    s.pass.clear();
    s.turns.push_back(s.images[s.config].metrics);
    return result::success;
  });
}

STANDIN_EXPORT result cuptiRangeProfilerPushRange(push_params* p) {
  return invoke("cuptiRangeProfilerPushRange", p, needs::driver, [&](counting_state& s) {
    if (!s.started || s.open || s.thread != std::this_thread::get_id()) {
      return refuse("a range is pushed inside of another, by another thread or while nothing is counted");
    }
    const bool again =
        std::any_of(s.pass.begin(), s.pass.end(), [&](const counted_range& r) { return r.name == p->name; });
    if (again) {
      return refuse("two ranges of one name are counted together");
    }
    s.pass.push_back({p->name, {}});
    s.open = true;
    ++s.pushed;
    return result::success;
  });
}

STANDIN_EXPORT result cuptiRangeProfilerPopRange(profiler_params* p) {
  return invoke("cuptiRangeProfilerPopRange", p, needs::driver, [&](counting_state& s) {
    if (!s.started || !s.open || s.thread != std::this_thread::get_id()) {
      return refuse("a range is popped that is not open, or by another thread");
    }
    s.open = false;
    return result::success;
  });
}

STANDIN_EXPORT result cuptiRangeProfilerStop(stop_params* p) {
  return invoke("cuptiRangeProfilerStop", p, needs::driver, [&](counting_state& s) {
    if (!s.started) {
      return refuse("stopped without being started");
    }
    s.started = s.open = false;
    p->all_passes = s.again ? 0 : 1;
    return result::success;
  });
}

STANDIN_EXPORT result cuptiRangeProfilerDecodeData(decode_params* p) {
  return invoke("cuptiRangeProfilerDecodeData", p, needs::driver, [&](counting_state& s) {
    if (s.started) {
      return refuse("decoded while it counts");
    }
    image& data = s.images[s.data];
    data.ranges = s.pass;
    const std::size_t over = data.ranges.size() - std::min(data.ranges.size(), data.most);
    p->dropped = std::min(data.ranges.size(), std::max(over, s.drop));
    data.ranges.resize(data.ranges.size() - p->dropped);
    s.drop = 0;
    return result::success;
  });
}

STANDIN_EXPORT result cuptiRangeProfilerGetCounterDataInfo(image_info_params* p) {
  return invoke("cuptiRangeProfilerGetCounterDataInfo", p, needs::driver, [&](counting_state& s) {
    p->ranges = s.images[number_in(p->image)].ranges.size();
    return result::success;
  });
}

STANDIN_EXPORT result cuptiRangeProfilerCounterDataGetRangeInfo(range_info_params* p) {
  return invoke("cuptiRangeProfilerCounterDataGetRangeInfo", p, needs::driver, [&](counting_state& s) {
    const image& data = s.images[number_in(p->image)];
    if (p->range >= data.ranges.size()) {
      return refuse("the name of a range that is not there");
    }
    p->name = data.ranges[p->range].name.c_str();
    return result::success;
  });
}

}  // extern "C"
   // NOLINTEND(readability-identifier-naming)

#endif  // VARVE_STANDIN_SPARSE
