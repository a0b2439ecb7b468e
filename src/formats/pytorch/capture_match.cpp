// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/capture_match.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

struct pass_size {
  std::int64_t tokens = 0;
  std::int64_t sequences = 0;
};

std::uint64_t add_kind(std::uint64_t hash, activity_kind kind) noexcept {
  hash = (hash ^ (static_cast<std::uint64_t>(kind) + 1)) * 0x9E3779B97F4A7C15ULL;
  return hash ^ hash >> 29U;
}

class matcher {
 public:
  matcher(const trace& t, const graph_launches& launches, const captures& captured)
      : trace_{t}, launches_{launches}, captured_{captured} {}

  capture_matches run() {
    read_captures();
    read_passes();
    for (std::uint32_t r = 0; r < launches_.replays.size(); ++r) {
      out_.of_replay.push_back(choose(r));
    }
    return std::move(out_);
  }

 private:
  void read_captures() {
    for (std::uint32_t g = 0; g < captured_.graphs.size(); ++g) {
      const captured_graph& graph = captured_.graphs[g];
      std::uint64_t hash = 0;
      bool lends = false;
      for (std::size_t n = graph.first; n < graph.last; ++n) {
        hash = add_kind(hash, captured_.nodes[n].kind);
        lends |= captured_.nodes[n].label != none;
      }
      if (lends) {
        with_kinds_[hash].push_back(g);
      }
      sizes_[{graph.size.unit, graph.size.mode}].push_back(graph.size.size);
    }
    for (auto& [key, sizes] : sizes_) {
      std::sort(sizes.begin(), sizes.end());
    }
    for (std::uint32_t s = 0; s < captured_.strings.size(); ++s) {
      names_.push_back(trace_.strings.find(captured_.strings[s]));
    }
    for (const replayed_graph& g : launches_.graphs) {
      std::uint64_t hash = 0;
      bool branches = false;
      for (const graph_position& p : g.positions) {
        hash = add_kind(hash, p.kind);
        branches |= p.stream_rank != 0;
      }
      hashes_.push_back(hash);
      branches_.push_back(branches);
    }
  }

  void read_passes() {
    for (const range_attribute& a : trace_.attributes) {
      pass_size& size = sizes_of_pass_[a.range];
      if (a.key == VARVE_PREFILL_TOKENS || a.key == VARVE_DECODE_TOKENS) {
        size.tokens += std::max<std::int64_t>(0, a.value);
      } else if (a.key == VARVE_PREFILL_SEQUENCES || a.key == VARVE_DECODE_SEQUENCES) {
        size.sequences += std::max<std::int64_t>(0, a.value);
      }
    }
    for (const replay& r : launches_.replays) {
      std::uint32_t pass = r.call != none ? trace_.calls.range[r.call] : none;
      while (pass != none && trace_.ranges[pass].kind != range_kind::phase) {
        pass = trace_.ranges[pass].parent;
      }
      passes_.push_back(pass);
      places_.push_back(launches_in_pass_[pass]++);
    }
  }

  /// The smallest captured size that holds the pass, as far as all that is known.
  [[nodiscard]] std::optional<std::int64_t> size_for(const capture_size& of, std::uint32_t pass) const {
    const auto found = sizes_of_pass_.find(pass);
    const std::int64_t need = pass == none || found == sizes_of_pass_.end() ? 0
                              : of.unit == capture_unit::tokens             ? found->second.tokens
                              : of.unit == capture_unit::sequences          ? found->second.sequences
                                                                            : 0;
    if (need == 0) {
      return std::nullopt;
    }
    const std::vector<std::int64_t>& sizes = sizes_.at({of.unit, of.mode});
    const auto enough = std::lower_bound(sizes.begin(), sizes.end(), need);
    return enough != sizes.end() ? *enough : -1;
  }

  [[nodiscard]] bool has_names_of(const replayed_graph& graph, const captured_graph& capture) const {
    if (graph.positions.size() != capture.last - capture.first) {
      return false;
    }
    for (std::size_t k = 0; k < graph.positions.size(); ++k) {
      const captured_node& n = captured_.nodes[capture.first + k];
      if (n.kind != graph.positions[k].kind ||
          (n.name != none && names_[n.name] != graph.positions[k].name)) {
        return false;
      }
    }
    return true;
  }

  capture_matches::match choose(std::uint32_t r) {
    const replay& at = launches_.replays[r];
    const std::uint64_t activities = at.last - at.first;
    if (branches_[at.graph]) {
      out_.branching += activities;
      return {};
    }
    capture_matches::match chosen;
    if (const auto found = with_kinds_.find(hashes_[at.graph]); found != with_kinds_.end()) {
      for (const std::uint32_t g : found->second) {
        const captured_graph& capture = captured_.graphs[g];
        const bool in_place =
            capture.pieces == 1 || (passes_[r] != none && capture.pieces == launches_in_pass_[passes_[r]] &&
                                    capture.piece == places_[r]);
        if (!in_place ||
            size_for(capture.size, passes_[r]).value_or(capture.size.size) != capture.size.size) {
          continue;
        }
        const captured_graph* const before = chosen.graph != none ? &captured_.graphs[chosen.graph] : nullptr;
        const bool same = before != nullptr && before->content == capture.content;
        if ((same && (!chosen.work_is_known || before->worth == capture.worth)) || !fits(at.graph, g)) {
          continue;
        }
        if (same) {
          chosen.work_is_known = false;
        } else if (before != nullptr) {
          out_.ambiguous += activities;
          return {};
        } else {
          chosen.graph = g;
        }
      }
    }
    out_.unmatched += chosen.graph == none ? activities : 0;
    return chosen;
  }

  /// has_names_of(), found out once.
  bool fits(std::uint32_t graph, std::uint32_t capture) {
    const auto [known, added] = fits_.try_emplace(std::uint64_t{graph} << 32U | capture, false);
    if (added) {
      known->second = has_names_of(launches_.graphs[graph], captured_.graphs[capture]);
    }
    return known->second;
  }

  const trace& trace_;
  const graph_launches& launches_;
  const captures& captured_;
  capture_matches out_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> with_kinds_;
  std::map<std::pair<capture_unit, std::string>, std::vector<std::int64_t>> sizes_;
  std::vector<std::uint32_t> names_;  // by string of captured_: in trace_.strings, or none
  std::vector<std::uint64_t> hashes_;
  std::vector<bool> branches_;
  std::unordered_map<std::uint32_t, pass_size> sizes_of_pass_;
  std::vector<std::uint32_t> passes_;  // by replay
  std::vector<std::uint32_t> places_;
  std::unordered_map<std::uint32_t, std::uint32_t> launches_in_pass_;
  std::unordered_map<std::uint64_t, bool> fits_;
};

}  // namespace

capture_matches match_captures(const trace& t, const graph_launches& launches, const captures& captured) {
  return matcher{t, launches, captured}.run();
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
