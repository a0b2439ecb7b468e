// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "compare/budget_rows.hpp"

#include "compare/glob.hpp"

#include <algorithm>
#include <array>

namespace varve {
inline namespace v0 {
namespace budgets {

namespace {

const std::vector<row>* view_of(const report& r, budget_of of) noexcept {
  switch (of) {
    case budget_of::layer:
      return &r.layers;
    case budget_of::label:
      return &r.labels;
    case budget_of::kernel:
      return &r.kernels;
    case budget_of::category:
      return &r.categories;
    default:
      return nullptr;
  }
}

template <class Row>
bool fits_place(const budget_where& where, const Row& r) noexcept {
  const bool phase = where.phase.empty() ? !is_preparation(r.phase) : fits(where.phase, r.phase);
  return phase && (where.model.empty() || fits(where.model, r.model)) &&
         (!where.device || *where.device == r.device);
}

}  // namespace

bool is_preparation(std::string_view phase) noexcept {
  return phase == "load" || phase == "capture" || phase == "warm-up";
}

const row_index::keys& row_index::keys_of(budget_of of) {
  const auto [at, is_new] = keys_.try_emplace(of);
  if (!is_new) {
    return at->second;
  }
  keys& to = at->second;
  if (const std::vector<row>* const view = view_of(report_, of)) {
    for (std::size_t i = 0; i < view->size(); ++i) {
      const row& r = (*view)[i];
      to.try_emplace(key{r.path, r.phase, r.model, r.device, r.batch, 0}, i);
    }
  } else if (of == budget_of::collective) {
    for (std::size_t i = 0; i < report_.collectives.size(); ++i) {
      const collective_row& c = report_.collectives[i];
      to.try_emplace(key{c.name, c.phase, c.model, c.device, c.batch, c.ranks}, i);
    }
  } else if (of == budget_of::phase) {
    for (std::size_t i = 0; i < report_.phases.size(); ++i) {
      const phase_row& p = report_.phases[i];
      to.try_emplace(key{{}, p.phase, p.model, p.device, p.batch, 0}, i);
    }
  }
  return to;
}

const phase_row* row_index::phase_of(const row& one) {
  const keys& all = keys_of(budget_of::phase);
  const auto found = all.find(key{{}, one.phase, one.model, one.device, one.batch, 0});
  return found != all.end() ? &report_.phases[found->second] : nullptr;
}

std::vector<subject> row_index::select(const budget_where& where) {
  std::vector<subject> out;
  if (where.of == budget_of::report) {
    out.push_back({&report_, nullptr, nullptr, nullptr});
  } else if (where.of == budget_of::phase) {
    for (const phase_row& p : report_.phases) {
      if (fits_place(where, p)) {
        out.push_back({&report_, nullptr, &p, nullptr});
      }
    }
  } else if (where.of == budget_of::collective) {
    for (const collective_row& c : report_.collectives) {
      if (fits_place(where, c) && fits(where.pattern, c.name)) {
        out.push_back({&report_, nullptr, nullptr, &c});
      }
    }
  } else {
    const path_pattern paths{where.pattern};
    for (const row& r : *view_of(report_, where.of)) {
      const bool named =
          where.of == budget_of::layer ? !r.path.empty() && paths.fits(r.path) : fits(where.pattern, r.path);
      if (named && fits_place(where, r)) {
        out.push_back({&report_, &r, phase_of(r), nullptr});
      }
    }
  }
  return out;
}

row_index::key row_index::key_of(budget_of of, const subject& other) {
  if (of == budget_of::phase) {
    const phase_row& p = *other.phase;
    return {{}, p.phase, p.model, p.device, p.batch, 0};
  }
  if (of == budget_of::collective) {
    const collective_row& c = *other.collective;
    return {c.name, c.phase, c.model, c.device, c.batch, c.ranks};
  }
  const row& r = *other.one;
  return {r.path, r.phase, r.model, r.device, r.batch, 0};
}

subject row_index::same(budget_of of, const subject& other) {
  if (of == budget_of::report) {
    return {&report_, nullptr, nullptr, nullptr};
  }
  const keys& all = keys_of(of);
  const auto found = all.find(key_of(of, other));
  if (found == all.end()) {
    return {};
  }
  if (of == budget_of::phase) {
    return {&report_, nullptr, &report_.phases[found->second], nullptr};
  }
  if (of == budget_of::collective) {
    return {&report_, nullptr, nullptr, &report_.collectives[found->second]};
  }
  const row& own = (*view_of(report_, of))[found->second];
  return {&report_, &own, phase_of(own), nullptr};
}

std::uint32_t row_index::device_with(budget_of of, const subject& other) {
  const keys& all = keys_of(of);
  key asked = key_of(of, other);
  constexpr std::size_t device = 3;
  for (const device_row& d : report_.devices) {
    std::get<device>(asked) = d.device.id;
    if (all.count(asked) > 0) {
      return d.device.id;
    }
  }
  return none;
}

std::vector<std::string_view> row_index::candidates(const budget_where& where) const {
  constexpr std::size_t most = 4096;
  std::vector<std::string_view> out;
  const auto add = [&](std::string_view name) {
    if (!name.empty() && out.size() < most) {
      out.push_back(name);
    }
  };
  if (const std::vector<row>* const view = view_of(report_, where.of)) {
    for (const row& r : *view) {
      if (fits_place(where, r)) {
        add(r.path);
      }
    }
  } else if (where.of == budget_of::collective) {
    for (const collective_row& c : report_.collectives) {
      add(c.name);
    }
  } else {
    for (const phase_row& p : report_.phases) {
      add(p.phase);
    }
  }
  return out;
}

bool row_index::has_label(std::string_view name) const {
  return std::any_of(report_.layers.begin(), report_.layers.end(),
                     [&](const row& r) { return !r.path.empty() && r.label == name; });
}

std::string row_index::text(const subject& s) const {
  if (s.one == nullptr && s.phase == nullptr && s.collective == nullptr) {
    return "the whole run";
  }
  const auto place = [&](const auto& r) {
    std::string out = r.phase.empty() ? "outside passes" : r.phase;
    out += r.model.empty() ? "" : ", " + r.model;
    out += r.batch.empty() ? "" : ", " + r.batch;
    out += report_.devices.size() > 1 ? ", device " + std::to_string(r.device) : "";
    return out;
  };
  if (s.one != nullptr) {
    return (s.one->path.empty() ? "outside layers" : s.one->path) + " (" + place(*s.one) + ')';
  }
  return s.collective != nullptr ? s.collective->name + " (" + place(*s.collective) + ')' : place(*s.phase);
}

std::string_view plural(budget_of of) noexcept {
  constexpr std::array<std::string_view, 7> names{"layers",      "labels", "kernels",      "categories",
                                                  "collectives", "phases", "the whole run"};
  return names[static_cast<std::size_t>(of)];
}

std::string_view singular(budget_of of) noexcept {
  constexpr std::array<std::string_view, 7> names{"layer",      "label", "kernel", "category",
                                                  "collective", "phase", "report"};
  return names[static_cast<std::size_t>(of)];
}

}  // namespace budgets
}  // namespace v0
}  // namespace varve
