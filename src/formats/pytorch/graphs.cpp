// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/graphs.hpp"

#include "formats/pytorch/capture_match.hpp"
#include "formats/pytorch/graph_launches.hpp"
#include "formats/pytorch/graph_paths.hpp"
#include "formats/pytorch/module_counts.hpp"
#include "formats/pytorch/repeats.hpp"

#include <varve/report.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

constexpr std::size_t most_places = 20'000;  // that get a row of their own, of all graphs of a trace
constexpr std::size_t most_sentences = 8;

std::string counted(std::size_t n, const char* one, const char* many) {
  return std::to_string(n) + ' ' + (n == 1 ? one : many);
}

/// "4, 6, 12, …": the smallest few.
std::string listed(const std::set<std::size_t>& numbers) {
  constexpr std::size_t most = 8;
  std::string out;
  std::size_t n = 0;
  for (const std::size_t number : numbers) {
    out += n == 0 ? "" : ", ";
    if (++n > most) {
      return out + "…";
    }
    out += std::to_string(number);
  }
  return out;
}

class labeller {
 public:
  labeller(trace& t, const std::vector<std::uint64_t>& graph_of_node, const captures& captured,
           std::size_t layers, const std::string& where)
      : trace_{t},
        captured_{captured},
        where_{where},
        paths_{t, captured},
        launches_{find_graph_launches(t, graph_of_node)} {
    if (layers != 0) {
      layer_counts_ = {layers};
    } else if (!launches_.replays.empty()) {
      layer_counts_ = count_modules(t.labels);
      layer_counts_.insert(layer_counts_.end(), captured.layer_counts.begin(), captured.layer_counts.end());
    }
  }

  std::string run() {
    trace_.captures_given = captured_.given;
    for (const loss& l : captured_.losses) {
      trace_.lose(l.what, l.where, l.count);
    }
    if (launches_.replays.empty()) {
      return {};
    }
    infer_layers();
    if (captured_.given) {
      matches_ = match_captures(trace_, launches_, captured_);
    }
    place_all();
    count_losses();
    return sentences();
  }

 private:
  /// One graph as it was launched in ranges of one path, with the layers of one capture.
  struct placement {
    std::uint32_t graph = none;
    std::uint32_t context = none;  // label of the range around, below its pass
    capture_matches::match capture;
    std::uint32_t label = none;         // of the graph, once it is needed
    std::vector<std::uint32_t> nodes;   // by position: in nodes_, or none; empty where nodes are named
    std::vector<std::uint32_t> layers;  // their labels
  };

  void infer_layers();
  void place_all();
  std::uint32_t placement_of(std::uint32_t replay);
  std::uint32_t& node_of(std::uint32_t placed, std::uint32_t position);
  graph_node make_node(placement& p, std::uint32_t position, bool& in_row);
  std::uint32_t graph_label(placement& p);
  [[nodiscard]] std::string graph_name(std::uint32_t graph) const;
  [[nodiscard]] std::string sentences() const;
  void count_losses();

  trace& trace_;
  const captures& captured_;
  const std::string& where_;
  graph_paths paths_;
  graph_launches launches_;
  std::vector<std::size_t> layer_counts_;
  std::vector<std::optional<repeat>> repeats_;  // by graph
  capture_matches matches_;
  std::vector<bool> has_layers_;  // by graph: as many blocks as there are layers, as far as that is known
  std::vector<bool> layers_used_;

  std::vector<placement> placements_;
  std::unordered_map<std::uint64_t, std::uint32_t> placement_ids_;
  std::unordered_map<std::uint64_t, std::uint32_t> contexts_;      // graph and label: a number for both
  std::unordered_map<std::uint64_t, std::uint32_t> sparse_nodes_;  // placement and position
  std::vector<graph_node> nodes_;
  std::vector<bool> in_row_;  // by node
  std::size_t places_ = 0;
  std::uint64_t without_row_ = 0;
  std::uint64_t unsure_ = 0;
  std::uint64_t other_count_ = 0;  // activities in blocks that are not as many as the layers
  std::set<std::size_t> other_counts_;
};

