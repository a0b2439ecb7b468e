// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/numbered.hpp"

#include "formats/pytorch/inference.hpp"
#include "formats/pytorch/text_scanner.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

constexpr std::uint64_t fewest_layers = 2;  ///< siblings, where their name says what they are
constexpr std::uint64_t fewest_others = 5;  ///< as many as have peers

struct numbered_name {
  std::string_view stem;
  std::int32_t number = no_index;
};

/// "layers.7" as ("layers", 7).
std::optional<numbered_name> split(std::string_view text) {
  constexpr std::string_view separators = " _.";
  const std::size_t at = text.find_last_not_of("0123456789");
  if (at == std::string_view::npos || at == 0 || separators.find(text[at]) == std::string_view::npos ||
      separators.find(text[at - 1]) != std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view digits = text.substr(at + 1);
  const auto number = index_of(digits);
  if (!number || (digits.size() > 1 && digits.front() == '0')) {
    return std::nullopt;
  }
  return numbered_name{text.substr(0, at), *number};
}

/// Whether its last word is what models call what they repeat.
bool names_layer(std::string_view stem) {
  const std::size_t separator = stem.find_last_of(" _./:");
  const std::string_view word = separator == std::string_view::npos ? stem : stem.substr(separator + 1);
  const auto ends_with = [&](std::string_view end) {
    return word.size() >= end.size() &&
           std::equal(end.begin(), end.end(), word.end() - static_cast<std::ptrdiff_t>(end.size()),
                      [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b); });
  };
  return word == "h" || ends_with("layer") || ends_with("layers") || ends_with("block") ||
         ends_with("blocks");
}

/// "layers" of "model.layers".
std::string_view last_part(std::string_view stem) { return stem.substr(stem.rfind('.') + 1); }

class indexer {
 public:
  indexer(trace& t, annotation_list& list, time_ns slack)
      : trace_{t}, list_{list}, parents_{parents_of(list, slack)}, uses_(list.all.size(), none) {}

  void run() {
    find_uses();
    count();
    std::unordered_map<std::string_view, std::uint64_t> last_parts;
    for (stem& s : stems_) {
      const auto numbers = static_cast<std::uint64_t>(s.numbers.size());
      const bool consecutive = std::uint64_t{1} + static_cast<std::uint64_t>(s.highest - s.lowest) == numbers;
      s.is_label = consecutive &&
                   (s.is_layer ? s.siblings >= fewest_layers : s.siblings >= fewest_others && s.lowest <= 1);
      last_parts[last_part(s.text)] += s.is_label ? 1U : 0U;
    }
    for (stem& s : stems_) {
      s.shown = last_parts[last_part(s.text)] == 1 ? last_part(s.text) : s.text;
    }
    rename();
  }

 private:
  struct stem {
    std::string_view text;   ///< in stem_of_text_
    std::string_view shown;  ///< what no other one is called
    bool is_layer = false;
    bool is_label = false;
    std::int32_t lowest = std::numeric_limits<std::int32_t>::max();
    std::int32_t highest = 0;
    std::unordered_set<std::int32_t> numbers;
    std::uint64_t siblings = 0;  ///< most different ones below one annotation
  };
  /// A label below another one.
  struct use {
    std::uint32_t label = none;
    std::size_t cut = 0;        ///< what its text begins with of the text around it
    std::uint32_t stem = none;  ///< of the rest
    std::int32_t number = no_index;
    std::uint32_t renamed[2] = {none, none};  ///< label instead: as it is, and with the cut
  };

  [[nodiscard]] bool is_plain(std::uint32_t label) const noexcept {
    const mark& m = list_.labels[label].means;
    return m.form == mark_form::plain && m.kind == range_kind::op && m.index == no_index && !m.by_rule;
  }
  [[nodiscard]] std::string_view text(std::uint32_t label) const noexcept {
    return list_.labels[label].means.name;
  }

  void find_uses();
  void count();
  void rename();
  std::uint32_t find_stem(std::string_view text);
  std::uint32_t label_for(use& u, bool cut);

  trace& trace_;
  annotation_list& list_;
  std::vector<std::uint32_t> parents_;
  std::vector<std::uint32_t> uses_;  // by annotation
  std::vector<use> all_uses_;
  std::unordered_map<std::string, std::uint32_t> stem_of_text_;
  std::vector<stem> stems_;
};

