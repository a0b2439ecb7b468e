// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What the matchers of testing.hpp judge: a layer's row or a phase's, with the report where it is known. Not
// an interface.
#ifndef VARVE_TESTING_SUBJECT_HPP
#define VARVE_TESTING_SUBJECT_HPP

#include <varve/marker.hpp>
#include <varve/report.hpp>
#include <varve/testing/find.hpp>
#include <varve/testing/missing.hpp>
#include <varve/testing/passes.hpp>
#include <varve/testing/text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {
namespace testing_detail {

/// Whether an expectation holds, and the numbers that say so.
struct judgement {
  bool holds = false;
  std::string text;
};

/// One of a layer and a phase, or why there is neither.
struct subject {
  const report* in = nullptr;
  const row* layer = nullptr;
  const phase_row* phase = nullptr;
  std::string problem;

  [[nodiscard]] const measures& all() const noexcept {
    return layer != nullptr ? layer->inclusive : phase->total;
  }
  [[nodiscard]] const varve::verdict& verdict() const noexcept {
    return layer != nullptr ? layer->verdict : phase->verdict;
  }
  /// What a mean is taken over.
  [[nodiscard]] std::int64_t count() const noexcept {
    return layer != nullptr ? layer->inclusive.calls : phase->passes;
  }
  [[nodiscard]] std::string count_text() const {
    return layer != nullptr ? testing_detail::count_text(count(), "call", "calls")
                            : testing_detail::count_text(count(), "pass", "passes");
  }
  [[nodiscard]] const char* each() const noexcept { return layer != nullptr ? "a call" : "a pass"; }
  [[nodiscard]] std::string name() const {
    std::string out = layer != nullptr ? layer_text(*layer) : phase_text(phase->phase, phase->model);
    const std::string& batch = layer != nullptr ? layer->batch : phase->batch;
    const std::uint32_t device = layer != nullptr ? layer->device : phase->device;
    if (!batch.empty()) {
      out += " (" + name_text(batch) + ')';
    }
    return device != 0 ? out + " on device " + std::to_string(device) : out;
  }
};

inline bool same_phase(const phase_row& p, const row& r) noexcept {
  return p.phase == r.phase && p.model == r.model && p.device == r.device && p.batch == r.batch;
}

/// Why a report has nothing to judge, as its sources and losses tell.
inline std::string sources_text(const report& in) {
  std::string out;
  for (const collector_status& c : in.quality.collectors) {
    if (c.state == collector_state::unavailable) {
      out += "\n    " + name_text(c.name) + ": " + name_text(c.detail, 300);
    }
  }
  for (std::size_t i = 0; i < in.quality.losses.size() && i < 3; ++i) {
    const loss& l = in.quality.losses[i];
    out += "\n    " + name_text(l.what, 300) + ": " + std::to_string(l.count);
  }
  return out;
}

/// Whether anything that ran on a device is in the report; a device is listed without, too.
inline bool is_recorded(const report& in) {
  return std::any_of(in.devices.begin(), in.devices.end(),
                     [](const device_row& d) { return d.busy > 0 || !d.streams.empty(); });
}

/// A row by itself does not tell whether nothing ran or nothing could be recorded; neither passes a test.
inline void refuse_unrecorded(subject& s) {
  if (s.in != nullptr && !is_recorded(*s.in)) {
    s.problem = "nothing that ran on a device was recorded" + sources_text(*s.in);
  } else if (s.count() <= 0) {
    s.problem = "it was never called in a pass";
  } else if (std::string missing = s.in != nullptr ? missing_records(*s.in) : ""; !missing.empty()) {
    s.problem = std::move(missing);
  } else if (const measures& m = s.all();
             s.in == nullptr && m.gpu_time == 0 && m.launches == 0 && m.kernels == 0 && m.copies == 0) {
    s.problem =
        "nothing that it ran was recorded; varve::layer_of(report, {\u2026}) and varve::phase_of(report, "
        "\u2026) "
        "say whether a device was";
  }
}

inline subject judged(subject s) {
  if (s.layer == nullptr && s.phase == nullptr) {
    if (s.problem.empty()) {
      s.problem =
          "the report has none; varve::layer_of(report, {\u2026}) in place of report.find({\u2026}) lists "
          "those that "
          "come near";
    }
  } else {
    refuse_unrecorded(s);
  }
  return s;
}

inline std::vector<subject> subjects_of(const row* r) { return {judged({nullptr, r, nullptr, {}})}; }
inline std::vector<subject> subjects_of(const row& r) { return subjects_of(&r); }
inline std::vector<subject> subjects_of(const phase_row* p) { return {judged({nullptr, nullptr, p, {}})}; }
inline std::vector<subject> subjects_of(const phase_row& p) { return subjects_of(&p); }
inline std::vector<subject> subjects_of(const found_layer& f) {
  return {judged({&f.in(), f.get(), nullptr, f.missing()})};
}
inline std::vector<subject> subjects_of(const found_phase& f) {
  return {judged({&f.in(), nullptr, f.get(), f.missing()})};
}

/// Passes that a test of a whole report is about: those that serve.
inline bool serves(const phase_row& p) noexcept {
  constexpr std::string_view ramp = " (ramp)";
  const std::string_view kind = p.phase;
  return kind != load && kind != capture && kind != warm_up &&
         (kind.size() < ramp.size() || kind.substr(kind.size() - ramp.size()) != ramp);
}

inline std::vector<subject> subjects_of(const report& in) {
  std::vector<subject> out;
  for (const phase_row& p : in.phases) {
    if (serves(p)) {
      out.push_back(judged({&in, nullptr, &p, {}}));
    }
  }
  if (out.empty()) {
    out.push_back(
        {&in, nullptr, nullptr, "it has no passes but such of load, capture and warm-up" + sources_text(in)});
  }
  return out;
}
inline std::vector<subject> subjects_of(const measured_passes& m) {
  if (!m.error.empty()) {
    return {{nullptr, nullptr, nullptr, "nothing was recorded: " + m.error}};
  }
  return subjects_of(m.report);
}

template <class Value>
constexpr bool is_whole(const Value& /*value*/) noexcept {
  return false;
}
constexpr bool is_whole(const report& /*value*/) noexcept { return true; }
constexpr bool is_whole(const measured_passes& /*value*/) noexcept { return true; }

/// Rows of `s`: of a phase all of its layers, of a layer itself and what is inside it. Needs the report.
inline std::vector<const row*> rows_of(const subject& s) {
  std::vector<const row*> out;
  if (s.in == nullptr) {
    return s.layer != nullptr ? std::vector<const row*>{s.layer} : out;
  }
  const std::vector<row>& layers = s.in->layers;
  std::vector<bool> inside(layers.size(), false);
  for (std::size_t i = 0; i < layers.size(); ++i) {  // parents come before children
    const row& r = layers[i];
    inside[i] =
        s.phase != nullptr ? same_phase(*s.phase, r) : &r == s.layer || (r.parent < i && inside[r.parent]);
    if (inside[i]) {
      out.push_back(&r);
    }
  }
  return out;
}

/// "\n    most in: layer 3 / mlp 120 µs (gemm_kernel), …": the three rows with most of their own.
template <class Member, class Text>
std::string parts_text(const subject& s, Member member, Text text) {
  std::vector<const row*> rows = rows_of(s);
  rows.erase(
      std::remove_if(rows.begin(), rows.end(), [&](const row* r) { return !(r->exclusive.*member > 0); }),
      rows.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const row* a, const row* b) { return a->exclusive.*member > b->exclusive.*member; });
  std::string out;
  for (std::size_t i = 0; i < rows.size() && i < 3; ++i) {
    const row& r = *rows[i];
    out += (i == 0 ? "\n    most in: " : ", ") + (r.path.empty() ? "outside layers" : name_text(r.path)) +
           ' ' + text(r.exclusive.*member);
    if (!r.main_kernel.empty()) {
      out += " (" + name_text(r.main_kernel, 60) + ')';
    }
  }
  return rows.size() > 3 ? out + " and " + std::to_string(rows.size() - 3) + " more" : out;
}

}  // namespace testing_detail
}  // namespace v0
}  // namespace varve

#endif  // VARVE_TESTING_SUBJECT_HPP
