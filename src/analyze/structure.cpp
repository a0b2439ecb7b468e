// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/structure.hpp"

#include "analyze/flat_map.hpp"

#include <string_view>
#include <unordered_map>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

/// Interns paths: (parent, name, index), whatever their kind.
class path_table {
 public:
  explicit path_table(std::vector<path_node>& paths) : paths_{paths} {
    paths_.push_back({});
    paths_.push_back({whole_pass, none, no_index, range_kind::phase, 1});
  }

  std::uint32_t intern(const path_node& node) {
    std::uint32_t& named = names_[pair_key(node.parent, node.name)];
    if (named == none) {
      named = name_count_++;
    }
    std::uint32_t& id = ids_[pair_key(named, static_cast<std::uint32_t>(node.index))];
    if (id == none) {
      id = static_cast<std::uint32_t>(paths_.size());
      paths_.push_back(node);
    }
    return id;
  }

 private:
  std::vector<path_node>& paths_;
  flat_map names_;
  flat_map ids_;
  std::uint32_t name_count_ = 0;
};

// A path is what stands below the innermost phase step; requests are no steps.
void read_labels(const trace& t, structure& s) {
  path_table table{s.paths};
  s.path_of_label.resize(t.labels.size(), whole_pass);
  s.label_is_cut.resize(t.labels.size(), 0);
  for (std::uint32_t l = 0; l < t.labels.size(); ++l) {
    const label_node& node = t.labels[l];
    if (node.kind == range_kind::phase) {
      continue;
    }
    const bool has_parent = node.parent < l;
    s.broken_ranges += !has_parent && node.parent != none ? 1 : 0;
    const std::uint32_t parent = has_parent ? s.path_of_label[node.parent] : whole_pass;
    const std::uint32_t depth = s.paths[parent].depth;
    if (node.kind == range_kind::request || depth >= max_depth) {
      s.path_of_label[l] = parent;
      s.label_is_cut[l] =
          node.kind != range_kind::request || (has_parent && s.label_is_cut[node.parent] != 0);
    } else {
      s.path_of_label[l] = table.intern({parent, node.name, node.index, node.kind, depth + 1});
    }
  }
}

void read_window(const trace& t, structure& s) {
  s.window = {clamp_time(t.begin), clamp_time(t.end)};
  if (s.window.end > s.window.begin) {
    return;
  }
  s.window = {far, -far};
  const auto widen = [&](time_ns begin, time_ns end) {
    s.window.begin = std::min(s.window.begin, clamp_time(begin));
    s.window.end = std::max(s.window.end, clamp_time(std::max(begin, end)));
  };
  for (const range& r : t.ranges) {
    widen(r.begin, r.end);
  }
  for (std::size_t i = 0; i < t.calls.size(); ++i) {
    widen(t.calls.begin[i], t.calls.end[i]);
  }
  for (std::size_t i = 0; i < t.activities.size(); ++i) {
    const bool timed = t.activities.end[i] >= t.activities.begin[i] &&
                       (t.activities.begin[i] != 0 || t.activities.end[i] != 0);
    if (timed) {
      widen(t.activities.begin[i], t.activities.end[i]);
    }
  }
  if (s.window.end < s.window.begin) {
    s.window = {};
  }
}

// "prefill 1×512, decode 16": sequences × tokens of each, or "prefill 3 (1000 tokens)" where they differ.
std::string batch_text(const std::array<std::int64_t, attribute_count>& a) {
  std::string out;
  const auto side = [&](const char* name, std::int64_t sequences, std::int64_t tokens, bool prefill) {
    if (sequences <= 0 && tokens <= 0) {
      return;
    }
    out += out.empty() ? "" : ", ";
    out += name;
    if (sequences <= 0) {
      out += ' ' + std::to_string(tokens) + " tokens";
      return;
    }
    out += ' ' + std::to_string(sequences);
    if (tokens % sequences != 0) {
      out += " (" + std::to_string(tokens) + " tokens)";
    } else if (tokens > 0 && (prefill || tokens != sequences)) {
      out += "\u00d7" + std::to_string(tokens / sequences);
    }
  };
  side("prefill", a[VARVE_PREFILL_SEQUENCES], a[VARVE_PREFILL_TOKENS], true);
  side("decode", a[VARVE_DECODE_SEQUENCES], a[VARVE_DECODE_TOKENS], false);
  return out;
}

void read_ranges(const trace& t, structure& s) {
  s.ranges.resize(t.ranges.size());
  for (std::uint32_t r = 0; r < t.ranges.size(); ++r) {
    const range& record = t.ranges[r];
    const bool has_parent = record.parent < r;
    const bool has_label = record.label < t.labels.size();
    s.broken_ranges += (!has_parent && record.parent != none) || (!has_label && record.label != none) ||
                               record.end < record.begin
                           ? 1
                           : 0;
    range_place& here = s.ranges[r];
    if (has_parent) {
      here = s.ranges[record.parent];
    }
    if (record.kind == range_kind::phase) {
      const interval host = extent(record);
      here = {r, static_cast<std::uint32_t>(s.passes.size()), 0, false, false};
      s.passes.push_back({r, no_pass_key, host.begin, host.end, host.end, record.thread, false});
      continue;
    }
    const std::uint32_t path = has_label ? s.path_of_label[record.label] : whole_pass;
    if (record.kind == range_kind::request || path == whole_pass) {
      continue;  // no step of its own: its work is that of the range around it
    }
    const bool cut =
        s.label_is_cut[record.label] != 0 && here.owner != none && s.path_of(t, here.owner) == path;
    if (cut || here.depth >= max_depth) {
      ++s.deep_ranges;
      continue;
    }
    here.owner = r;
    ++here.depth;
  }
}