std::uint32_t indexer::find_stem(std::string_view text) {
  const auto [known, added] =
      stem_of_text_.try_emplace(std::string{text}, static_cast<std::uint32_t>(stems_.size()));
  if (added) {
    stems_.emplace_back().text = known->first;
    stems_.back().is_layer = names_layer(text);
  }
  return known->second;
}

void indexer::find_uses() {
  std::unordered_map<std::uint64_t, std::uint32_t> known;
  for (std::uint32_t i = 0; i < uses_.size(); ++i) {
    const std::uint32_t label = list_.all[i].label;
    if (!is_plain(label)) {
      continue;
    }
    const std::uint32_t around = parents_[i] == none ? none : list_.all[parents_[i]].label;
    const auto [at, added] =
        known.try_emplace(std::uint64_t{around} << 32U | label, static_cast<std::uint32_t>(all_uses_.size()));
    uses_[i] = at->second;
    if (!added) {
      continue;
    }
    use& u = all_uses_.emplace_back();
    u.label = label;
    const std::string_view name = text(label);
    if (around != none && is_plain(around) && name.size() > text(around).size() + 1 &&
        name.starts_with(text(around)) && name[text(around).size()] == '.') {
      u.cut = text(around).size() + 1;
    }
    if (const auto split_name = split(name.substr(u.cut))) {
      u.stem = find_stem(split_name->stem);
      u.number = split_name->number;
    }
  }
}

void indexer::count() {
  std::vector<bool> in_pass(uses_.size(), false);
  std::unordered_set<std::uint64_t> seen;                     // by annotation around and use
  std::unordered_map<std::uint64_t, std::uint64_t> siblings;  // by annotation around and stem
  for (std::uint32_t i = 0; i < uses_.size(); ++i) {
    const std::uint32_t parent = parents_[i];
    in_pass[i] = list_.means(list_.all[i]).kind == range_kind::phase || (parent != none && in_pass[parent]);
    if (uses_[i] == none || all_uses_[uses_[i]].stem == none) {
      continue;
    }
    const use& u = all_uses_[uses_[i]];
    stem& s = stems_[u.stem];
    s.lowest = std::min(s.lowest, u.number);
    s.highest = std::max(s.highest, u.number);
    s.numbers.insert(u.number);
    if ((in_pass[i] || s.is_layer) && seen.insert(std::uint64_t{parent} << 32U | uses_[i]).second) {
      s.siblings = std::max(s.siblings, ++siblings[std::uint64_t{parent} << 32U | u.stem]);
    }
  }
}

std::uint32_t indexer::label_for(use& u, bool cut) {
  std::uint32_t& label = u.renamed[cut ? 1 : 0];
  if (label == none) {
    label = static_cast<std::uint32_t>(list_.labels.size());
    mark means;
    means.name = list_.labels[u.label].means.name.substr(cut ? u.cut : 0);
    if (u.stem != none && stems_[u.stem].is_label) {
      means.name = stems_[u.stem].shown;
      means.index = u.number;
      means.kind = stems_[u.stem].is_layer ? range_kind::layer : range_kind::op;
    }
    list_.labels.push_back({trace_.strings.intern(means.name), std::move(means)});
  }
  return label;
}

void indexer::rename() {
  std::vector<bool> whole(uses_.size(), false);  // its text is that of a numbered one, or begins with it
  for (std::uint32_t i = 0; i < uses_.size(); ++i) {
    if (uses_[i] == none) {
      continue;
    }
    use& u = all_uses_[uses_[i]];
    const bool cut = u.cut > 0 && whole[parents_[i]];
    const bool numbered = u.stem != none && stems_[u.stem].is_label;
    whole[i] = numbered || cut;
    if (numbered || cut) {
      list_.all[i].label = label_for(u, cut);
    }
  }
}

}  // namespace

void index_numbered(trace& t, annotation_list& list, time_ns slack) {
  if (std::any_of(list.labels.begin(), list.labels.end(), [](const annotation_label& l) {
        return l.means.form == mark_form::plain && split(l.means.name).has_value();
      })) {
    indexer{t, list, slack}.run();
  }
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
