// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/graph_launches.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

constexpr std::uint64_t synthetic = std::uint64_t{1} << 63U;  // ids that no profiler gives
constexpr std::size_t tenth = 10;                             // what an incomplete launch may lack

std::uint64_t mixed(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

/// What an activity looks like: equal for the same node of two launches.
struct look {
  std::uint32_t name = none;
  std::uint32_t detail = none;
  std::uint32_t rest = 0;  // kind and stream's rank
  bool operator==(const look& o) const noexcept {
    return name == o.name && detail == o.detail && rest == o.rest;
  }
};
struct look_hash {
  std::size_t operator()(const look& l) const noexcept {
    return mixed((std::uint64_t{l.name} << 32U | l.detail) ^ mixed(l.rest));
  }
};

/// A sequence of looks that some launch ran, and where it belongs.
struct sequence {
  std::uint32_t replay = none;  // the first that ran it
  std::uint64_t hash = 0;
  std::uint64_t bag = 0;  // whatever the order
  std::uint32_t graph = none;
  std::vector<std::uint32_t> positions;  // empty: 0, 1, 2, …
  std::uint64_t count = 0;
};

class finder {
 public:
  finder(const trace& t, const std::vector<std::uint64_t>& graph_of_node)
      : trace_{t}, columns_{t.activities}, graph_of_node_{graph_of_node} {}

  graph_launches run() {
    collect();
    order();
    for (std::uint32_t r = 0; r < out_.replays.size(); ++r) {
      if (!by_nodes(r)) {
        add_sequence(r);
      }
    }
    place_nodes();
    join_sequences();
    number();
    add_times();
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::size_t size(std::uint32_t r) const noexcept {
    return out_.replays[r].last - out_.replays[r].first;
  }
  [[nodiscard]] std::size_t size(const sequence& s) const noexcept { return size(s.replay); }
  [[nodiscard]] const std::uint32_t* looks(const sequence& s) const noexcept {
    return looks_.data() + out_.replays[s.replay].first;
  }

  void collect();
  void order();
  bool by_nodes(std::uint32_t r);
  void place_nodes();
  void add_sequence(std::uint32_t r);
  void join_sequences();
  bool join_reordered(sequence& s);
  bool join_incomplete(sequence& s);
  std::uint32_t add_graph(const sequence& s);
  void number();
  void add_times();

  const trace& trace_;
  const activity_columns& columns_;
  const std::vector<std::uint64_t>& graph_of_node_;
  graph_launches out_;

  std::vector<std::uint32_t> looks_;  // by entry of out_.activities
  std::vector<std::uint32_t> ranks_;  // likewise: of the stream in its launch
  std::unordered_map<look, std::uint32_t, look_hash> look_ids_;

  std::vector<std::uint32_t> graph_with_node_;  // by graph node
  std::unordered_map<std::uint64_t, std::uint32_t> graph_with_id_;
  std::vector<std::uint32_t> fullest_;  // by graph of named nodes: the launch with most activities

  std::vector<sequence> sequences_;
  std::unordered_map<std::uint64_t, std::uint32_t> launches_with_bag_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> sequence_with_hash_;
  std::vector<std::uint32_t> sequence_of_replay_;
  std::vector<std::uint32_t> joined_;  // sequences that made a graph, the longer first
  std::unordered_map<std::uint64_t, std::uint32_t> graph_with_bag_;  // their sequences
  std::size_t steps_left_ = 0;
};

// Entries of out_.activities by launch, in the order of the file.
void finder::collect() {
  struct launch {
    std::uint32_t correlation;
    time_ns begin;
    std::uint32_t call;
  };
  std::vector<launch> launches;
  for (std::uint32_t c = 0; c < trace_.calls.size(); ++c) {
    if (trace_.calls.kind[c] == call_kind::graph_launch && trace_.calls.correlation[c] != 0 &&
        trace_.calls.captured[c] == 0) {
      launches.push_back({trace_.calls.correlation[c], trace_.calls.begin[c], c});
    }
  }
  if (launches.empty() && trace_.graph_nodes.empty()) {
    return;
  }
  const auto key = [](const launch& l) { return std::tuple{l.correlation, l.begin, l.call}; };
  std::sort(launches.begin(), launches.end(),
            [&](const launch& a, const launch& b) { return key(a) < key(b); });
  // Of several launches with one correlation the latest that begins before the activity.
  const auto find = [&](std::uint32_t correlation, time_ns at) {
    const auto after = std::upper_bound(launches.begin(), launches.end(), std::tuple{correlation, at, none},
                                        [&](const auto& wanted, const launch& l) { return wanted < key(l); });
    if (after != launches.begin() && after[-1].correlation == correlation) {
      return static_cast<std::uint32_t>(after - launches.begin() - 1);
    }
    return after != launches.end() && after->correlation == correlation
               ? static_cast<std::uint32_t>(after - launches.begin())
               : none;
  };

  struct member {
    std::uint32_t launch;
    std::uint32_t activity;
  };
  std::vector<member> members;
  std::unordered_map<std::uint32_t, std::uint32_t> unknown;  // correlation of a launch that is not there
  std::vector<std::pair<time_ns, std::uint32_t>> starts;     // begin, call
  for (const launch& l : launches) {
    starts.emplace_back(l.begin, l.call);
  }
  std::vector<std::uint64_t> sizes(launches.size(), 0);
  for (std::uint32_t i = 0; i < columns_.size(); ++i) {
    if (columns_.kind[i] == activity_kind::graph) {
      continue;
    }
    const std::uint32_t correlation = columns_.correlation[i];
    std::uint32_t l = correlation != 0 ? find(correlation, columns_.begin[i]) : none;
    if (l == none && columns_.node[i] != none) {
      const auto [known, added] = unknown.try_emplace(correlation, static_cast<std::uint32_t>(sizes.size()));
      if (added) {
        sizes.push_back(0);
        starts.emplace_back(columns_.begin[i], none);
      }
      l = known->second;
    }
    if (l != none) {
      members.push_back({l, i});
      ++sizes[l];
    }
  }

  std::vector<std::uint32_t> in_order;
  for (std::uint32_t l = 0; l < sizes.size(); ++l) {
    if (sizes[l] > 0) {
      in_order.push_back(l);
    }
  }
  std::sort(in_order.begin(), in_order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple{starts[a], a} < std::tuple{starts[b], b};
  });
  std::vector<std::size_t> next(sizes.size(), 0);
  std::size_t total = 0;
  for (const std::uint32_t l : in_order) {
    next[l] = total;
    out_.replays.push_back({starts[l].second, none, total, total + sizes[l]});
    total += sizes[l];
  }
  out_.activities.resize(total);
  for (const member& m : members) {
    out_.activities[next[m.launch]++] = m.activity;
  }
}

// Each launch's activities in an order that is the same for each launch of a graph, and what they look like.
void finder::order() {
  std::vector<std::uint32_t> streams(trace_.streams.size());
  std::iota(streams.begin(), streams.end(), 0U);
  std::sort(streams.begin(), streams.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t s) {
      const stream_info& info = trace_.streams[s];
      return std::tuple{info.device, info.context, info.stream, s};
    };
    return key(a) < key(b);
  });
  std::vector<std::uint32_t> place(streams.size() + 1, static_cast<std::uint32_t>(streams.size()));
  for (std::uint32_t k = 0; k < streams.size(); ++k) {
    place[streams[k]] = k;
  }
  const auto place_of = [&](std::uint32_t i) {
    return place[std::min<std::size_t>(columns_.stream[i], streams.size())];
  };

  looks_.resize(out_.activities.size());
  ranks_.resize(out_.activities.size());
  for (const replay& r : out_.replays) {
    std::sort(out_.activities.begin() + static_cast<std::ptrdiff_t>(r.first),
              out_.activities.begin() + static_cast<std::ptrdiff_t>(r.last),
              [&](std::uint32_t a, std::uint32_t b) {
                const auto key = [&](std::uint32_t i) {
                  return std::tuple{place_of(i), columns_.begin[i], columns_.end[i], i};
                };
                return key(a) < key(b);
              });
    std::uint32_t rank = 0;
    for (std::size_t k = r.first; k < r.last; ++k) {
      const std::uint32_t i = out_.activities[k];
      rank += k > r.first && place_of(i) != place_of(out_.activities[k - 1]) ? 1U : 0U;
      ranks_[k] = rank;
      const look l{columns_.name[i], columns_.detail[i],
                   static_cast<std::uint32_t>(columns_.kind[i]) | rank << 8U};
      looks_[k] = look_ids_.try_emplace(l, static_cast<std::uint32_t>(look_ids_.size())).first->second;
    }
  }
  look_ids_ = {};
}

