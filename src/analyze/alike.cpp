// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/alike.hpp"

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

/// Reports of files may have any numbers: times are cut so that the sum of a few of them fits.
class time_cutter {
 public:
  static void cut(report& r) noexcept {
    for (phase_row& p : r.phases) {
      cut(p.partition);
      cut(p.total);
    }
    for (device_row& d : r.devices) {
      cut(d.partition);
    }
    for (std::vector<row>* const rows : {&r.layers, &r.labels, &r.kernels, &r.categories}) {
      for (row& one : *rows) {
        cut(one.inclusive);
        cut(one.exclusive);
      }
    }
  }

 private:
  static void cut(std::initializer_list<time_ns*> times) noexcept {
    constexpr time_ns most = time_ns{1} << 58;  // nine years
    for (time_ns* const t : times) {
      *t = std::clamp(*t, -most, most);
    }
  }
  static void cut(starved_time& s) noexcept {
    cut({&s.launching, &s.graph_building, &s.synchronising, &s.allocating, &s.other});
  }
  static void cut(wall_partition& p) noexcept {
    cut(p.starved);
    cut({&p.compute, &p.exposed_communication, &p.exposed_copy, &p.device_gap, &p.unrecorded, &p.no_pass});
  }
  static void cut(measures& m) noexcept {
    cut(m.starved);
    cut({&m.gpu_time, &m.device_gap});
  }
};

/// A trace without passes was taken as one. Beside traces that have some, what is in it is in no pass.
void take_as_outside(report& r) {
  const auto leave = [](row& one) {
    one.phase.clear();
    one.per_pass.clear();
    for (measures* const m : {&one.inclusive, &one.exclusive}) {
      m->starved = {};
      m->device_gap = 0;
    }
  };
  for (std::vector<row>* const rows : {&r.layers, &r.labels, &r.kernels, &r.categories}) {
    std::for_each(rows->begin(), rows->end(), leave);
  }
  for (row& one : r.layers) {
    if (one.path.empty()) {  // its calls were the pass
      one.per_call = {};
      for (measures* const m : {&one.inclusive, &one.exclusive}) {
        m->calls = m->calls_with_work = m->host_time = 0;
        m->allocated_bytes = m->freed_bytes = m->peak_bytes = 0;
      }
    }
  }
  for (collective_row& c : r.collectives) {
    c.phase.clear();
  }
  for (device_row& d : r.devices) {
    d.partition = {};
    d.passes_begin = d.passes_end = 0;
  }
  r.phases.clear();
  r.findings.clear();
  r.quality.implicit_pass = false;
}

void match_passes(report& total, report& next) {
  if (total.quality.implicit_pass && !next.quality.implicit_pass) {
    take_as_outside(total);
  } else if (next.quality.implicit_pass && !total.quality.implicit_pass) {
    take_as_outside(next);
  }
}

/// Where nothing ran on any device, layers have the host's times of each pass. Beside others these are zeros.
void match_samples(report& total, report& next) {
  const auto ran = [](const report& r) {
    return std::any_of(r.devices.begin(), r.devices.end(),
                       [](const device_row& d) { return d.first_start != 0 || d.gpu_span != 0; });
  };
  if (ran(total) != ran(next)) {
    for (row& r : (ran(total) ? next : total).layers) {
      std::fill(r.per_pass.begin(), r.per_pass.end(), 0);
    }
  }
}

/// Where no work is told of anything, no time is counted as that of unknown work, as it is in other windows.
void match_unknown_work(report& total, report& next) {
  const auto tells = [](const std::vector<row>& rows) {
    return std::any_of(rows.begin(), rows.end(), [](const row& r) {
      return r.exclusive.unknown_work_time > 0 || !r.inclusive.declared.empty() ||
             r.inclusive.calls_with_work > 0;
    });
  };
  const auto count_all = [](measures& m, bool collectives) {
    m.unknown_work_time = m.activity_time;
    m.unknown_collective_time = collectives ? m.collective_time : 0;
  };
  const bool layers = tells(total.layers) != tells(next.layers);
  const bool kernels = tells(total.kernels) != tells(next.kernels);
  for (report* const r : {&total, &next}) {
    if (layers && !tells(r->layers)) {
      for (phase_row& p : r->phases) {
        count_all(p.total, true);
      }
      for (std::vector<row>* const rows : {&r->layers, &r->labels}) {
        for (row& one : *rows) {
          count_all(one.inclusive, true);
          count_all(one.exclusive, true);
        }
      }
    }
    if (kernels && !tells(r->kernels)) {
      for (std::vector<row>* const rows : {&r->kernels, &r->categories}) {
        for (row& one : *rows) {
          count_all(one.inclusive, false);
          count_all(one.exclusive, false);
        }
      }
    }
  }
}

}  // namespace

void make_alike(report& total, report& next) {
  time_cutter::cut(total);
  time_cutter::cut(next);
  match_passes(total, next);
  match_samples(total, next);
  match_unknown_work(total, next);
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
