// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// One session that has enough memory: threads launch, capture, replay and update graphs on the stand-in for
// CUPTI, whose calls nest with ids of their own, and what records of the past need is retired meanwhile.
// Every range, call and kernel is in the trace once, with its pass, its layer, its node and its times.
//
//     soak_whole [SECONDS]
#include "record/recording.hpp"
#include "standin_cupti/control.hpp"

#include <varve/varve.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "soak/memory.hpp"

namespace {

constexpr std::uint64_t threads = 4;
constexpr int layers = 8;
constexpr int replays = 10;
constexpr varve::time_ns retire_interval = 5'000'000'000;  // records come within a second
constexpr double least_memory = 256e6;
constexpr double memory_a_second = 16e6;  // some times what is made

std::atomic<bool> enough{false};

/// Any number of things, of which two sets are the same where these are: each once, in any order.
struct many {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;

  void add(std::initializer_list<std::uint64_t> parts) noexcept {
    std::uint64_t h = 0;
    for (const std::uint64_t p : parts) {
      h = (h ^ p) * 0x9E3779B97F4A7C15ULL;
      h ^= h >> 29U;
    }
    ++count;
    sum += h;
  }
  many& operator+=(const many& other) noexcept {
    count += other.count;
    sum += other.sum;
    return *this;
  }
};

struct everything {
  many passes;
  many layers;    // with their pass
  many launches;  // with their pass and layer
  many kernels;   // with their launch, node, layer and times
  std::uint64_t calls = 0;

