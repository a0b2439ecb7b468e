// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Which kernels ran, and how often in each pass, for same_kernels_as() of testing.hpp. Not an interface.
#ifndef VARVE_TESTING_KERNELS_HPP
#define VARVE_TESTING_KERNELS_HPP

#include <varve/report.hpp>
#include <varve/testing/judges.hpp>
#include <varve/testing/subject.hpp>
#include <varve/testing/text.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {
namespace testing_detail {

/// How many kernels in how many passes or calls.
struct kernel_count {
  std::string name;  ///< for people: "decode: flash_fwd"
  std::int64_t kernels = 0;
  std::int64_t over = 0;
  const char* each = "";

  [[nodiscard]] std::string text() const {
    return number_text(static_cast<double>(kernels) / static_cast<double>(over)) + ' ' + each;
  }
  [[nodiscard]] bool operator==(const kernel_count& other) const noexcept {
    return static_cast<double>(kernels) * static_cast<double>(other.over) ==
           static_cast<double>(other.kernels) * static_cast<double>(over);
  }
};
/// By whole names: messages cut them.
using kernel_key = std::vector<std::string>;
using kernel_table = std::map<kernel_key, kernel_count>;

template <class Row>
kernel_key key_of(const Row& in, std::string path, std::string kernel) {
  return {in.phase, in.model, std::to_string(in.device), in.batch, std::move(path), std::move(kernel)};
}

/// A kernel's name by both of its ends: templates often differ in the last arguments.
inline std::string kernel_text(const std::string& name) {
  constexpr std::size_t most = 150;
  if (name.size() <= 2 * most) {
    return name_text(name, 2 * most);
  }
  std::size_t tail = name.size() - most;
  while (tail < name.size() && (static_cast<unsigned char>(name[tail]) & 0xC0U) == 0x80U) {
    ++tail;  // not inside a letter of several bytes
  }
  return name_text(name, most) + name_text(std::string_view{name}.substr(tail), most);
}

/// Of a phase each kernel; of a layer how many, and the main kernels of it and of what is inside.
inline void add_kernels(const subject& s, kernel_table& to) {
  if (s.layer != nullptr) {
    for (const row* r : rows_of(s)) {
      if (!r->main_kernel.empty()) {
        to[key_of(*r, r->path, r->main_kernel)] = {
            layer_text(*r) + ", main kernel " + kernel_text(r->main_kernel), 1, 1, ""};
      }
    }
    to[key_of(*s.layer, s.layer->path, {})] = {s.name() + ", kernels", s.all().kernels, s.count(), s.each()};
    return;
  }
  for (const row& k : s.in->kernels) {
    if (same_phase(*s.phase, k) && k.inclusive.kernels > 0) {
      to[key_of(*s.phase, {}, k.path)] = {s.name() + ": " + kernel_text(k.path), k.inclusive.kernels,
                                          s.count(), s.each()};
    }
  }
}

/// What of the base answers to `s`; without its report where `s` comes without one.
inline std::vector<subject> counterpart(const subject& s, const report& base) {
  std::vector<subject> out;
  if (s.layer != nullptr) {
    for (const row& r : base.layers) {
      if (r.path == s.layer->path && r.phase == s.layer->phase && r.model == s.layer->model &&
          r.device == s.layer->device && r.batch == s.layer->batch) {
        out.push_back(judged({s.in != nullptr ? &base : nullptr, &r, nullptr, {}}));
      }
    }
  } else {
    for (const phase_row& p : base.phases) {
      if (p.phase == s.phase->phase && p.model == s.phase->model && p.device == s.phase->device &&
          p.batch == s.phase->batch) {
        out.push_back(judged({&base, nullptr, &p, {}}));
      }
    }
  }
  if (out.empty()) {
    out.push_back({&base, nullptr, nullptr, "the other report has no " + s.name()});
  }
  return out;
}

/// What two tables differ in, six lines of it.
inline std::string differences_of(const kernel_table& now, const kernel_table& base) {
  std::vector<std::string> lines;
  for (const auto& [key, count] : base) {
    const auto found = now.find(key);
    if (found == now.end()) {
      lines.push_back("gone: " + count.name + (*count.each != '\0' ? ", was " + count.text() : ""));
    } else if (!(found->second == count)) {
      lines.push_back("changed: " + count.name + ", " + found->second.text() + ", was " + count.text());
    }
  }
  for (const auto& [key, count] : now) {
    if (base.count(key) == 0) {
      lines.push_back("new: " + count.name + (*count.each != '\0' ? ", " + count.text() : ""));
    }
  }
  std::string out;
  constexpr std::size_t most = 6;
  for (std::size_t i = 0; i < lines.size() && i < most; ++i) {
    out += "\n    " + lines[i];
  }
  return lines.size() > most ? out + "\n    and " + std::to_string(lines.size() - most) + " more" : out;
}

class expected_kernels {
 public:
  explicit expected_kernels(report base) : base_{std::make_shared<const report>(std::move(base))} {}

  [[nodiscard]] std::string what() const {
    return "the same kernels, as often in a pass, as the " +
           (base_->source.empty() ? "other report" : "report of " + name_text(base_->source));
  }

  /// `whole`: phases of the base that are not in `subjects` are missing.
  [[nodiscard]] judgement operator()(const std::vector<subject>& subjects, bool whole) const {
    kernel_table now;
    kernel_table base;
    std::vector<subject> expected;
    for (const subject& s : subjects) {
      if (s.phase != nullptr && s.in == nullptr) {
        return {false, "the kernels of its report are not known; varve::phase_of(report, \u2026) knows them"};
      }
      add_kernels(s, now);
      for (subject& b : counterpart(s, *base_)) {
        expected.push_back(std::move(b));
      }
    }
    if (whole) {
      expected = subjects_of(*base_);
    }
    for (const subject& b : expected) {
      if (!b.problem.empty()) {
        return {false, "nothing to compare with: " + b.problem};
      }
      add_kernels(b, base);
    }
    const std::string text = differences_of(now, base);
    if (text.empty()) {
      return {true, count_text(static_cast<std::int64_t>(now.size()), "name", "names") + " alike"};
    }
    return {false,
            "kernels differ:" + text +
                next_text("see whether the build, a library or its heuristics changed; the other report is "
                          "the expectation")};
  }

 private:
  std::shared_ptr<const report> base_;
};

}  // namespace testing_detail
}  // namespace v0
}  // namespace varve

#endif  // VARVE_TESTING_KERNELS_HPP
