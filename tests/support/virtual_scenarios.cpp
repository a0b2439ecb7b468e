// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "virtual_scenarios.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "virtual_device.hpp"

namespace virtual_device {

namespace {

class dice {
 public:
  explicit dice(random_source& source) : source_{source} {}

  /// True in `percent` of a hundred throws.
  bool chance(std::uint64_t percent) { return source_() % 100 < percent; }
  time_ns between(time_ns low, time_ns high) {
    return low + static_cast<time_ns>(source_() % static_cast<std::uint64_t>(high - low + 1));
  }
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[source_() % all.size()];
  }

 private:
  random_source& source_;
};

class engine {
 public:
  explicit engine(random_source& source) : d_{source} {
    m_.nested_calls = d_.one_of<machine::nesting>(
        {machine::nesting::off, machine::nesting::same_correlation, machine::nesting::own_correlation});
    phases_ = !d_.chance(10);
    devices_ = d_.chance(35) ? std::vector<std::uint32_t>{5, 2} : std::vector<std::uint32_t>{0};
    for (const std::uint32_t device : devices_) {
      m_.device(device, d_.chance(30) ? static_cast<std::uint32_t>(d_.between(1, 2)) : 0);
    }
  }

  recording run() {
    if (d_.chance(30)) {
      for (std::int32_t i = 0; i < 2; ++i) {
        const time_ns begin = d_.between(0, 100'000);
        requests_.push_back(m_.request("request", i, begin, begin + d_.between(1, 900'000)));
      }
    }
    const time_ns threads = d_.between(1, 3);
    std::vector<flag> flags;
    for (time_ns t = 0; t < threads; ++t) {
      host& h = m_.new_host();
      for (const std::uint32_t device : devices_) {
        for (time_ns s = d_.between(1, 2); s > 0; --s) {
          streams_.push_back(m_.new_stream(device));
        }
      }
      if (!flags.empty() && d_.chance(30)) {
        h.await(flags.back());
      }
      script(h);
      flags.push_back(h.post());
    }
    return m_.run();
  }

 private:
  void new_costs(host& h) {
    h.cost.launch = d_.between(800, 7'000);
    h.cost.graph_launch = d_.between(2'000, 12'000);
    h.cost.copy = d_.between(900, 8'000);
    h.cost.set = d_.between(700, 4'000);
    h.cost.synchronise = d_.between(500, 3'000);
    h.cost.allocate = d_.between(1'000, 30'000);
    h.cost.graph_build = d_.between(10'000, 40'000);
    h.cost.event = d_.between(100, 900);
    h.cost.captured = d_.between(300, 900);
    h.submit_latency = d_.chance(20) ? d_.between(0, 9'000) : -1;
  }

  kernel some_kernel() {
    static const std::vector<std::pair<std::string, std::string>> names{
        {"ampere_sgemm_128x64_tn", "linear"},
        {"ncclDevKernel_AllReduce_Sum_bf16", "collective"},
        {"first", "other"},
        {"second", "other"},
        {"third", "other"}};
    const auto& [name, category] = d_.one_of(names);
    kernel k;
    k.name = name;
    k.category = category;
    k.duration = d_.chance(4) ? 0 : d_.between(1, d_.chance(20) ? 60'000 : 9'000);
    k.delay = d_.between(1, 400);
    k.early = d_.chance(15) ? d_.between(0, 6'000) : -1;
    k.grid = static_cast<std::uint32_t>(d_.between(1, 3));
    return k;
  }

  void work(host& h, stream on) {
    new_costs(h);
    if (d_.chance(80)) {
      return h.launch(on, some_kernel());
    }
    const std::int64_t bytes = d_.between(1, 1'000'000);
    const time_ns duration = d_.between(1, 15'000);
    d_.chance(60) ? h.copy(on, bytes, duration) : h.set(on, bytes, duration);
  }

  void action(host& h) {
    new_costs(h);
    const stream on = d_.one_of(streams_);
    switch (d_.between(0, 13)) {
      case 0:
        return h.spend(d_.between(1, 40'000));
      case 1:
        return h.synchronise(on);
      case 2:
        return h.allocate();
      case 3:
        events_.push_back(m_.new_event());
        return h.record(events_.back(), on);
      case 4:
        return events_.empty() ? h.spend(77) : h.wait(on, d_.one_of(events_));
      case 5:
        return h.copy_and_wait(on, 4'096, d_.between(1, 15'000));
      case 6:
      case 7:
        return executables_.empty() ? work(h, on) : h.launch(on, d_.one_of(executables_));
      case 8:
        if (!executables_.empty() && d_.chance(30)) {  // the nodes get new records, with the same ids
          return h.update(executables_.back(), graphs_.back(), d_.chance(50));
        }
        return d_.chance(50) ? h.call(varve::call_kind::host_function, d_.between(100, 900))
                             : h.synchronise_device(d_.one_of(devices_));
      default:
        return work(h, on);
    }
  }

  void actions(host& h, time_ns most) {
    for (time_ns n = d_.between(0, most); n > 0; --n) {
      action(h);
    }
  }

  void layers(host& h, void (engine::*inside)(host&)) {
    for (time_ns n = d_.between(1, 3); n > 0; --n) {
      const std::string name = d_.one_of<std::string>({"attention", "mlp"});
      const time_ns index = d_.between(0, 1);
      scope layer = h.layer(name, static_cast<std::int32_t>(index));
      if (name == "mlp" && index == 0) {
        layer.work({1'000, 100, 0, 0});  // one path declares one work, captured or not
      }
      (this->*inside)(h);
      if (d_.chance(10) && inside == &engine::few_actions) {
        hand_over(h, layer);
      }
      if (d_.chance(4) && inside == &engine::few_actions && phases_) {
        run_pass(h, true);
      }
      if (d_.chance(40)) {
        scope op = h.op(d_.one_of<std::string>({"projection", "softmax"}));
        if (index == 1) {
          op.work({10, 7, 0, 0});
        }
        (this->*inside)(h);
      }
      if (d_.chance(40)) {
        (this->*inside)(h);
      }
    }
  }

  /// Another thread goes on in the layer; the engine may wait for it or not.
  void hand_over(host& h, const scope& layer) {
    host& worker = m_.new_host();
    worker.await(h.post());
    const scope here = worker.adopt(layer);
    actions(worker, 3);
    const flag done = worker.post();
    if (d_.chance(50)) {
      h.await(done);
    }
  }

  void few_actions(host& h) { actions(h, 3); }

  void run_pass(host& h, bool nested) {
    const std::string phase = d_.one_of<std::string>({"prefill", "decode"});
    scope pass = h.phase(phase, d_.one_of<std::string>({"", "target", "draft"}));
    if (d_.chance(50)) {
      pass.attribute(VARVE_DECODE_TOKENS, d_.between(1, 9))
          .attribute(VARVE_DECODE_SEQUENCES, d_.between(1, 9));
      pass.attribute(VARVE_PREFILL_TOKENS, d_.between(1, 9))
          .attribute(VARVE_EMITTED_TOKENS, d_.between(1, 9));
    }
    for (const ref request : requests_) {
      if (d_.chance(50)) {
        pass.serves(request);
      }
    }
    actions(h, 2);
    layers(h, &engine::few_actions);
    if (!nested && d_.chance(20)) {
      run_pass(h, true);
      actions(h, 2);
    }
  }

  // --- graphs ---

  void captured_work(host& h) {
    for (time_ns n = d_.between(1, 2); n > 0; --n) {
      new_costs(h);
      if (d_.chance(20)) {
        const event fork = m_.new_event();
        const event join = m_.new_event();
        h.record(fork, capture_);
        h.wait(side_, fork);
        h.launch(side_, some_kernel());
        h.launch(capture_, some_kernel());
        h.record(join, side_);
        h.wait(capture_, join);
      } else if (!graphs_.empty() && d_.chance(10)) {
        h.launch(capture_, d_.one_of(graphs_));
      } else {
        work(h, capture_);
      }
    }
  }

  graph capture(host& h) {
    h.begin_capture(capture_);
    if (d_.chance(20)) {
      captured_work(h);
    }
    layers(h, &engine::captured_work);
    return h.end_capture(capture_);
  }

  void build_graphs(host& h) {
    const std::uint32_t device = d_.one_of(devices_);
    capture_ = m_.new_stream(device);
    side_ = m_.new_stream(device);
    graphs_.clear();
    const bool in_phase = phases_ && d_.chance(50);
    const auto build = [&] {
      new_costs(h);
      graphs_.push_back(capture(h));
      executables_.push_back(h.instantiate(graphs_.back()));
      if (d_.chance(20)) {
        h.update(executables_.back(), graphs_.back(), d_.chance(50));
      }
    };
    for (time_ns n = d_.between(1, 2); n > 0; --n) {
      if (in_phase) {
        const scope pass = h.phase("capture");
        build();
      } else {
        build();
      }
    }
  }

  void script(host& h) {
    h.spend(d_.between(1, 50'000));
    executables_.clear();  // other threads' may not have been built yet
    if (d_.chance(50)) {
      build_graphs(h);
    }
    for (time_ns n = d_.between(1, 3); n > 0; --n) {
      if (phases_) {
        run_pass(h, false);
      } else {
        layers(h, &engine::few_actions);
      }
      if (d_.chance(30)) {
        actions(h, 2);  // outside any pass
      }
      if (d_.chance(10)) {
        layers(h, &engine::few_actions);
      }
      if (d_.chance(40)) {
        h.synchronise(d_.one_of(streams_));
      }
      h.spend(d_.between(1, 30'000));
    }
  }

  dice d_;
  machine m_;
  bool phases_ = true;
  std::vector<std::uint32_t> devices_;
  std::vector<stream> streams_;
  std::vector<event> events_;
  std::vector<graph> graphs_;
  std::vector<executable> executables_;
  std::vector<ref> requests_;
  stream capture_{};
  stream side_{};
};

}  // namespace

recording random_scenario(std::uint64_t seed) {
  random_source source{seed};
  return engine{source}.run();
}

void damage(recording& r, random_source& random) {
  dice d{random};
  time_ns end = 0;
  for (const call_record& c : r.calls) {
    end = std::max(end, c.end);
  }
  if (d.chance(30)) {
    drop_graph_records(r, d.chance(50) ? 0.2 : 1, random);
  }
  if (d.chance(30)) {
    lose_times(r, 0.1, random);
  }
  if (d.chance(30)) {
    forget_labels(r, d.between(0, end));
  }
  if (d.chance(20)) {
    merge_graph_records(r);
  }
  if (d.chance(20)) {
    skew_devices(r, d.between(1, 6'000));
  } else if (d.chance(40)) {
    start_window(r, d.between(0, end / 2));
  } else {
    wrap_correlations(r, static_cast<std::uint32_t>(d.between(20, 60)));
  }
  if (d.chance(50)) {
    shift_clock(r, 1'750'000'000'000'000'000);
  }
}

}  // namespace virtual_device
