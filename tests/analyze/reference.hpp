// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The definitions of docs/metrics.md taken literally: every instant of a short trace is looked at on its
// own. Slow, and shares nothing with the analyzer. For traces without graphs' labels and with times in
// [0, until).
#ifndef VARVE_TESTS_ANALYZE_REFERENCE_HPP
#define VARVE_TESTS_ANALYZE_REFERENCE_HPP

#include <varve/report.hpp>
#include <varve/trace.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace varve_test {

using varve::none;
using varve::time_ns;

struct reference_row {
  time_ns own = 0, all = 0;  // instants in which it ran, without and with the rows below
  double shared = 0;
  time_ns alone = 0, alone_all = 0;
  std::map<std::string, time_ns> idle;  // starved by what the host did, "gap"
};

class reference {
 public:
  using row_key = std::tuple<std::string, std::string, std::uint32_t>;  // phase, path, device
  using phase_key = std::pair<std::string, std::uint32_t>;              // phase, device

  reference(const varve::trace& t, time_ns until) : t_{t}, horizon_{until} {
    place_passes();
    collect();
    for (time_ns now = 0; now < horizon_; ++now) {
      for (const std::uint32_t device : devices) {
        instant(now, device);
      }
    }
  }

  std::set<std::uint32_t> devices;
  std::map<row_key, reference_row> rows;
  std::map<row_key, reference_row> labels;  // by name instead of path
  std::map<std::tuple<std::uint32_t, std::string, std::uint32_t>, time_ns>
      in_pass;  // by pass, path ("*": all in it), device
  std::map<phase_key, std::map<std::string, time_ns>> walls;
  std::map<std::uint32_t, std::map<std::string, time_ns>>
      whole;  // from the first pass to the last, by device

  // In order of begin.
  std::vector<std::uint32_t> passes_of(const std::string& phase, std::uint32_t device) const {
    std::vector<std::uint32_t> out;
    for (const auto& [pass, end] : pass_end_) {
      if (name_of(pass) == phase && places_.at(pass).count(device) != 0) {
        out.push_back(pass);
      }
    }
    std::stable_sort(out.begin(), out.end(), [&](std::uint32_t a, std::uint32_t b) {
      return t_.ranges[a].begin < t_.ranges[b].begin;
    });
    return out;
  }
  time_ns length_of(std::uint32_t pass) const { return pass_end_.at(pass) - t_.ranges[pass].begin; }

 private:
  struct work {
    std::uint32_t record;
    std::uint32_t device;
    time_ns begin, end;  // effective
    std::uint32_t call;
    std::uint32_t pass;
    std::string phase, path;
  };

  std::uint32_t pass_of(std::uint32_t r) const {
    while (r != none && t_.ranges[r].kind != varve::range_kind::phase) {
      r = t_.ranges[r].parent;
    }
    return r;
  }
  std::string name_of(std::uint32_t r) const {
    return std::string{t_.strings[t_.labels[t_.ranges[r].label].name]};
  }
  std::string path_of(std::uint32_t r) const {
    if (r == none || t_.ranges[r].kind == varve::range_kind::phase) {
      return {};
    }
    const varve::label_node& l = t_.labels[t_.ranges[r].label];
    const std::string step =
        name_of(r) + (l.index == varve::no_index ? std::string{} : ' ' + std::to_string(l.index));
    const std::string above = path_of(t_.ranges[r].parent);
    return above.empty() ? step : above + " / " + step;
  }

  void place_passes() {
    for (std::uint32_t r = 0; r < t_.ranges.size(); ++r) {
      if (t_.ranges[r].kind == varve::range_kind::phase) {
        pass_end_[r] = t_.ranges[r].end;
      }
    }
  }