// Where activities name their nodes, those tell the graph.
bool finder::by_nodes(std::uint32_t r) {
  const replay& at = out_.replays[r];
  graph_with_node_.resize(trace_.graph_nodes.size(), none);
  std::uint32_t graph = none;
  bool named = false;
  for (std::size_t k = at.first; k < at.last && graph == none; ++k) {
    const std::uint32_t node = columns_.node[out_.activities[k]];
    if (node >= trace_.graph_nodes.size()) {
      continue;
    }
    named = true;
    graph = graph_with_node_[node];
    if (const std::uint64_t id = graph_of_node_[node]; graph == none && id != 0) {
      const auto found = graph_with_id_.find(id);
      graph = found != graph_with_id_.end() ? found->second : none;
    }
  }
  if (!named) {
    return false;
  }
  if (graph == none) {
    graph = static_cast<std::uint32_t>(out_.graphs.size());
    out_.graphs.emplace_back().named_nodes = true;
    fullest_.push_back(r);
  }
  for (std::size_t k = at.first; k < at.last; ++k) {
    const std::uint32_t node = columns_.node[out_.activities[k]];
    if (node < trace_.graph_nodes.size() && graph_with_node_[node] == none) {
      graph_with_node_[node] = graph;
      if (graph_of_node_[node] != 0) {
        graph_with_id_.try_emplace(graph_of_node_[node], graph);
      }
    }
  }
  out_.replays[r].graph = graph;
  fullest_[graph] = size(r) > size(fullest_[graph]) ? r : fullest_[graph];
  return true;
}

