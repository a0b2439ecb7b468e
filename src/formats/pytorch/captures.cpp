// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/captures.hpp"

#include "formats/input/input.hpp"
#include "formats/pytorch/module_counts.hpp"
#include "formats/pytorch/read.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

constexpr std::size_t most_files = 4096;
constexpr std::size_t most_named = 8;  // files that are left out

class capture_reader {
 public:
  capture_reader(const read_options& options, captures& to) : options_{options}, to_{to} {
    options_.captures.clear();
    options_.progress = nullptr;
  }

  void add(const std::string& path) {
    capture_notes notes;
    const trace t = read_file(path, options_, {}, &notes);
    for (const loss& l : t.losses) {
      to_.losses.push_back(l);
    }
    for (const std::size_t n : count_modules(t.labels)) {
      to_.layer_counts.push_back(n);
    }
    labels_.assign(t.labels.size(), std::nullopt);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> kernels = notes.kernels;
    std::sort(kernels.begin(), kernels.end());

    std::sort(notes.marks.begin(), notes.marks.end(), [](const auto& a, const auto& b) {
      return std::tuple{a.thread, a.begin, a.end} < std::tuple{b.thread, b.begin, b.end};
    });
    const std::vector<std::uint32_t> calls = calls_without_work(t);
    std::vector<stretch> stretches = find_captures(t, notes.bounds);
    if (stretches.empty()) {
      for (const capture_notes::mark& m : notes.marks) {
        stretches.push_back({m.thread, m.begin, m.end});
      }
    }
    read_operators(t);
    const capture_size of_file = read_capture_name(std::filesystem::path{path}.filename().string());
    const std::size_t first_graph = to_.graphs.size();
    std::vector<std::size_t> mark_of;  // by graph from there: its capture
    const auto begin_graph = [&](const stretch& s) {
      auto mark = std::upper_bound(notes.marks.begin(), notes.marks.end(), std::tuple{s.thread, s.begin},
                                   [](const auto& at, const auto& m) {
                                     return at < std::tuple{m.thread, m.begin};
                                   });
      const bool inside = mark != notes.marks.begin() && mark[-1].thread == s.thread && s.end <= mark[-1].end;
      mark = inside ? mark - 1 : notes.marks.end();
      captured_graph g;
      g.size = mark != notes.marks.end() ? mark->size : of_file;
      g.first = g.last = to_.nodes.size();
      to_.graphs.push_back(std::move(g));
      // Without a size each graph may be a capture of its own.
      mark_of.push_back(mark != notes.marks.end() ? static_cast<std::size_t>(mark - notes.marks.begin())
                        : of_file.unit != capture_unit::unknown ? notes.marks.size()
                                                                : notes.marks.size() + 1 + mark_of.size());
    };
    const auto add_node = [&](std::uint32_t c) {
      captured_node n;
      n.kind = t.calls.kind[c] == call_kind::copy           ? activity_kind::copy
               : t.calls.kind[c] == call_kind::set          ? activity_kind::set
               : t.calls.kind[c] == call_kind::graph_launch ? activity_kind::graph
                                                            : activity_kind::kernel;
      const auto kernel = std::lower_bound(kernels.begin(), kernels.end(), std::pair{c, std::uint32_t{0}});
      if (kernel != kernels.end() && kernel->first == c) {
        n.name = to_.strings.intern(t.strings[kernel->second]);
      }
      const std::uint32_t r = t.calls.range[c];
      n.label = r < t.ranges.size() ? label_of(t, t.ranges[r].label) : none;
      to_.nodes.push_back(n);
      ++to_.graphs.back().last;
      operators_.push_back(c < t.operator_of_call.size() && t.operator_of_call[c] < with_work_.size()
                               ? with_work_[t.operator_of_call[c]]
                               : none);
    };
    if (stretches.empty()) {
      if (!calls.empty()) {
        begin_graph({});
        std::for_each(calls.begin(), calls.end(), add_node);
      }
    } else {
      const stretch* last = nullptr;
      for_each_inside(t, stretches, calls, [&](const stretch& s, std::uint32_t c) {
        if (&s != last) {
          begin_graph(s);
          last = &s;
        }
        add_node(c);
      });
    }
    number_pieces(first_graph, mark_of);
    for (std::size_t g = first_graph; g < to_.graphs.size(); ++g) {
      add_work(t, to_.graphs[g], to_.graphs[first_graph].first);
    }
  }

 private:
  /// By operator: the outermost one around it, or itself, whose work is known.
  void read_operators(const trace& t) {
    operators_.clear();
    with_work_.assign(t.operators.size(), none);
    for (std::uint32_t i = 0; i < with_work_.size(); ++i) {
      const std::uint32_t parent = t.operators.parent[i];
      const std::uint32_t kind = t.operators.kind[i];
      with_work_[i] = parent < i && with_work_[parent] != none   ? with_work_[parent]
                      : !t.operator_kinds[kind].declared.empty() ? i
                                                                 : none;
    }
  }