void labeller::infer_layers() {
  for (const replayed_graph& graph : launches_.graphs) {
    const std::vector<graph_position>& positions = graph.positions;
    std::vector<std::uint32_t> names;
    std::vector<time_ns> times;
    for (const graph_position& p : positions) {
      names.push_back(p.name);
      times.push_back(p.time);
    }
    repeats_.push_back(find_repeat(names, times, [&](std::size_t at) {
      return positions[at].kind == activity_kind::kernel &&
             kernel_category(trace_.strings[names[at]]) == "normalisation";
    }));
    const std::optional<repeat>& found = repeats_.back();
    has_layers_.push_back(found &&
                          (layer_counts_.empty() || std::find(layer_counts_.begin(), layer_counts_.end(),
                                                              found->count) != layer_counts_.end()));
  }
}

std::string labeller::graph_name(std::uint32_t graph) const {
  return "graph " + std::to_string(graph + 1) + " (" +
         counted(launches_.graphs[graph].positions.size(), "node", "nodes") + ')';
}

std::string labeller::sentences() const {
  std::string out;
  std::size_t said = 0;
  for (std::uint32_t g = 0; g < launches_.graphs.size() && said < most_sentences; ++g) {
    if (layers_used_[g]) {
      const repeat& r = *repeats_[g];
      ++said;
      out += "; " + graph_name(g) + ": " + std::to_string(r.count) + " layers inferred from " +
             counted(r.length, "kernel", "kernels") + " that repeat" +
             (r.kinds > 1 ? " in turns of " + std::to_string(r.kinds) + " kinds" : "");
    }
  }
  return out;
}

void labeller::place_all() {
  layers_used_.resize(launches_.graphs.size(), false);
  for (std::uint32_t r = 0; r < launches_.replays.size(); ++r) {
    const replay& at = launches_.replays[r];
    const std::uint32_t placed = placement_of(r);
    if (placements_[placed].capture.graph == none && repeats_[at.graph]) {
      const bool fits = has_layers_[at.graph];
      layers_used_[at.graph] = fits;
      if (!fits) {
        other_count_ += at.last - at.first;
        other_counts_.insert(repeats_[at.graph]->count);
      }
    }
    for (std::size_t k = at.first; k < at.last; ++k) {
      const std::uint32_t position = launches_.positions[k];
      std::uint32_t& node = node_of(placed, position);
      if (node == none) {
        bool in_row = true;
        graph_node made = make_node(placements_[placed], position, in_row);
        node = static_cast<std::uint32_t>(nodes_.size());
        nodes_.push_back(made);
        in_row_.push_back(in_row);
      }
      trace_.activities.node[launches_.activities[k]] = node;
      without_row_ += in_row_[node] ? 0U : 1U;
      unsure_ += (position & graph_launches::unsure) != 0 ? 1U : 0U;
    }
  }
  trace_.graph_nodes = std::move(nodes_);
}

std::uint32_t labeller::placement_of(std::uint32_t replay) {
  const struct replay& at = launches_.replays[replay];
  placement p;
  p.graph = at.graph;
  if (!matches_.of_replay.empty()) {
    p.capture = matches_.of_replay[replay];
  }
  const std::uint32_t range = at.call != none ? trace_.calls.range[at.call] : none;
  p.context = range != none ? paths_.below_pass(trace_.ranges[range].label) : none;
  const std::uint32_t context = contexts_
                                    .try_emplace(std::uint64_t{p.graph} << 32U | p.context,
                                                 static_cast<std::uint32_t>(contexts_.size()))
                                    .first->second;
  const auto [known, added] =
      placement_ids_.try_emplace(std::uint64_t{context} << 33U | std::uint64_t{p.capture.graph} << 1U |
                                     (p.capture.work_is_known ? 1U : 0U),
                                 static_cast<std::uint32_t>(placements_.size()));
  if (added) {
    const replayed_graph& graph = launches_.graphs[p.graph];
    p.nodes.resize(graph.named_nodes ? 0 : graph.positions.size(), none);
    placements_.push_back(std::move(p));
  }
  return known->second;
}