  void collect() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < t_.activities.size(); ++i) {
      if (t_.activities.begin[i] != 0 || t_.activities.end[i] != 0) {
        order.push_back(i);
      }
    }
    const varve::activity_columns& a = t_.activities;
    std::sort(order.begin(), order.end(), [&](std::uint32_t x, std::uint32_t y) {
      const auto key = [&](std::uint32_t i) {
        return std::tuple{a.begin[i],  a.end[i],  a.correlation[i], a.node[i],
                          a.stream[i], a.name[i], a.kind[i]};
      };
      return key(x) < key(y);
    });
    std::map<std::uint16_t, time_ns> stream_end;
    for (const std::uint32_t i : order) {
      work w;
      w.record = i;
      w.device = t_.streams[a.stream[i]].device;
      time_ns& ran = stream_end.try_emplace(a.stream[i], -1).first->second;
      w.begin = std::max(a.begin[i], ran);
      ran = std::max(ran, a.end[i]);
      w.end = std::max(w.begin, a.end[i]);
      w.call = none;
      for (std::uint32_t c = 0; c < t_.calls.size(); ++c) {
        if (a.correlation[i] != 0 && t_.calls.correlation[c] == a.correlation[i] &&
            t_.calls.captured[c] == 0) {
          w.call = c;
        }
      }
      const std::uint32_t range = w.call != none ? t_.calls.range[w.call] : none;
      const std::uint32_t pass = pass_of(range);
      w.pass = pass;
      w.phase = pass != none ? name_of(pass) : std::string{};
      w.path = path_of(range);
      if (pass != none) {
        pass_end_[pass] = std::max(pass_end_[pass], a.end[i]);
      }
      devices.insert(w.device);
      works_.push_back(w);
    }
    std::stable_sort(works_.begin(), works_.end(),
                     [](const work& x, const work& y) { return x.begin < y.begin; });
    place_on_devices();
    for (const auto& [pass, end] : pass_end_) {
      first_ = std::min(first_, t_.ranges[pass].begin);
      last_ = std::max(last_, end);
    }
  }

  // On a device, or on any.
  std::set<std::string> open_phases(time_ns now, std::uint32_t device = none) const {
    std::set<std::string> open;
    for (const auto& [pass, end] : pass_end_) {
      if (t_.ranges[pass].begin <= now && now < end &&
          (device == none || places_.at(pass).count(device) != 0)) {
        open.insert(name_of(pass));
      }
    }
    return open;
  }

  // The devices on which what was launched in a range, or in one inside it, ran.
  std::set<std::uint32_t> devices_of(std::uint32_t range) const {
    std::set<std::uint32_t> out;
    for (const work& w : works_) {
      for (std::uint32_t r = w.call != none ? t_.calls.range[w.call] : none; r != none;
           r = t_.ranges[r].parent) {
        if (r == range) {
          out.insert(w.device);
        }
      }
    }
    return out;
  }

  // Where passes count: on those devices; one without any on the lowest on which both its kind and the range
  // around it ran, else that range, else its kind, else anything.
  void place_on_devices() {
    std::map<std::string, std::set<std::uint32_t>> of_phase;
    for (const auto& [pass, end] : pass_end_) {
      places_[pass] = devices_of(pass);
      of_phase[name_of(pass)].insert(places_[pass].begin(), places_[pass].end());
    }
    for (auto& [pass, place] : places_) {
      std::set<std::uint32_t> around;
      for (std::uint32_t r = pass; r != none && around.empty(); r = t_.ranges[r].parent) {
        around = devices_of(r);
      }
      if (!place.empty()) {
        continue;
      }
      const std::set<std::uint32_t>& kind = of_phase[name_of(pass)];
      std::vector<std::uint32_t> both;
      std::set_intersection(around.begin(), around.end(), kind.begin(), kind.end(), std::back_inserter(both));
      place = {!both.empty()     ? both.front()
               : !around.empty() ? *around.begin()
               : !kind.empty()   ? *kind.begin()
                                 : *devices.begin()};
    }
  }

  // What a thread does at an instant, seen from outside: its outermost call.
  std::string doing(std::uint16_t thread, time_ns now) const {
    std::string what = "other";
    time_ns longest = 0;
    for (std::uint32_t c = 0; c < t_.calls.size(); ++c) {
      const time_ns length = t_.calls.end[c] - t_.calls.begin[c];
      if (t_.calls.thread[c] != thread || t_.calls.begin[c] > now || t_.calls.end[c] <= now ||
          length <= longest) {
        continue;
      }
      switch (t_.calls.kind[c]) {
        case varve::call_kind::launch:
        case varve::call_kind::graph_launch:
        case varve::call_kind::copy:
        case varve::call_kind::set:
          what = t_.calls.captured[c] != 0 ? "building" : "launching";
          break;
        case varve::call_kind::graph_build:
          what = "building";
          break;
        case varve::call_kind::synchronise:
          what = "synchronising";
          break;
        case varve::call_kind::allocate:
          what = "allocating";
          break;
        default:
          continue;  // hides nothing
      }
      longest = length;
    }
    return what;
  }

  bool is_nested(std::uint32_t c) const {
    for (std::uint32_t o = 0; o < t_.calls.size(); ++o) {
      if (t_.calls.thread[o] == t_.calls.thread[c] && t_.calls.begin[o] < t_.calls.begin[c] &&
          t_.calls.end[o] > t_.calls.end[c]) {
        return true;
      }
    }
    return false;
  }

  // The lowest device that a phase ran on, or the lowest of all.
  std::uint32_t device_of(const std::string& phase) const {
    std::uint32_t lowest = none;
    for (const work& w : works_) {
      lowest = w.phase == phase ? std::min(lowest, w.device) : lowest;
    }
    return lowest != none ? lowest : *devices.begin();
  }

  // A launch of a graph of which nothing is recorded is under way.
  bool records_missing(time_ns now, std::uint32_t device) const {
    for (std::uint32_t c = 0; c < t_.calls.size(); ++c) {
      if (t_.calls.kind[c] != varve::call_kind::graph_launch || is_nested(c) ||
          std::any_of(works_.begin(), works_.end(), [&](const work& w) { return w.call == c; })) {
        continue;
      }
      const std::uint32_t pass = pass_of(t_.calls.range[c]);
      if (device != (pass != none ? *places_.at(pass).begin() : device_of(""))) {
        continue;
      }
      time_ns end = pass != none ? pass_end_.at(pass) : horizon_;
      time_ns next = horizon_;
      for (std::uint32_t s = 0; s < t_.calls.size(); ++s) {
        if (t_.calls.kind[s] == varve::call_kind::synchronise && t_.calls.thread[s] == t_.calls.thread[c] &&
            t_.calls.begin[s] >= t_.calls.end[c] && t_.calls.begin[s] < next) {
          next = t_.calls.begin[s];
          end = std::min(end, t_.calls.end[s]);
        }
      }
      if (t_.calls.begin[c] <= now && now < end) {
        return true;
      }
    }
    return false;
  }

  static bool is_below(const std::string& path, const std::string& root) {
    return path == root || (!root.empty() && path.rfind(root + " / ", 0) == 0);
  }
  static std::set<std::string> names_in(std::string path) {
    std::set<std::string> names;
    while (!path.empty()) {
      const std::size_t end = std::min(path.find(" / "), path.size());
      const std::string step = path.substr(0, end);
      names.insert(step.substr(0, step.find(' ')));
      path.erase(0, std::min(end + 3, path.size()));
    }
    return names;
  }

  void instant(time_ns now, std::uint32_t device) {
    std::set<row_key> active;
    std::set<std::string> kinds;
    std::set<std::pair<std::uint32_t, std::string>> ran;
    for (const work& w : works_) {
      if (w.device != device || w.begin > now || w.end <= now) {
        continue;
      }
      active.insert({w.phase, w.path, device});
      ran.insert({{w.pass, "*"}, {w.pass, w.path}});
      for (std::size_t cut = 0; (cut = w.path.find(" / ", cut)) != std::string::npos; ++cut) {
        ran.insert({w.pass, w.path.substr(0, cut)});
      }
      const varve::activity_kind kind = t_.activities.kind[w.record];
      const std::string name{t_.strings[t_.activities.name[w.record]]};
      kinds.insert(kind == varve::activity_kind::copy || kind == varve::activity_kind::set ? "copy"
                   : name.find("nccl") != std::string::npos                                ? "communication"
                                                                                           : "compute");
    }
    for (const auto& [pass, path] : ran) {
      ++in_pass[{pass, path, device}];
    }
    std::string state;
    if (!active.empty()) {
      state = kinds.count("compute") != 0         ? "compute"
              : kinds.count("communication") != 0 ? "communication"
                                                  : "copy";
      share(active);
    } else {
      state = idle(now, device);
    }
    if (now < first_ || now >= last_) {
      return;
    }
    const std::set<std::string> open = open_phases(now);
    ++whole[device][open.empty() ? "no pass" : state];
    for (const std::string& phase : open_phases(now, device)) {
      ++walls[{phase, device}][state];
    }
  }

  void share(const std::set<row_key>& active) {
    std::set<row_key> touched;
    std::set<row_key> named;
    for (const auto& [phase, path, device] : active) {
      reference_row& row = rows[{phase, path, device}];
      ++row.own;
      row.shared += 1.0 / static_cast<double>(active.size());
      row.alone += active.size() == 1 ? 1 : 0;
      touched.insert({phase, path, device});
      for (std::size_t cut = path.rfind(" / "); cut != std::string::npos; cut = path.rfind(" / ", cut - 1)) {
        touched.insert({phase, path.substr(0, cut), device});
        if (cut == 0) {
          break;
        }
      }
      for (const std::string& name : names_in(path)) {
        named.insert({phase, name, device});
        labels[{phase, name, device}].shared += 1.0 / static_cast<double>(active.size());
      }
    }
    for (const row_key& key : touched) {
      ++rows[key].all;
      rows[key].alone_all += std::all_of(active.begin(), active.end(), [&](const row_key& a) {
        return std::get<0>(a) == std::get<0>(key) && is_below(std::get<1>(a), std::get<1>(key));
      });
    }
    for (const row_key& key : named) {
      ++labels[key].all;
      labels[key].alone_all += std::all_of(active.begin(), active.end(), [&](const row_key& a) {
        return std::get<0>(a) == std::get<0>(key) && names_in(std::get<1>(a)).count(std::get<1>(key)) != 0;
      });
    }
  }

  std::string idle(time_ns now, std::uint32_t device) {
    const work* next = nullptr;
    time_ns submitted = horizon_;
    for (const work& w : works_) {
      if (w.device != device || w.begin <= now) {
        continue;
      }
      next = next == nullptr ? &w : next;
      if (w.call != none) {
        submitted = std::min({submitted, t_.calls.end[w.call], t_.activities.begin[w.record]});
      }
    }
    std::string state;
    if (next != nullptr && next->call == none) {
      state = "unrecorded";
    } else if (records_missing(now, device)) {
      state = "unrecorded";
    } else if (next != nullptr && now >= submitted) {
      state = "gap";
    } else {
      std::uint16_t thread = varve::narrow_none;
      if (next != nullptr) {
        thread = t_.calls.thread[next->call];
      } else {  // of the open pass that began last, else of the last launch
        for (const work& w : works_) {
          thread = w.device != device ? thread
                   : w.call != none   ? t_.calls.thread[w.call]
                                      : varve::narrow_none;
        }
        time_ns begin = -1;
        for (const auto& [pass, end] : pass_end_) {
          if (t_.ranges[pass].begin <= now && now < end && t_.ranges[pass].begin >= begin &&
              places_.at(pass).count(device) != 0) {
            begin = t_.ranges[pass].begin;
            thread = t_.ranges[pass].thread;
          }
        }
      }
      state = doing(thread, now);
    }
    if (next != nullptr && state != "unrecorded" && open_phases(now, device).count(next->phase) != 0) {
      ++rows[{next->phase, next->path, device}].idle[state];
    }
    return state;
  }

  const varve::trace& t_;
  time_ns horizon_;
  std::map<std::uint32_t, time_ns> pass_end_;                // by range
  std::map<std::uint32_t, std::set<std::uint32_t>> places_;  // devices by pass
  std::vector<work> works_;
  time_ns first_ = 1 << 30;
  time_ns last_ = 0;
};

}  // namespace varve_test

#endif  // VARVE_TESTS_ANALYZE_REFERENCE_HPP