// Nodes in the order of the launch with most of them, then those that it lacks. What has no id is the n-th
// that looks like it.
void finder::place_nodes() {
  out_.positions.resize(out_.activities.size());
  std::unordered_map<std::uint64_t, std::uint32_t> position_of_node;             // graph and node
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> positions_like;  // graph and look
  std::unordered_map<std::uint32_t, std::size_t> alike;                          // in this launch
  const auto place = [&](std::uint32_t r) {
    const replay& at = out_.replays[r];
    std::vector<graph_position>& positions = out_.graphs[at.graph].positions;
    alike.clear();
    for (std::size_t k = at.first; k < at.last; ++k) {
      const std::uint32_t i = out_.activities[k];
      const std::uint32_t node = columns_.node[i];
      const bool named = node < trace_.graph_nodes.size();
      std::uint32_t* known = nullptr;
      if (named) {
        known = &position_of_node.try_emplace(std::uint64_t{at.graph} << 32U | node, none).first->second;
      } else {
        std::vector<std::uint32_t>& all = positions_like[std::uint64_t{at.graph} << 32U | looks_[k]];
        const std::size_t n = alike[looks_[k]]++;
        all.resize(std::max(all.size(), n + 1), none);
        known = &all[n];
      }
      if (*known == none) {
        *known = static_cast<std::uint32_t>(positions.size());
        const auto rank = static_cast<std::uint16_t>(std::min<std::uint32_t>(ranks_[k], 0xFFFF));
        positions.push_back(
            {columns_.name[i], columns_.kind[i], rank, named ? trace_.graph_nodes[node].id : 0, 0});
      }
      out_.positions[k] = *known;
    }
  };
  for (const std::uint32_t r : fullest_) {
    place(r);
  }
  for (std::uint32_t r = 0; r < out_.replays.size(); ++r) {
    if (out_.replays[r].graph != none) {
      place(r);
    }
  }
}