void read_attributes(const trace& t, structure& s) {
  const auto pass_of = [&](std::uint32_t r) {
    return r < t.ranges.size() && t.ranges[r].kind == range_kind::phase ? s.ranges[r].pass : none;
  };
  for (const range_attribute& a : t.attributes) {
    const std::uint32_t p = pass_of(a.range);
    if (p != none && static_cast<std::size_t>(a.key) < attribute_count) {
      s.attributes.resize(s.passes.size());
      s.attributes[p][static_cast<std::size_t>(a.key)] = a.value;
    }
  }
  s.works = choose_works(t, s.ranges);
  for (const range_work& w : t.works) {
    if (const std::uint32_t owner = s.works.owner_of(w, s.ranges);
        owner != none && declares_work(w.declared)) {
      s.ranges[owner].declares = true;
      s.ranges[owner].has_work = true;
    }
  }
  for (const path_work& w : t.path_works) {
    const std::uint32_t p = pass_of(w.range);
    const std::uint32_t path = w.label < t.labels.size() ? s.path_of_label[w.label] : whole_pass;
    if (p != none && path != whole_pass && declares_work(w.declared)) {
      s.described.add(p, path, w.declared);
      s.passes[p].has_work = true;
    }
  }
  for (std::uint32_t r = static_cast<std::uint32_t>(t.ranges.size()); r-- > 0;) {
    if (!s.ranges[r].has_work) {
      continue;
    }
    if (t.ranges[r].kind == range_kind::phase) {
      s.passes[s.ranges[r].pass].has_work = true;
    } else if (t.ranges[r].parent < r) {
      s.ranges[t.ranges[r].parent].has_work = true;
    }
  }
}

/// Passes for find_ramps(): of one kind where name and model are the same.
std::vector<sized_pass> sized_passes(const trace& t, const structure& s,
                                     const std::vector<std::uint32_t>& models) {
  std::vector<sized_pass> out(s.passes.size());
  flat_map kinds;
  std::uint32_t kind_count = 0;
  for (std::uint32_t p = 0; p < s.passes.size(); ++p) {
    const range& record = t.ranges[s.passes[p].range];
    const std::uint32_t name = record.label < t.labels.size() ? t.labels[record.label].name : none;
    const std::string_view text = t.strings[name];
    if (text == VARVE_LOAD || text == VARVE_CAPTURE || text == VARVE_WARM_UP) {
      continue;  // never steady, and rows of their own already
    }
    std::uint32_t& kind = kinds[pair_key(name, models[p])];
    if (kind == none) {
      kind = kind_count++;
    }
    out[p].kind = kind;
    out[p].begin = s.passes[p].begin;
    if (!s.attributes.empty()) {
      out[p].batch = batch_of(s.attributes[p]);
    }
  }
  return out;
}

std::string kind_of(const trace& t, const pass& p) {
  const range& record = t.ranges[p.range];
  const std::string_view text =
      t.strings[record.label < t.labels.size() ? t.labels[record.label].name : none];
  return text.empty() ? "(unnamed)" : std::string{text};
}

void read_keys(const trace& t, const analyze_options& options, structure& s) {
  s.keys.push_back({});
  if (s.passes.empty()) {
    s.implicit_pass = true;
    s.keys.push_back({"(trace)", none, {}});
    if (options.steady) {
      s.ramps.unsized_kinds = 1;
      s.unsized_names = {s.keys.back().phase};
    }
    s.passes.push_back({none, 1, s.window.begin, s.window.end, s.window.end, narrow_none, false});
    for (range_place& place : s.ranges) {
      place.pass = 0;
    }
    return;
  }
  std::vector<std::uint32_t> models(s.passes.size(), none);
  for (const range_model& m : t.models) {
    if (m.range < t.ranges.size() && t.ranges[m.range].kind == range_kind::phase) {
      models[s.ranges[m.range].pass] = m.name < t.strings.size() ? m.name : none;
    }
  }
  if (options.steady) {
    s.ramps = find_ramps(sized_passes(t, s, models));
    for (const std::uint32_t p : s.ramps.unsized) {
      std::string name = kind_of(t, s.passes[p]);
      if (models[p] != none) {
        name.append(" of ").append(t.strings[models[p]]);
      }
      s.unsized_names.push_back(std::move(name));
    }
  }
  std::unordered_map<std::string, std::uint32_t> batches;
  flat_map names;
  flat_map ids;
  std::uint32_t name_count = 0;
  for (std::uint32_t p = 0; p < s.passes.size(); ++p) {
    const range& record = t.ranges[s.passes[p].range];
    const std::uint32_t name = record.label < t.labels.size() ? t.labels[record.label].name : none;
    const std::string_view text = t.strings[name];
    std::string batch =
        options.by_batch && !s.attributes.empty() ? batch_text(s.attributes[p]) : std::string{};
    const bool ramp = !s.ramps.is_ramp.empty() && s.ramps.is_ramp[p];
    std::uint32_t& named = names[pair_key(text.empty() ? none : name, models[p])];
    if (named == none) {
      named = name_count++;
    }
    const auto b = batches.emplace((ramp ? "ramp " : "") + batch, static_cast<std::uint32_t>(batches.size()))
                       .first->second;
    std::uint32_t& key = ids[pair_key(named, b)];
    if (key == none) {
      key = static_cast<std::uint32_t>(s.keys.size());
      s.keys.push_back({kind_of(t, s.passes[p]).append(ramp ? " (ramp)" : ""), models[p], std::move(batch)});
    }
    s.passes[p].key = key;
  }
}

}  // namespace

structure read_structure(const trace& t, const analyze_options& options) {
  structure s;
  read_labels(t, s);
  read_window(t, s);
  read_ranges(t, s);
  read_attributes(t, s);
  read_keys(t, options, s);
  return s;
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