std::uint32_t& labeller::node_of(std::uint32_t placed, std::uint32_t position) {
  placement& p = placements_[placed];
  if (position < p.nodes.size()) {
    return p.nodes[position];
  }
  return sparse_nodes_.try_emplace(std::uint64_t{placed} << 32U | position, none).first->second;
}

graph_node labeller::make_node(placement& p, std::uint32_t position, bool& in_row) {
  const bool sure = (position & graph_launches::unsure) == 0;
  position &= ~graph_launches::unsure;
  const replayed_graph& graph = launches_.graphs[p.graph];
  graph_node node;
  node.id = graph.positions[position].id;
  node.told_by_look = !graph.named_nodes;
  if (p.capture.graph != none) {
    const captured_node& lent = captured_.nodes[captured_.graphs[p.capture.graph].first + position];
    if (sure && lent.label != none) {
      node.label = paths_.lent(p.context, lent.label);
      node.source = label_source::capture_trace;
      if (lent.work != none && p.capture.work_is_known) {
        node.declared = captured_.works[lent.work];
      }
      return node;
    }
  }
  node.label = graph_label(p);
  node.source = label_source::position;
  if (!sure) {
    return node;
  }
  std::size_t index = position;
  if (p.capture.graph == none && has_layers_[p.graph]) {
    const std::optional<repeat>& layers = repeats_[p.graph];
    const std::size_t past = position - layers->first;
    if (position >= layers->first && past < layers->count * layers->length) {
      p.layers.resize(layers->count, none);
      std::uint32_t& layer = p.layers[past / layers->length];
      if (layer == none) {
        layer = trace_.labels.intern({node.label, trace_.strings.intern("inferred layer"),
                                      static_cast<std::int32_t>(past / layers->length), range_kind::layer});
      }
      node.label = layer;
      node.source = label_source::inferred;
      index = past % layers->length;
    }
  }
  in_row = places_ < most_places;
  if (in_row) {
    ++places_;
    node.label = trace_.labels.intern({node.label, paths_.short_name(graph.positions[position].name),
                                       static_cast<std::int32_t>(index), range_kind::op});
  }
  return node;
}

std::uint32_t labeller::graph_label(placement& p) {
  if (p.label == none) {
    p.label = trace_.labels.intern(
        {p.context, trace_.strings.intern(graph_name(p.graph)), no_index, range_kind::op});
  }
  return p.label;
}

void labeller::count_losses() {
  const auto lose = [&](std::string_view what, std::uint64_t count) { trace_.lose(what, where_, count); };
  lose("graph launches that ran their nodes in another order than others: nodes told by their names",
       launches_.reordered);
  lose("graph launches that may be incomplete ones of several graphs: each taken as a graph of its own",
       launches_.ambiguous);
  lose("graph launches not compared for being incomplete, since too many differ", launches_.uncompared);
  lose("activities of incomplete graph launches that may be one node or another: in their graph's row alone",
       unsure_);
  lose("activities of graphs without a row of their own: more than 20000 places", without_row_);
  lose("activities without inferred layers: kernels repeat in blocks (" + listed(other_counts_) +
           "), but not as often as the model has layers (" +
           listed({layer_counts_.begin(), layer_counts_.end()}) + ')',
       other_count_);
  lose("activities of graphs that none of the traces of captures given fits", matches_.unmatched);
  lose("activities of graphs that several of the traces of captures given fit: none is taken",
       matches_.ambiguous);
  lose("activities of graphs on several streams: no trace of a capture is matched", matches_.branching);
}

}  // namespace

std::string label_graphs(trace& t, const std::vector<std::uint64_t>& graph_of_node, const captures& captured,
                         std::size_t layers, const std::string& where) {
  return labeller{t, graph_of_node, captured, layers, where}.run();
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