void finder::add_sequence(std::uint32_t r) {
  const replay& at = out_.replays[r];
  sequence s;
  s.replay = r;
  for (std::size_t k = at.first; k < at.last; ++k) {
    const std::uint64_t h = mixed(looks_[k] + 1);
    s.hash = mixed(s.hash ^ h);
    s.bag += h;
  }
  ++launches_with_bag_[s.bag ^ mixed(size(s))];
  sequence_of_replay_.resize(out_.replays.size(), none);
  const auto [first, last] = sequence_with_hash_.equal_range(s.hash);
  for (auto found = first; found != last; ++found) {
    sequence& other = sequences_[found->second];
    if (size(other) == size(s) && std::equal(looks(s), looks(s) + size(s), looks(other))) {
      ++other.count;
      sequence_of_replay_[r] = found->second;
      return;
    }
  }
  s.count = 1;
  sequence_of_replay_[r] = static_cast<std::uint32_t>(sequences_.size());
  sequence_with_hash_.emplace(s.hash, sequence_of_replay_[r]);
  sequences_.push_back(std::move(s));
}

void finder::join_sequences() {
  if (sequences_.empty()) {
    return;
  }
  steps_left_ = 16 * out_.activities.size();
  std::vector<std::uint32_t> order(sequences_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return size(sequences_[a]) > size(sequences_[b]);
  });
  for (const std::uint32_t k : order) {
    sequence& s = sequences_[k];
    if (!join_reordered(s) && !join_incomplete(s)) {
      s.graph = add_graph(s);
      joined_.push_back(k);
      graph_with_bag_.try_emplace(s.bag ^ mixed(size(s)), k);
    }
  }
  for (std::uint32_t r = 0; r < out_.replays.size(); ++r) {
    replay& at = out_.replays[r];
    if (at.graph != none) {
      continue;
    }
    const sequence& s = sequences_[sequence_of_replay_[r]];
    at.graph = s.graph;
    for (std::size_t k = 0; k < size(r); ++k) {
      out_.positions[at.first + k] = s.positions.empty() ? static_cast<std::uint32_t>(k) : s.positions[k];
    }
  }
}

std::uint32_t finder::add_graph(const sequence& s) {
  const replay& at = out_.replays[s.replay];
  replayed_graph g;
  for (std::size_t k = at.first; k < at.last; ++k) {
    const std::uint32_t i = out_.activities[k];
    const auto rank = static_cast<std::uint16_t>(std::min<std::uint32_t>(ranks_[k], 0xFFFF));
    g.positions.push_back({columns_.name[i], columns_.kind[i], rank, 0, 0});
  }
  out_.graphs.push_back(std::move(g));
  return static_cast<std::uint32_t>(out_.graphs.size() - 1);
}

