// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/report.hpp>

namespace varve {
inline namespace v0 {

namespace {

bool matches(const row& r, const row_query& q) noexcept {
  return (q.label.empty() || r.label == q.label) && (!q.index || r.index == *q.index) &&
         (q.phase.empty() || r.phase == q.phase) && (q.model.empty() || r.model == q.model) &&
         (!q.device || r.device == *q.device) && (q.path.empty() || r.path == q.path);
}

}  // namespace

const row* report::find(const row_query& query) const noexcept {
  const row* found = nullptr;
  for (const row& r : layers) {
    if (matches(r, query) && (found == nullptr || r.inclusive.gpu_time > found->inclusive.gpu_time)) {
      found = &r;
    }
  }
  return found;
}

std::vector<const row*> report::select(const row_query& query) const {
  std::vector<const row*> found;
  for (const row& r : layers) {
    if (matches(r, query)) {
      found.push_back(&r);
    }
  }
  return found;
}

// Passes take the same time seen from every device: the instants in which any is open.
double report::inflation() const noexcept {
  if (!unprofiled_wall || *unprofiled_wall <= 0 || devices.empty()) {
    return 0.0;
  }
  // A report may come from a file with any numbers in it: added up as doubles, which do not overflow.
  const wall_partition& p = devices.front().partition;
  const starved_time& s = p.starved;
  double in_passes = 0;
  for (const time_ns part :
       {p.compute, p.exposed_communication, p.exposed_copy, s.launching, s.graph_building, s.synchronising,
        s.allocating, s.other, p.device_gap, p.unrecorded}) {
    in_passes += static_cast<double>(part);
  }
  return in_passes / static_cast<double>(*unprofiled_wall);
}

}  // namespace v0
}  // namespace varve