  everything& operator+=(const everything& other) noexcept {
    passes += other.passes;
    layers += other.layers;
    launches += other.launches;
    kernels += other.kernels;
    calls += other.calls;
    return *this;
  }
};

/// A layer's place in its pass: which of two names it has, and its index. 0: there is none.
constexpr std::uint64_t place_of(bool odd, int index) noexcept {
  return 2 * static_cast<std::uint64_t>(index) + (odd ? 2U : 1U);
}

void note_launch(everything& all, const standin::done& d, std::uint64_t pass, std::uint64_t place, bool odd) {
  ++all.calls;
  all.launches.add({d.outer_correlation, d.captured ? 1U : 0U, pass, place});
  for (std::size_t k = 0; k < d.times.size(); ++k) {
    const bool graph = !d.node_ids.empty();
    all.kernels.add({d.outer_correlation, graph ? d.node_ids[k] : 0,
                     graph ? place_of(odd, static_cast<int>(k)) : place, d.times[k].begin, d.times[k].end});
  }
}

void run_layers(everything& all, standin::stream s, std::uint64_t pass, bool odd) {
  for (int i = 0; i < layers; ++i) {
    varve::sequence layer = odd ? varve::sequence{"odd", i} : varve::sequence{"even", i};
    all.layers.add({pass, place_of(odd, i)});
    note_launch(all, standin::launch(s, "gemm"), pass, place_of(odd, i), odd);
  }
}

void begin_pass(everything& all, varve::phase& p, std::uint64_t pass) {
  p.decode_tokens(static_cast<std::int64_t>(pass));
  all.passes.add({pass});
}

standin::graph capture(everything& all, standin::stream s, std::uint64_t pass, bool odd) {
  varve::phase p{varve::capture};
  begin_pass(all, p, pass);
  all.calls += 2;
  standin::begin_capture(s);
  run_layers(all, s, pass, odd);
  return standin::end_capture(s);
}

void replay(everything& all, standin::stream s, standin::executable e, std::uint64_t& pass, bool odd) {
  for (int i = 0; i < replays; ++i) {
    varve::phase p{varve::decode};
    begin_pass(all, p, ++pass);
    note_launch(all, standin::launch(s, e), pass, 0, odd);
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}

void engine(everything& all, std::uint64_t number) {
  std::uint64_t pass = number << 40U;
  const standin::stream s = standin::create_stream();
  while (!enough) {
    const standin::graph first = capture(all, s, ++pass, false);
    const standin::executable e = standin::instantiate(first);
    standin::destroy(first);
    for (int i = 0; i < replays; ++i) {
      varve::phase p{varve::prefill};
      begin_pass(all, p, ++pass);
      run_layers(all, s, pass, i % 2 != 0);
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    replay(all, s, e, pass, false);
    for (const bool odd : {true, false, false}) {
      const standin::graph next = capture(all, s, ++pass, odd);
      standin::update(e, next);
      standin::destroy(next);
      all.calls += 2;
      replay(all, s, e, pass, odd);
    }
    standin::destroy(e);
    all.calls += 3;
  }
  standin::destroy_stream(s);
}

/// What a trace tells of the same.
class told {
 public:
  explicit told(const varve::trace& t) : t_{t}, number_(t.ranges.size()) {
    for (const varve::range_attribute& a : t.attributes) {
      number_[a.range] = static_cast<std::uint64_t>(a.value);
    }
    for (std::uint32_t r = 0; r < t.ranges.size(); ++r) {
      if (t.ranges[r].kind == varve::range_kind::phase) {
        all_.passes.add({number_[r]});
      } else {
        all_.layers.add({pass_of(r), place_of_label(t.ranges[r].label)});
      }
    }
    all_.calls = t.calls.size();
    for (std::uint32_t c = 0; c < t.calls.size(); ++c) {
      calls_.emplace_back(t.calls.correlation[c], c);
    }
    std::sort(calls_.begin(), calls_.end());
    add_calls();
    add_kernels();
  }
  [[nodiscard]] const everything& all() const noexcept { return all_; }
  /// Each has an id of its own.
  [[nodiscard]] bool repeats_calls() const {
    return std::adjacent_find(calls_.begin(), calls_.end(), [](const auto& a, const auto& b) {
             return a.first == b.first;
           }) != calls_.end();
  }

 private:
  [[nodiscard]] std::uint64_t place_of_label(std::uint32_t label) const {
    if (label == varve::none || t_.labels[label].kind != varve::range_kind::layer) {
      return 0;
    }
    const varve::label_node& l = t_.labels[label];
    return place_of(t_.strings[l.name] == "odd", l.index);
  }
  [[nodiscard]] std::uint64_t pass_of(std::uint32_t r) const {
    while (r != varve::none && t_.ranges[r].kind != varve::range_kind::phase) {
      r = t_.ranges[r].parent;
    }
    return r != varve::none ? number_[r] : 0;
  }
  [[nodiscard]] std::uint64_t place_of_range(std::uint32_t r) const {
    return r != varve::none ? place_of_label(t_.ranges[r].label) : 0;
  }
  void add_calls() {
    const varve::call_columns& c = t_.calls;
    for (std::size_t i = 0; i < c.size(); ++i) {
      if (c.kind[i] == varve::call_kind::launch || c.kind[i] == varve::call_kind::graph_launch) {
        all_.launches.add({c.correlation[i], c.captured[i], pass_of(c.range[i]), place_of_range(c.range[i])});
      }
    }
  }
  void add_kernels() {
    const varve::activity_columns& a = t_.activities;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const auto call = std::lower_bound(calls_.begin(), calls_.end(), std::pair{a.correlation[i], 0U});
      const bool known = call != calls_.end() && call->first == a.correlation[i];
      const bool graph = a.node[i] != varve::none;
      const std::uint64_t place = graph   ? place_of_label(t_.graph_nodes[a.node[i]].label)
                                  : known ? place_of_range(t_.calls.range[call->second])
                                          : 0;
      all_.kernels.add({known ? a.correlation[i] : 0, graph ? t_.graph_nodes[a.node[i]].id : 0, place,
                        static_cast<std::uint64_t>(a.begin[i]), static_cast<std::uint64_t>(a.end[i])});
    }
  }

  const varve::trace& t_;
  std::vector<std::uint64_t> number_;  // of each phase
  std::vector<std::pair<std::uint32_t, std::uint32_t>> calls_;
  everything all_;
};

bool check(const char* what, const many& is, const many& should) {
  std::printf("%12llu %s\n", static_cast<unsigned long long>(is.count), what);
  if (is.count != should.count) {
    std::printf("wrong: there were %llu\n", static_cast<unsigned long long>(should.count));
  } else if (is.sum != should.sum) {
    std::printf("wrong: as many as there were, and not the same\n");
  }
  return is.count == should.count && is.sum == should.sum;
}

bool check(const varve::trace& t, const everything& made) {
  const told whole{t};
  const everything& is = whole.all();
  bool right = check("passes", is.passes, made.passes);
  right = check("layers", is.layers, made.layers) && right;
  right = check("launches", is.launches, made.launches) && right;
  right = check("kernels", is.kernels, made.kernels) && right;
  right = check("calls", many{is.calls, 0}, many{made.calls, 0}) && right;
  if (whole.repeats_calls()) {
    std::printf("wrong: a call is there twice\n");
    right = false;
  }
  const auto stale = std::count_if(t.graph_nodes.begin(), t.graph_nodes.end(),
                                   [](const varve::graph_node& n) { return n.stale; });
  if (stale != 0) {
    std::printf("wrong: %lld graph nodes whose label may be stale\n", static_cast<long long>(stale));
    right = false;
  }
  for (const varve::loss& l : t.losses) {
    std::printf("wrong: lost %llu: %s\n", static_cast<unsigned long long>(l.count), l.what.c_str());
    right = false;
  }
  for (const std::string& m : standin::misuses()) {
    std::printf("wrong: misuse of CUPTI: %s\n", m.c_str());
    right = false;
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  const double length = argc > 1 ? std::strtod(argv[1], nullptr) : 60;
  standin::config settings;
  settings.correlation = standin::nested_correlation::inner;
  standin::reset(settings);
  varve::record::retire_after(retire_interval);
  varve::session_options options;
  options.gpu.cupti_library = "libcupti.so.13";  // this program links it: the stand-in
  options.marker_memory = std::size_t{64} << 20U;
  options.trace_memory = static_cast<std::size_t>(least_memory + memory_a_second * length);
  varve::session session{options};
  std::array<everything, threads> made{};
  std::vector<std::thread> engines;
  for (std::uint64_t i = 0; i < threads; ++i) {
    engines.emplace_back([&, i] { engine(made[i], i + 1); });
  }
  std::this_thread::sleep_for(std::chrono::duration<double>{length});
  enough = true;
  everything all;
  for (std::uint64_t i = 0; i < threads; ++i) {
    engines[i].join();
    all += made[i];
  }
  const varve::record::recording_size size = varve::record::size_of_recording();
  const varve::trace t = session.stop();
  std::printf("one session of %.0f s, %.0f MB kept, %.0f MB resident at most; retired %u times\n", length,
              static_cast<double>(size.used) / 1e6, soak::memory("VmHWM:") / 1e6, size.retired);
  return check(t, all) ? 0 : 1;
}