// The same looks in another order: the n-th of a look is the n-th there.
bool finder::join_reordered(sequence& s) {
  const auto found = graph_with_bag_.find(s.bag ^ mixed(size(s)));
  if (found == graph_with_bag_.end()) {
    return false;
  }
  const sequence& other = sequences_[found->second];
  if (size(other) != size(s)) {
    return false;
  }
  const auto by_look = [&](const sequence& q) {
    std::vector<std::uint32_t> order(size(q));
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return looks(q)[a] < looks(q)[b]; });
    return order;
  };
  const std::vector<std::uint32_t> from = by_look(s);
  const std::vector<std::uint32_t> to = by_look(other);
  for (std::size_t k = 0; k < from.size(); ++k) {
    if (looks(s)[from[k]] != looks(other)[to[k]]) {
      return false;
    }
  }
  s.graph = other.graph;
  s.positions.resize(from.size());
  for (std::size_t k = 0; k < from.size(); ++k) {
    s.positions[from[k]] = to[k];
  }
  out_.reordered += s.count;
  return true;
}

// The sequence of one graph alone with less than a tenth left out. What repeats is no accident, but a graph.
bool finder::join_incomplete(sequence& s) {
  const std::size_t n = size(s);
  if (launches_with_bag_[s.bag ^ mixed(n)] > 1) {
    return false;
  }
  // Longer ones, the shortest of them last.
  const auto end = std::partition_point(joined_.begin(), joined_.end(),
                                        [&](std::uint32_t k) { return size(sequences_[k]) > n; });
  const sequence* fits = nullptr;
  bool several = false;
  std::vector<std::uint32_t> places(n);
  std::vector<std::uint32_t> left;
  for (auto k = end; k != joined_.begin() && !several;) {
    const sequence& other = sequences_[*--k];
    const std::size_t m = size(other);
    if ((m - n) * tenth >= m) {
      break;
    }
    if (steps_left_ <= m) {
      out_.uncompared += s.count;
      return false;
    }
    --steps_left_;
    std::size_t at = 0;
    std::size_t done = 0;
    for (; done < n && at - done <= m - n; ++at, --steps_left_) {
      if (looks(other)[at] == looks(s)[done]) {
        places[done++] = static_cast<std::uint32_t>(at);
      }
    }
    if (done == n && at - done <= m - n) {
      several = fits != nullptr;
      fits = &other;
      left = places;
    }
  }
  out_.ambiguous += several ? s.count : 0;
  if (fits == nullptr || several) {
    return false;
  }
  // From behind too: what lands elsewhere then could be either.
  std::vector<std::uint32_t> right(n);
  std::size_t at = size(*fits);
  for (std::size_t done = n; done > 0;) {
    --at;
    if (looks(*fits)[at] == looks(s)[done - 1]) {
      right[--done] = static_cast<std::uint32_t>(at);
    }
  }
  for (std::size_t k = 0; k < n; ++k) {
    left[k] |= left[k] != right[k] ? graph_launches::unsure : 0;
  }
  s.graph = fits->graph;
  s.positions = std::move(left);
  return true;
}

// Graphs in order of first launch, and ids for nodes that have none.
void finder::number() {
  std::vector<std::uint32_t> renamed(out_.graphs.size(), none);
  std::vector<replayed_graph> graphs;
  for (replay& r : out_.replays) {
    if (renamed[r.graph] == none) {
      renamed[r.graph] = static_cast<std::uint32_t>(graphs.size());
      graphs.push_back(std::move(out_.graphs[r.graph]));
    }
    r.graph = renamed[r.graph];
  }
  out_.graphs = std::move(graphs);
  std::uint64_t next = synthetic;
  for (replayed_graph& g : out_.graphs) {
    for (graph_position& p : g.positions) {
      p.id = p.id != 0 ? p.id : next++;
    }
  }
}

void finder::add_times() {
  for (const replay& r : out_.replays) {
    for (std::size_t k = r.first; k < r.last; ++k) {
      const std::uint32_t i = out_.activities[k];
      // The importer bounds the sum of all durations.
      out_.graphs[r.graph].positions[out_.positions[k] & ~graph_launches::unsure].time +=
          columns_.end[i] - columns_.begin[i];
    }
  }
}

}  // namespace

graph_launches find_graph_launches(const trace& t, const std::vector<std::uint64_t>& graph_of_node) {
  return finder{t, graph_of_node}.run();
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
