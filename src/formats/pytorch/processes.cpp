// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/processes.hpp"

#include "formats/input/json_text.hpp"
#include "formats/pytorch/number.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

constexpr std::uint64_t largest_32 = std::numeric_limits<std::uint32_t>::max();

bool is_one_word(std::string_view text) noexcept { return text.find(' ') == std::string_view::npos; }

/// Calls with one correlation by their process.
class callers {
 public:
  static constexpr std::uint32_t several = largest_32;
  static constexpr std::uint32_t unknown = largest_32 - 1;  ///< a process of a call without a valid thread

  void add(std::uint64_t id, std::uint32_t process) {
    if (id == 0) {
      return;
    }
    const auto [known, added] = of_.try_emplace(id, process);
    known->second = added || known->second == process ? process : several;
  }
  /// 0: nobody.
  [[nodiscard]] std::uint32_t of(std::uint64_t id) const {
    const auto known = of_.find(id);
    return known != of_.end() ? known->second : 0;
  }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> of_;
};

class numbering {
 public:
  std::uint32_t of(std::uint64_t id, std::uint32_t process) {
    const auto next = static_cast<std::uint32_t>(numbers_.size() + 1);
    return id == 0 ? 0 : numbers_.try_emplace({id, process}, next).first->second;
  }

 private:
  struct key {
    std::uint64_t id;
    std::uint32_t process;
    bool operator==(const key& other) const noexcept { return id == other.id && process == other.process; }
  };
  struct hash {
    std::size_t operator()(const key& k) const noexcept {
      return (k.id ^ (std::uint64_t{k.process} << 40U)) * 0x9E3779B97F4A7C15ULL;
    }
  };
  std::unordered_map<key, std::uint32_t, hash> numbers_;
};

/// By device: the process whose calls launched more than half of it, as far as only one can have.
std::map<std::uint32_t, std::uint32_t> owners(const trace& t, const std::vector<std::uint64_t>& ids,
                                              const callers& called) {
  std::map<std::uint32_t, std::map<std::uint32_t, std::uint64_t>> launched;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::uint32_t process = called.of(ids[i]);
    if (process != 0 && process != callers::several && t.activities.stream[i] < t.streams.size()) {
      ++launched[t.streams[t.activities.stream[i]].device][process];
    }
  }
  std::map<std::uint32_t, std::uint32_t> out;
  for (const auto& [device, by] : launched) {
    std::uint64_t all = 0;
    for (const auto& [process, count] : by) {
      all += count;
    }
    const auto most = std::max_element(by.begin(), by.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most->second * 2 > all) {
      out[device] = most->first;
    }
  }
  return out;
}

}  // namespace

std::optional<std::uint32_t> processes::identity(std::string_view pid) {
  if (!input::is_string(pid) || is_one_word(input::inside(pid))) {
    if (const auto id = identifier(pid)) {
      return static_cast<std::uint32_t>(*id);
    }
  }
  return input::is_string(pid) ? std::optional{texts_from | find(pid)} : std::nullopt;
}

std::uint32_t processes::rank(std::string_view pid) {
  return input::is_string(pid) && !is_one_word(input::inside(pid)) ? texts_[find(pid)].rank : 0;
}

std::uint32_t processes::find(std::string_view pid) {
  if (const auto known = known_.find(pid); known != known_.end()) {
    return known->second;
  }
  const std::string_view token = kept_.keep(pid);
  const std::string_view text = input::inside(token);
  named added{text, 0};
  if (text.starts_with('[') && text.find("] ") != std::string_view::npos) {
    added.rank = ranks_.try_emplace(text.substr(0, text.find("] ") + 1), ranks() + 1).first->second;
  }
  texts_.push_back(added);
  return known_.emplace(token, static_cast<std::uint32_t>(texts_.size() - 1)).first->second;
}

std::vector<std::uint32_t> write_correlations(trace& t, const std::vector<std::uint64_t>& of_calls,
                                              const std::vector<std::uint64_t>& of_activities,
                                              const process_numbers& processes, loss_counts& losses) {
  const auto process_of_call = [&](std::size_t c) {
    const std::uint16_t thread = t.calls.thread[c];
    return thread < processes.of_thread.size() ? processes.of_thread[thread] : callers::unknown;
  };
  bool apart = false;
  std::uint32_t first = callers::unknown;
  for (std::size_t c = 0; c < of_calls.size() && !apart; ++c) {
    const std::uint32_t process = process_of_call(c);
    apart = first != callers::unknown && process != callers::unknown && process != first;
    first = first == callers::unknown ? process : first;
  }
  const auto is_wide = [](std::uint64_t id) { return id > largest_32; };
  numbering numbers;
  if (!apart) {
    const bool wide = std::any_of(of_calls.begin(), of_calls.end(), is_wide) ||
                      std::any_of(of_activities.begin(), of_activities.end(), is_wide);
    const auto narrow = [&](std::uint64_t id) {
      return wide ? numbers.of(id, 0) : static_cast<std::uint32_t>(id);
    };
    std::transform(of_calls.begin(), of_calls.end(), t.calls.correlation.begin(), narrow);
    std::transform(of_activities.begin(), of_activities.end(), t.activities.correlation.begin(), narrow);
    return {};
  }
  callers called;
  for (std::size_t c = 0; c < of_calls.size(); ++c) {
    called.add(of_calls[c], process_of_call(c));
    t.calls.correlation[c] = numbers.of(of_calls[c], process_of_call(c));
  }
  const auto owner = owners(t, of_activities, called);
  std::vector<std::uint32_t> out(of_activities.size(), 0);
  for (std::size_t i = 0; i < of_activities.size(); ++i) {
    const std::uint16_t stream = t.activities.stream[i];
    out[i] = stream < processes.of_stream.size() ? processes.of_stream[stream] : 0;
    if (out[i] == 0) {
      out[i] = called.of(of_activities[i]);
    }
    if (out[i] == callers::several) {
      const auto known = stream < t.streams.size() ? owner.find(t.streams[stream].device) : owner.end();
      out[i] = known != owner.end() ? known->second : 0;
      losses.add(lost::shared_correlation, out[i] == 0 ? 1 : 0);
    }
    // Of no process: a number that no call has.
    t.activities.correlation[i] = out[i] != 0 ? numbers.of(of_activities[i], out[i]) : 0;
  }
  return out;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
