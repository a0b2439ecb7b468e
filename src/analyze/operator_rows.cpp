// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/operator_rows.hpp"

#include "analyze/verdict.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

constexpr std::int64_t minus(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) {
    return a < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
  }
  return difference;
}

}  // namespace

void add_to(operator_row& to, const operator_row& r) {
  add_to(to.calls, r.calls);
  add_to(to.cpu_total, r.cpu_total);
  add_to(to.cpu_self, r.cpu_self);
  add_to(to.gpu_total, r.gpu_total);
  add_to(to.gpu_self, r.gpu_self);
  add_to(to.cpu_memory, r.cpu_memory);
  add_to(to.cpu_memory_self, r.cpu_memory_self);
  add_to(to.gpu_memory, r.gpu_memory);
  add_to(to.gpu_memory_self, r.gpu_memory_self);
  add_to(to.declared, r.declared);
  add_to(to.calls_with_work, r.calls_with_work);
  add_to(to.roof, r.roof);
}

void put_in_order(std::vector<operator_row>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const operator_row& a, const operator_row& b) {
    return std::tie(b.gpu_total, b.cpu_total) < std::tie(a.gpu_total, a.cpu_total);
  });
}

void judge_operator(operator_row& r, const ceilings* device) {
  if (r.declared.empty() || r.gpu_total <= 0) {
    return;
  }
  facts f;
  f.gpu_time = r.gpu_total;
  f.time = static_cast<double>(r.gpu_total);
  f.declared = r.declared;
  f.calls = r.calls_with_work;
  f.unknown_work = f.time * static_cast<double>(r.calls - r.calls_with_work) / static_cast<double>(r.calls);
  f.roof = r.roof;
  f.pipe = r.declared.pipe;
  f.device = device;
  r.verdict = judge(f);
}

bool is_step(std::string_view name) noexcept {
  constexpr std::string_view step = "ProfilerStep#";
  return name.substr(0, step.size()) == step;
}

std::size_t operator_rows::key_hash::operator()(const key& k) const noexcept {
  const std::hash<std::string_view> hash;
  return (hash(k.name) * 0x9E3779B97F4A7C15ULL) ^ hash(k.shapes) ^ (k.annotation ? 2U : 0U) ^
         (k.on_device ? 1U : 0U);
}

std::uint32_t operator_rows::of_name(std::string_view name, bool annotation, bool on_device,
                                     std::string_view shapes) {
  const key k{is_step(name) ? "ProfilerStep*" : name, shapes, annotation, on_device};
  const auto [known, added] = known_.try_emplace(k, static_cast<std::uint32_t>(rows_.size()));
  if (added) {
    keys_.push_back(k);
    rows_.emplace_back();
  }
  return known->second;
}

std::uint32_t operator_rows::of_kind(const operator_kind& kind) {
  const bool on_device = kind.source == operator_source::device_annotation;
  return of_name(t_.strings[kind.name], on_device || kind.source == operator_source::annotation, on_device,
                 t_.strings[kind.shapes]);
}

std::uint32_t operator_rows::of_text(std::uint32_t text, bool on_device) {
  auto& texts = texts_[on_device ? 1 : 0];
  const auto known = texts.find(text);
  return known != texts.end()
             ? known->second
             : texts[text] =
                   of_name(text < t_.strings.size() ? t_.strings[text] : "(unnamed)", false, on_device);
}

void operator_rows::add(std::uint32_t row, const operator_sums& one, const work* declared) {
  operator_row r;
  r.calls = 1;
  r.cpu_total = one.cpu;
  r.cpu_self = minus(one.cpu, one.inner.cpu);
  r.gpu_total = one.gpu();
  r.gpu_self = one.launched;
  r.cpu_memory = one.memory[0];
  r.cpu_memory_self = minus(one.memory[0], one.inner.memory[0]);
  r.gpu_memory = one.memory[1];
  r.gpu_memory_self = minus(one.memory[1], one.inner.memory[1]);
  if (declared != nullptr && !declared->empty()) {
    r.declared = *declared;
    r.calls_with_work = 1;
    if (device_) {
      roof_sums roof;
      roof.add(*declared, *device_);
      r.roof = roof.times;
    }
  }
  add_to(rows_[row], r);
}

operator_tables operator_rows::take() {
  operator_tables out;
  std::unordered_map<key, std::size_t, key_hash> by_name;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].calls == 0) {
      continue;
    }
    key k = keys_[i];
    operator_row& r = rows_[i];
    r.name = k.name;
    r.annotation = k.annotation;
    r.on_device = k.on_device;
    k.shapes = {};
    const auto [known, added] = by_name.try_emplace(k, out.by_name.size());
    if (added) {
      out.by_name.push_back(r);
    } else {
      add_to(out.by_name[known->second], r);
    }
    r.shapes = keys_[i].shapes;
    out.by_shape.push_back(std::move(r));
  }
  for (std::vector<operator_row>* rows : {&out.by_name, &out.by_shape}) {
    for (operator_row& r : *rows) {
      judge_operator(r, device_ ? &*device_ : nullptr);
    }
  }
  put_in_order(out.by_name);
  put_in_order(out.by_shape);
  return out;
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
