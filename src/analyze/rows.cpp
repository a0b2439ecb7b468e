// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/rows.hpp"

#include <algorithm>
#include <array>

namespace varve {
inline namespace v0 {
namespace analysis {

void call_sums::add(call_kind kind, time_ns length) noexcept {
  switch (kind) {
    case call_kind::graph_launch:
      ++graph_launches;
      [[fallthrough]];
    case call_kind::launch:
      ++launches;
      add_to(launch_time, length);
      break;
    case call_kind::graph_build:
      add_to(graph_build_time, length);
      break;
    case call_kind::synchronise:
      ++synchronisations;
      add_to(synchronise_time, length);
      break;
    case call_kind::allocate:
      ++allocations;
      add_to(allocate_time, length);
      break;
    default:
      break;
  }
}

void call_sums::add(const call_sums& other) noexcept {
  launches += other.launches;
  graph_launches += other.graph_launches;
  add_to(launch_time, other.launch_time);
  add_to(graph_build_time, other.graph_build_time);
  add_to(synchronise_time, other.synchronise_time);
  add_to(allocate_time, other.allocate_time);
  synchronisations += other.synchronisations;
  allocations += other.allocations;
}

row_table::row_table(const trace& t, structure& s)
    : trace_{t},
      structure_{s},
      range_slots_(t.ranges.size(), none),
      last_kernels_(2 * (t.strings.size() + 1)),
      name_categories_(t.strings.size() + 1, 0xFF) {
  slots.reserve(t.ranges.size());
}

std::uint32_t row_table::group(std::uint32_t key, std::uint32_t device) {
  std::uint32_t& id = group_ids_[pair_key(key, device)];
  if (id == none) {
    id = static_cast<std::uint32_t>(groups.size());
    groups.push_back({key, device});
  }
  return id;
}

std::uint32_t row_table::row(std::uint32_t path, std::uint32_t group) {
  if (const std::uint32_t known = row_ids_.find(pair_key(path, group)); known != none) {
    return known;
  }
  // At most max_depth + 1 calls deep.
  const std::uint32_t parent = path == whole_pass ? none : row(structure_.paths[path].parent, group);
  const auto id = static_cast<std::uint32_t>(rows.size());
  row_ids_[pair_key(path, group)] = id;
  layer_row& r = rows.emplace_back();
  r.path = path;
  r.group = group;
  r.parent = parent;
  list_labels(id);
  return id;
}

void row_table::list_labels(std::uint32_t row) {
  layer_row& r = rows[row];
  r.first_label = static_cast<std::uint32_t>(label_lists.size());
  if (r.path == whole_pass || r.path == outside) {
    return;
  }
  const layer_row& parent = rows[r.parent];
  for (std::uint32_t k = 0; k < parent.label_count; ++k) {
    label_lists.push_back(label_lists[parent.first_label + k]);
  }
  std::uint32_t& label = label_ids_[pair_key(structure_.paths[r.path].name, r.group)];
  if (label == none) {
    label = static_cast<std::uint32_t>(labels.size());
    label_row& added = labels.emplace_back();
    added.name = structure_.paths[r.path].name;
    added.group = r.group;
    added.path = r.path;
  }
  r.last_label = label;
  r.names_again =
      std::find(label_lists.begin() + r.first_label, label_lists.end(), label) != label_lists.end();
  if (!r.names_again) {
    label_lists.push_back(label);
  }
  r.label_count = static_cast<std::uint16_t>(label_lists.size() - r.first_label);
}

std::uint32_t row_table::category_id(std::string_view name) {
  const auto known = std::find(category_names.begin(), category_names.end(), name);
  if (known == category_names.end()) {
    category_names.push_back(name);
    return static_cast<std::uint32_t>(category_names.size() - 1);
  }
  return static_cast<std::uint32_t>(known - category_names.begin());
}

std::uint32_t row_table::category_of(std::uint32_t name) {
  std::uint8_t& known = name_categories_[name];
  if (known == 0xFF) {
    known = static_cast<std::uint8_t>(category_id(kernel_category(trace_.strings[name])));
  }
  return known;
}

std::uint32_t row_table::find_kernel(std::uint32_t name, bool moves, std::uint32_t group) {
  std::uint32_t& id = kernel_ids_[pair_key(std::uint64_t{name} << 1U | (moves ? 1U : 0U), group)];
  if (id == none) {
    id = static_cast<std::uint32_t>(kernels.size());
    const std::uint32_t c = moves ? category_id("copy") : category_of(name);
    std::uint32_t& category = category_ids_[pair_key(c, group)];
    if (category == none) {
      category = static_cast<std::uint32_t>(categories.size());
      flat_row& added = categories.emplace_back();
      added.name = c;
      added.group = group;
    }
    kernel_row& added = kernels.emplace_back();
    added.name = name;
    added.group = group;
    added.category = category;
    added.is_collective = category_names[c] == "collective";
  }
  return id;
}

void row_table::flush_shape(std::uint32_t kernel) {
  kernel_row& k = kernels[kernel];
  if (k.shape_run == 0) {
    return;
  }
  std::uint32_t& id = shape_ids_[pair_key(kernel, k.shape)];
  if (id == none) {
    id = static_cast<std::uint32_t>(shapes.size());
    shapes.push_back({kernel, k.shape, 0});
  }
  shapes[id].count += k.shape_run;
  k.shape_run = 0;
}

std::uint32_t row_table::add_slot(std::uint32_t row, std::uint32_t parent, std::uint32_t range,
                                  std::uint32_t pass) {
  call_slot& s = slots.emplace_back();
  s.row = row;
  s.parent = parent;
  s.range = range;
  s.next = pass;
  if (s.is_range()) {
    s.next = range_slots_[range];
    range_slots_[range] = static_cast<std::uint32_t>(slots.size() - 1);
  }
  return static_cast<std::uint32_t>(slots.size() - 1);
}

std::uint32_t row_table::known_range_slot(std::uint32_t owner, std::uint32_t device) const noexcept {
  std::uint32_t s = range_slots_[owner];
  while (s != none && groups[rows[slots[s].row].group].device != device) {
    s = slots[s].next;
  }
  return s;
}

std::uint32_t row_table::range_slot(std::uint32_t owner, std::uint32_t device) {
  if (const std::uint32_t known = known_range_slot(owner, device); known != none) {
    return known;
  }
  // Outer calls first. A pass is no call of a layer's row: the way up ends below it.
  std::array<std::uint32_t, max_depth + 1> missing{};
  std::size_t count = 0;
  std::uint32_t parent = none;
  for (std::uint32_t o = owner; o != none;) {
    missing[count++] = o;
    const std::uint32_t up = trace_.ranges[o].parent;
    o = up < o ? structure_.ranges[up].owner : none;
    if (trace_.ranges[missing[count - 1]].kind == range_kind::phase || o == none ||
        trace_.ranges[o].kind == range_kind::phase) {
      break;
    }
    parent = known_range_slot(o, device);
    if (parent != none) {
      break;
    }
  }
  while (count-- > 0) {
    const std::uint32_t o = missing[count];
    const range_place& place = structure_.ranges[o];
    const std::uint32_t own = structure_.path_of(trace_, o);
    const std::uint32_t path = own == whole_pass ? outside : own;
    parent = add_slot(row(path, group(structure_.key_of(place.pass), device)), parent, o);
  }
  return parent;
}

std::uint32_t row_table::outside_slot(std::uint32_t pass, std::uint32_t device) {
  const std::uint64_t key = pair_key(pass, device);
  if (const std::uint32_t known = outside_ids_.find(key); known != none) {
    return known;
  }
  const std::uint32_t made = add_slot(row(outside, group(structure_.key_of(pass), device)), none,
                                      pass != none ? none : call_slot::no_call, pass);
  outside_ids_[key] = made;
  return made;
}

std::uint32_t row_table::replay_slot(std::uint32_t call, std::uint32_t launch_range, std::uint32_t path,
                                     std::uint32_t device) {
  range_place around;
  around.pass = structure_.default_pass();
  if (launch_range < structure_.ranges.size()) {
    around = structure_.ranges[launch_range];
  }
  const std::uint32_t in_group = group(structure_.key_of(around.pass), device);
  // Without its launch, what ran of a graph in one pass counts as one: calls are never so many.
  const std::uint32_t replayed = call != none ? call : none - 1 - around.pass;
  const auto replay_key = [&](std::uint32_t p) { return pair_key(replayed, row(p, in_group)); };
  const auto range_around_with = [&](std::uint32_t p) {
    std::uint32_t o = around.owner;
    while (o != none && trace_.ranges[o].kind != range_kind::phase) {
      if (structure_.path_of(trace_, o) == p) {
        return o;
      }
      const std::uint32_t up = trace_.ranges[o].parent;
      o = up < o ? structure_.ranges[up].owner : none;
    }
    return none;
  };

  std::array<std::uint32_t, max_depth + 1> missing{};
  std::size_t count = 0;
  std::uint32_t slot = none;
  for (std::uint32_t p = path; p != whole_pass; p = structure_.paths[p].parent) {
    slot = replay_ids_.find(replay_key(p));
    if (slot == none) {
      if (const std::uint32_t o = range_around_with(p); o != none) {
        slot = range_slot(o, device);
      }
    }
    if (slot != none) {
      break;
    }
    missing[count++] = p;
  }
  while (count-- > 0) {
    const std::uint64_t key = replay_key(missing[count]);
    slot =
        add_slot(row(missing[count], in_group), slot, call != none ? none : call_slot::no_call, around.pass);
    rows[slots[slot].row].replays += call != none ? 1 : 0;
    replay_ids_[key] = slot;
  }
  return slot;
}

void row_table::declare_described(std::uint32_t slot, std::uint32_t pass) {
  for (std::uint32_t up = slot; up != none && !slots[up].is_range(); up = slots[up].parent) {
    const layer_row& row = rows[slots[up].row];
    const std::uint32_t list = structure_.described.find(pass, row.path);
    const bool known = up < slot_works_.size() && slot_works_[up].declared;
    if (list == none || known || !slots[up].is_call()) {
      continue;
    }
    std::uint32_t& first = described_ids_[pair_key(list, groups[row.group].device)];
    if (first == none) {
      first = up;
      described_.push_back({up, list});
      declare(up, structure_.described[list]);
    } else {
      described_.push_back({up, none});
      declare(up, std::span<const work>{});
    }
  }
}

void row_table::declare_node(std::uint32_t slot, const graph_node& node) {
  slot_works_.resize(std::max(slot_works_.size(), slot + std::size_t{1}));
  const call_slot& s = slots[slot];
  slot_work& known = slot_works_[slot];
  if (known.by_parts) {
    add_work(s.row, node.declared);
    return;
  }
  const bool declared = s.is_range() ? structure_.ranges[s.range].declares : known.declared;
  known.by_parts = !declared && s.is_call() && node.source == label_source::captured;
  declare(slot, std::span{&node.declared, 1});
}

void row_table::add_work(std::uint32_t row, const work& w) {
  add_to(rows[row].declared, w);
  roofs.add(row, groups[rows[row].group].device, w);
}

void row_table::declare(std::uint32_t slot, std::span<const work> works) {
  slot_works_.resize(std::max(slot_works_.size(), slot + std::size_t{1}));
  const call_slot& s = slots[slot];
  bool& declared = s.is_range() ? structure_.ranges[s.range].declares : slot_works_[slot].declared;
  if (declared || !s.is_call()) {
    return;
  }
  declared = true;
  for (const work& w : works) {
    add_work(s.row, w);
  }
  rows[s.row].replays_declaring += s.is_range() ? 0 : 1;
  for (std::uint32_t up = slot; up != none; up = slots[up].parent) {
    const call_slot& call = slots[up];
    bool& has_work = call.is_range() ? structure_.ranges[call.range].has_work : slot_works_[up].inside;
    if (has_work) {
      break;
    }
    has_work = true;
    rows[call.row].replays_with_work += call.is_range() ? 0 : 1;
  }
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