  /// Sums the work of a graph's operators by the path of their nodes.
  void add_work(const trace& t, captured_graph& graph, std::size_t first_node) {
    constexpr std::int64_t most = std::int64_t{1} << 56U;  // sums of two fit many times
    std::unordered_set<std::uint32_t> added;
    std::unordered_map<std::uint32_t, std::uint32_t> work_of;  // by label
    for (std::size_t n = graph.first; n < graph.last; ++n) {
      const std::uint32_t i = operators_[n - first_node];
      if (i == none || !added.insert(i).second) {
        continue;
      }
      const auto [known, is_new] =
          work_of.try_emplace(to_.nodes[n].label, static_cast<std::uint32_t>(to_.works.size()));
      if (is_new) {
        to_.works.emplace_back();
      }
      work& sum = to_.works[known->second];
      const work& w = t.operator_kinds[t.operators.kind[i]].declared;
      if (w.flops <= most - sum.flops && w.bytes() <= most - sum.bytes()) {
        sum += w;
      }
    }
    for (std::size_t n = graph.first; n < graph.last; ++n) {
      captured_node& node = to_.nodes[n];
      if (const auto known = work_of.find(node.label); known != work_of.end()) {
        node.work = known->second;
        const work& w = to_.works[node.work];
        for (const std::int64_t part : {w.flops, w.weight_bytes, w.kv_bytes, w.activation_bytes}) {
          graph.worth = (graph.worth ^ static_cast<std::uint64_t>(part)) * 0x9E3779B97F4A7C15ULL;
          graph.worth ^= graph.worth >> 29U;
        }
      }
    }
  }

  void number_pieces(std::size_t first, const std::vector<std::size_t>& mark_of) {
    std::unordered_map<std::size_t, std::uint32_t> pieces;
    for (std::size_t g = first; g < to_.graphs.size(); ++g) {
      to_.graphs[g].piece = pieces[mark_of[g - first]]++;
    }
    for (std::size_t g = first; g < to_.graphs.size(); ++g) {
      captured_graph& graph = to_.graphs[g];
      graph.pieces = pieces[mark_of[g - first]];
      for (std::size_t n = graph.first; n < graph.last; ++n) {
        graph.content = (graph.content ^ to_.nodes[n].label) * 0x9E3779B97F4A7C15ULL;
        graph.content ^= graph.content >> 29U;
      }
    }
  }

  /// The path of a label below its pass and below the mark of the capture.
  std::uint32_t label_of(const trace& t, std::uint32_t label) {
    std::vector<std::uint32_t> steps;
    std::uint32_t at = none;
    for (; label < t.labels.size(); label = t.labels[label].parent) {
      const label_node& node = t.labels[label];
      if (labels_[label]) {
        at = *labels_[label];
        break;
      }
      steps.push_back(label);
      if (node.kind == range_kind::phase ||
          (node.kind == range_kind::op &&
           read_capture_mark(t.strings[node.name]).unit != capture_unit::unknown)) {
        labels_[label] = none;
        steps.pop_back();
        break;
      }
    }
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      const label_node& node = t.labels[*step];
      at = to_.labels.intern({at, to_.strings.intern(t.strings[node.name]), node.index, node.kind});
      labels_[*step] = at;
    }
    return at;
  }

  read_options options_;
  captures& to_;
  std::vector<std::optional<std::uint32_t>> labels_;
  std::vector<std::uint32_t> with_work_;  // by operator
  std::vector<std::uint32_t> operators_;  // by node of the file
};

struct capture_file {
  std::string path;
  bool in_folder = false;
};

/// A file, or the traces in a folder in order of their names.
void list_files(const std::string& path, std::vector<capture_file>& to) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (!fs::is_directory(path, failed)) {
    to.push_back({path, false});  // what is wrong with it is found out when it is read
    return;
  }
  const std::size_t before = to.size();
  for (fs::directory_iterator entry{path, failed}, end; !failed && entry != end; entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    const auto ends = [&](std::string_view with) {
      return name.size() > with.size() && name.substr(name.size() - with.size()) == with;
    };
    std::error_code unknown;
    if (entry->is_regular_file(unknown) && (ends(".json") || ends(".json.gz"))) {
      to.push_back({entry->path().string(), true});
    }
    if (to.size() > most_files) {
      input::fail(path, "holds more than 4096 traces of captures");
    }
  }
  if (failed) {
    input::fail(path, "cannot be listed: " + failed.message());
  }
  if (to.size() == before) {
    input::fail(path, "holds no traces of captures: no .json or .json.gz file");
  }
  std::sort(to.begin() + static_cast<std::ptrdiff_t>(before), to.end(),
            [](const capture_file& a, const capture_file& b) { return a.path < b.path; });
}

/// `what` of the error without the path that it begins with.
std::string cause(std::string_view what, const std::string& path) {
  for (const std::string_view start : {std::string_view{path}, std::string_view{": "}}) {
    if (what.substr(0, start.size()) != start) {
      break;
    }
    what.remove_prefix(start.size());
  }
  return std::string{what};
}

}  // namespace

captures read_captures(const read_options& options) {
  captures out;
  out.given = !options.captures.empty();
  std::vector<capture_file> files;
  for (const std::string& path : options.captures) {
    list_files(path, files);
  }
  capture_reader reader{options, out};
  std::size_t left_out = 0;
  for (const capture_file& file : files) {
    try {
      reader.add(file.path);
    } catch (const error& e) {
      if (!file.in_folder) {
        throw;
      }
      if (++left_out <= most_named) {
        out.losses.push_back({"trace of captures left out: " + cause(e.what(), file.path), file.path, 1});
      }
    }
  }
  if (left_out > most_named) {
    out.losses.push_back(
        {"further traces of captures left out: they can't be read", "", left_out - most_named});
  }
  return out;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
