// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What the collector says of itself.
#include "cupti/collector.hpp"

#include "driver/driver.hpp"

#include "record/graph_labels.hpp"

#include <algorithm>

namespace varve::cupti {

namespace {

void append(std::string& list, const std::string& text, const char* separator = ", ") {
  list += (list.empty() ? "" : separator) + text;
}

std::string first_few(const std::vector<std::string>& all) {
  std::string out;
  for (std::size_t i = 0; i < std::min<std::size_t>(all.size(), 5); ++i) {
    append(out, all[i]);
  }
  return all.size() > 5 ? out + ", …" : out;
}

std::string milliseconds(time_ns t) { return std::to_string(t / 1'000'000) + " ms"; }

/// What is known to be wrong in CUPTI itself, as NVIDIA's release notes and other profilers' users tell.
std::string known_defects(std::uint32_t version) {
  std::string out;
  if (version < cuda_12_8) {
    append(out, "before CUDA 12.6 Update 2 bodies of conditional graph nodes may be missing or wrong", "; ");
  }
  // Which number Update 1 of 13.1 has is not known.
  if (version >= cuda_13_0 && version < 130200) {
    append(out,
           "before CUDA 13.1 Update 1 graph launches may carry wrong ids in sessions after a process's first",
           "; ");
  }
  if (has_defects_of_13_0(version)) {
    append(
        out,
        "CUDA 13.0 without Update 1 crashes with graphs where CUPTI has its buffers on the device, which is "
        "avoided where CUDA is initialised later, hangs where kernel records are switched off, so that "
        "kernel records stay on after a session, and may crash where NVTX is used before CUPTI: update it",
        "; ");
  }
  return out;
}

}  // namespace

std::vector<device_info> collector::devices() const {
  const cuda::driver* const driver =
      attached_.load() != nullptr && !left_ ? cuda::find_driver(false) : nullptr;
  return driver != nullptr ? cuda::devices(*driver) : std::vector<device_info>{};
}

std::vector<loss> collector::losses() const {
  std::vector<loss> out;
  const attachment* const a = attached_.load();
  if (a == nullptr || left_) {
    return out;
  }
  const std::lock_guard lock{life_};
  if (!problem_.empty()) {
    return out;  // what is counted is a former session's
  }
  const decoder::counts c = a->records.counted();
  const auto lose = [&](std::uint64_t count, const char* what) {
    if (count != 0) {
      out.push_back({what, "cupti", count});
    }
  };
  lose(dropped_, "activity records dropped by CUPTI (raise gpu_options::buffers or buffer_bytes)");
  lose(pool_.refused(), "times that CUPTI got no buffer: its records are lost (raise gpu_options::buffers)");
  // Kernels have the longest of the records that become activities.
  lose(lost_bytes_ / size_of(record_kind::concurrent_kernel, a->lib.version),
       "activity records at least that CUPTI wrote where it got no buffer (raise gpu_options::buffers)");
  lose(c.not_kept,
       "activity records not kept: trace memory full (raise session_options::trace_memory), or they "
       "came faster than they were taken over");
  lose(late_ - late_before_,
       "activity records that CUPTI gave only after a session had fetched the last: not kept (of this "
       "session, "
       "or of the one before)");
  lose(c.cut_buffers, "buffers of CUPTI that end within a record");
  lose(
      c.too_short,
      "activity records shorter than this version of CUPTI declares them: not read (load the libcupti of the "
      "toolkit that the engine uses)");
  lose(c.unknown_kinds, "buffers of CUPTI with records of an unknown kind: the rest of them is lost");
  lose(c.device_launched, "activities that a kernel launched on the device: they belong to no call");
  return out;
}

time_ns collector::own_overhead() const noexcept {
  const attachment* const a = attached_.load();
  if (a == nullptr || left_) {
    return 0;
  }
  const std::lock_guard lock{life_};
  return problem_.empty() ? a->records.counted().overhead : 0;
}

collector_status collector::status() const {
  collector_status out;
  out.name = "cupti";
  if (left_) {
    out.state = collector_state::unavailable;
    out.detail =
        "a child forked while CUDA was in use: the GPU stays with its parent; start the program anew (exec) "
        "to "
        "use one";
    return out;
  }
  const std::lock_guard lock{life_};
  if (inherited_) {
    out.state = collector_state::unavailable;
    out.detail =
        "a forked child of a process that was recorded: start a session of its own to record its use of the "
        "GPU";
    return out;
  }
  const attachment* const a = attached_.load();
  if (a != nullptr) {
    out.version = version_text(a->lib.version);
  }
  if (!problem_.empty() || a == nullptr) {
    out.state = collector_state::unavailable;
    out.detail = !problem_.empty() ? problem_ : "not started";
    return out;
  }
  out.state = recording_ ? collector_state::running : collector_state::stopped;
  const decoder::counts c = a->records.counted();
  out.detail = a->lib.path;
  append(out.detail, "kernels " + std::to_string(c.kernels), ": ");
  append(out.detail, "copies " + std::to_string(c.copies));
  append(out.detail, "sets " + std::to_string(c.sets));
  if (c.graphs != 0) {
    append(out.detail, "whole graphs " + std::to_string(c.graphs) +
                           " (layers inside of graphs are not recorded: gpu_options::whole_graphs)");
  }
  append(out.detail, "allocations and releases " + std::to_string(c.allocations));
  const graph_book::counts g = a->graphs.counted();
  if (g.nodes != 0) {
    append(out.detail, "graph nodes " + std::to_string(g.nodes) + " (" + std::to_string(a->graphs.size()) +
                           " in graphs and executables that are alive, labels of " +
                           std::to_string(record::labels_of_graphs().size()) + " kept)");
  }
  if (g.updates != 0) {
    append(out.detail, "graph updates " + std::to_string(g.updates) + " (" + std::to_string(g.stale_updates) +
                           " not matched)");
  }
  if (const std::string defects = known_defects(a->lib.version); !defects.empty()) {
    append(out.detail, defects, "; ");
  }
  if (c.loading != 0) {
    append(out.detail, "modules and functions loaded at first use in " + milliseconds(c.loading), "; ");
  }
  if (!switched_off_.empty()) {
    append(out.detail, "switched off: " + first_few(switched_off_), "; ");
  }
  if (!a->lib.missing.empty()) {
    append(out.detail, "this libcupti lacks " + first_few(a->lib.missing), "; ");
  }
  if (!a->kinds.unknown().empty()) {
    append(out.detail,
           std::to_string(a->kinds.unknown().size()) +
               " calls that this version of varve does not know are not recorded: " +
               first_few(a->kinds.unknown()),
           "; ");
  }
  for (const std::string* text : {&not_watched_, &note_}) {
    if (!text->empty()) {
      append(out.detail, *text, "; ");
    }
  }
  const std::lock_guard told{told_mutex_};
  if (errors_ != 0) {
    append(out.detail, "CUPTI told of " + std::to_string(errors_) + " errors, the first: " + first_error_,
           "; ");
  }
  return out;
}

}  // namespace varve::cupti
