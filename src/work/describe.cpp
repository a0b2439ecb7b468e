// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "work/kernel_pipes.hpp"
#include "work/label_tree.hpp"
#include "work/pass_batches.hpp"
#include "work/replayed_labels.hpp"

#include <varve/model.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace varve {
inline namespace v0 {

namespace {

using namespace model_work;

constexpr std::string_view losses_of = "model description";

double amount(const work& w) noexcept {
  return static_cast<double>(w.flops) + static_cast<double>(w.bytes());
}

/// "layer 3", "layers.3", "LlamaDecoderLayer_3": what is before the number, which comes to `index`; else
/// nothing.
std::string_view before_index(std::string_view name, std::int32_t& index) noexcept {
  const std::size_t at = name.find_last_not_of("0123456789");
  if (at == std::string_view::npos || at == 0 || at + 1 == name.size() ||
      std::string_view{" -_."}.find(name[at]) == std::string_view::npos) {
    return {};
  }
  const auto [end, fault] = std::from_chars(name.data() + at + 1, name.data() + name.size(), index);
  return fault == std::errc{} ? name.substr(0, at) : std::string_view{};
}

/// Of the entry with weights that has most FLOPs.
template <class Entries>
math_pipe pipe_of_products(const Entries& entries) noexcept {
  std::int64_t most = 0;
  math_pipe pipe = math_pipe::unknown;
  for (const auto& e : entries) {
    if (e.declared.weight_bytes > 0 && e.declared.flops > most) {
      most = e.declared.flops;
      pipe = e.declared.pipe;
    }
  }
  return pipe;
}

class describer {
 public:
  describer(trace& t, const model& m, const describe_options& options)
      : t_{t}, model_{m}, options_{options}, rules_{options.rules}, batches_{t, options}, pipes_{t} {}

  void run() {
    const auto earlier = [](const range_work& w) { return w.source == work_source::description; };
    t_.works.erase(std::remove_if(t_.works.begin(), t_.works.end(), earlier), t_.works.end());
    t_.path_works.clear();
    const auto of_earlier = [](const loss& l) { return l.where == losses_of; };
    t_.losses.erase(std::remove_if(t_.losses.begin(), t_.losses.end(), of_earlier), t_.losses.end());
    read_steps();
    list_ranges();
    labels_ = replayed_labels{t_, pass_of_};
    for (std::uint32_t r = 0; r < t_.ranges.size(); ++r) {
      if (t_.ranges[r].kind == range_kind::phase) {
        describe_pass(r);
      }
    }
    count_losses();
  }

 private:
  void read_steps();
  void list_ranges();
  void describe_pass(std::uint32_t pass);
  void build_tree(std::uint32_t pass);
  void add_replays(std::uint32_t pass);
  const std::vector<operator_work>& work_of(const pass_batch& batch);
  void place(const std::vector<operator_work>& operators);
  void tell(std::uint32_t pass, const std::vector<operator_work>& operators);
  void find_trusted(const std::vector<double>& amounts);
  void count_losses();

  /// Where a node of the tree comes from.
  struct origin {
    std::uint32_t parent = none;  ///< node
    std::uint32_t range = none;   ///< none: a label of replays
    std::uint32_t label = none;
    told_of_nodes told{};  ///< of replays
    double inside = 0;     ///< work of it and below that is told by others, and counts
    bool overruled = false;
  };

  trace& t_;
  const model& model_;
  const describe_options& options_;
  label_rules rules_;
  pass_batches batches_;
  kernel_pipes pipes_;
  replayed_labels labels_;
  struct step {
    std::uint32_t name = none;
    std::int32_t index = no_index;
  };
  std::vector<step> steps_;             // by label
  std::vector<std::uint32_t> pass_of_;  // by range: the innermost pass around, or none
  std::vector<std::uint32_t> first_;    // by range that is a pass, and one more: in inside_
  std::vector<std::uint32_t> inside_;   // ranges of one pass after the other
  std::vector<bool> holds_passes_;      // by range: another pass is inside
  std::map<std::uint32_t, std::string_view> model_names_;
  std::vector<bool> told_;  // by range, with all inside: by someone who is trusted more
  std::map<std::vector<std::int64_t>, std::vector<operator_work>> works_;

  // Of the pass at hand, and its placement, which stays as long as its like come
  label_tree tree_;
  std::vector<origin> origins_;
  std::vector<std::uint32_t> node_of_range_;
  label_tree placed_tree_;
  std::vector<std::pair<std::string_view, bool>> placed_;
  std::vector<std::uint32_t> owner_;
  label_misfits in_pass_;

  label_misfits misfits_;
  std::uint64_t no_tokens_ = 0;
  std::uint64_t no_context_ = 0;
  std::uint64_t too_many_ = 0;
  std::uint64_t too_large_ = 0;
  std::uint64_t drafts_ = 0;
  std::uint64_t described_ = 0;
};

/// Importers keep an annotation's text whole: where it fits no rule, it may with the number at its end as
/// index, and without the modules before its last.
void describer::read_steps() {
  for (std::uint32_t l = 0; l < t_.labels.size(); ++l) {
    const label_node& label = t_.labels[l];
    step s{label.name, label.index};
    std::int32_t index = no_index;
    std::string name{label.index == no_index && rules_.fitting(t_.strings, label.name).empty()
                         ? before_index(t_.strings[label.name], index)
                         : std::string_view{}};
    for (bool more = !name.empty(); more;) {
      const std::uint32_t id = t_.strings.intern(name);
      const std::size_t dot = name.rfind('.');
      more = rules_.fitting(t_.strings, id).empty() && dot != std::string::npos;
      if (!rules_.fitting(t_.strings, id).empty()) {
        s = {id, index};
      }
      name.erase(0, more ? dot + 1 : 0);
    }
    steps_.push_back(s);
  }
}

void describer::list_ranges() {
  const std::size_t n = t_.ranges.size();
  pass_of_.assign(n, none);
  node_of_range_.assign(n, none);
  told_.assign(n, false);
  holds_passes_.assign(n, false);
  first_.assign(n + 1, 0);
  for (std::uint32_t r = 0; r < n; ++r) {
    const range& here = t_.ranges[r];
    pass_of_[r] = here.kind == range_kind::phase ? r : here.parent < r ? pass_of_[here.parent] : none;
    if (here.kind == range_kind::phase && here.parent < r && pass_of_[here.parent] != none) {
      holds_passes_[pass_of_[here.parent]] = true;
    }
    if (pass_of_[r] != none) {
      ++first_[pass_of_[r] + std::size_t{1}];
    }
  }
  for (std::size_t r = 0; r < n; ++r) {
    first_[r + 1] += first_[r];
  }
  inside_.resize(first_[n]);
  std::vector<std::uint32_t> next{first_};
  for (std::uint32_t r = 0; r < n; ++r) {
    if (pass_of_[r] != none) {
      inside_[next[pass_of_[r]]++] = r;
    }
  }
  for (const range_model& of : t_.models) {
    model_names_[of.range] = t_.strings[of.name];
  }
  for (const range_work& w : t_.works) {
    if (w.range < n && w.source < work_source::shapes && w.declared != work{}) {
      told_[w.range] = true;
    }
  }
}

void describer::build_tree(std::uint32_t pass) {
  tree_.nodes.assign(1, {});
  origins_.assign(1, {none, pass});
  for (std::uint32_t k = first_[pass]; k < first_[pass + std::size_t{1}]; ++k) {
    const std::uint32_t r = inside_[k];
    const range& here = t_.ranges[r];
    const std::uint32_t parent = r == pass ? 0 : node_of_range_[here.parent];
    if (r == pass || here.kind == range_kind::request || here.label >= t_.labels.size()) {
      node_of_range_[r] = parent;  // no step of a path
      continue;
    }
    const step& s = steps_[here.label];
    node_of_range_[r] = tree_.add(parent, s.name, s.index);
    origins_.push_back({parent, r, here.label});
  }
  add_replays(pass);
}

/// Labels of replays become nodes below the labels and ranges that have the paths around them.
void describer::add_replays(std::uint32_t pass) {
  const std::vector<replayed_label> replayed = labels_.of(pass);
  if (replayed.empty()) {
    return;
  }
  std::map<std::uint32_t, std::uint32_t> node_of_path{{replayed_labels::whole, 0}};
  for (std::uint32_t n = 1; n < origins_.size(); ++n) {
    node_of_path.try_emplace(labels_.path_of(origins_[n].label), n);
  }
  std::vector<std::uint32_t> missing;
  for (const replayed_label& one : replayed) {
    missing.clear();
    std::uint32_t path = labels_.path_of(one.label);
    while (node_of_path.count(path) == 0) {
      missing.push_back(path);
      path = labels_.parent_of(path);
    }
    std::uint32_t node = node_of_path[path];
    while (!missing.empty()) {
      const std::uint32_t label = labels_.label_of(missing.back());
      const std::uint32_t parent = node;
      node = tree_.add(parent, steps_[label].name, steps_[label].index);
      origins_.push_back({parent, none, label});
      node_of_path[missing.back()] = node;
      missing.pop_back();
    }
    told_of_nodes& told = origins_[node].told;
    told.declared += one.told.declared;
    told.shapes = std::max(told.shapes, one.told.shapes);
    told.calls += one.told.calls;
  }
}

/// What is told with more trust in it, or around it, leaves no room for what the description tells of
/// replays: as choose_works() does for ranges. Shapes leave it what is inside, and where they tell less than
/// half as much (of an operator beside) their own label too; so do calls wherever it tells anything.
void describer::find_trusted(const std::vector<double>& amounts) {
  for (std::size_t n = origins_.size(); n-- > 1;) {
    origin& o = origins_[n];
    o.inside += o.told.declared + (2 * o.told.shapes >= amounts[n] ? o.told.shapes : 0) +
                (amounts[n] == 0 ? o.told.calls : 0);
    origins_[o.parent].inside += o.inside;
  }
  for (std::size_t n = 1; n < origins_.size(); ++n) {
    origin& o = origins_[n];
    o.overruled = origins_[o.parent].overruled || o.told.declared > 0 || (o.range != none && told_[o.range]);
  }
}

const std::vector<operator_work>& describer::work_of(const pass_batch& batch) {
  constexpr std::size_t most = 64;
  std::vector<std::int64_t> key{batch.logits};
  for (const pass_sequence& s : batch.sequences) {
    key.insert(key.end(), {s.tokens, s.context, s.decode ? 1 : 0});
  }
  const auto known = works_.find(key);
  if (known != works_.end()) {
    return known->second;
  }
  if (works_.size() == most) {
    works_.clear();
  }
  work_options options = options_.pass;
  options.logits = batch.logits >= 0 ? batch.logits : options.logits;
  return works_
      .emplace(std::move(key), split_projections(model_, work_of_pass(model_, batch.sequences, options)))
      .first->second;
}

void describer::place(const std::vector<operator_work>& operators) {
  const auto same = [](const operator_work& o, const std::pair<std::string_view, bool>& p) {
    return o.name == p.first && (o.declared.flops > 0) == p.second;
  };
  if (!(tree_ == placed_tree_) || operators.size() != placed_.size() ||
      !std::equal(operators.begin(), operators.end(), placed_.begin(), same)) {
    placed_tree_ = tree_;
    placed_.clear();
    for (const operator_work& o : operators) {
      placed_.emplace_back(o.name, o.declared.flops > 0);
    }
    in_pass_ = {};
    owner_ = place_operators(operators, tree_, t_.strings, rules_, in_pass_);
  }
  misfits_ += in_pass_;
}

/// Operators that only move bytes are one entry of a node: their times under a roof add up as their bytes do.
void describer::tell(std::uint32_t pass, const std::vector<operator_work>& operators) {
  struct entry {
    std::uint32_t node;
    work declared;
  };
  std::vector<entry> entries;
  std::vector<std::uint32_t> moves(origins_.size(), none);
  std::vector<double> amounts(origins_.size());
  for (std::size_t o = 0; o < operators.size(); ++o) {
    const std::uint32_t node = owner_[o];
    const work& w = operators[o].declared;
    if (w.empty()) {
      continue;
    }
    amounts[node] += amount(w);
    const bool follows = o > 0 && operators[o].with_previous && owner_[o - 1] == node && !entries.empty() &&
                         entries.back().node == node;
    if (w.flops == 0 && !follows && moves[node] != none) {
      entries[moves[node]].declared += w;
    } else if (follows) {
      entries.back().declared += w;
    } else {
      moves[node] = w.flops == 0 ? static_cast<std::uint32_t>(entries.size()) : moves[node];
      entries.push_back({node, w});
    }
  }
  find_trusted(amounts);
  const math_pipe meant = pipe_of_products(entries);
  for (const entry& e : entries) {
    const origin& o = origins_[e.node];
    const bool holds_as_much = o.inside > 0 && 2 * o.inside >= amounts[e.node];
    if (e.node != 0 && (holds_as_much || (o.range == none && o.overruled))) {
      continue;
    }
    // What else is meant to run as the products do (attention) runs as they did.
    work declared = e.declared;
    const math_pipe ran = declared.weight_bytes == 0
                              ? (declared.pipe == meant ? pipes_.of_range(pass) : math_pipe::unknown)
                          : o.range != none ? pipes_.of_range(o.range)
                                            : pipes_.of_label(o.label);
    if (declared.flops > 0 && ran != math_pipe::unknown) {
      declared.pipe = ran;
    }
    if (o.range != none) {
      t_.works.push_back({o.range, declared, work_source::description});
    } else {
      t_.path_works.push_back({pass, o.label, declared});
    }
  }
}

void describer::describe_pass(std::uint32_t pass) {
  if (!options_.model_name.empty() && model_names_[pass] != options_.model_name) {
    return;
  }
  const std::uint32_t label = t_.ranges[pass].label;
  const std::string_view kind = t_.strings[label < t_.labels.size() ? t_.labels[label].name : none];
  if (kind == VARVE_LOAD || kind == VARVE_CAPTURE) {
    return;
  }
  if (kind == VARVE_DRAFT) {
    ++drafts_;
    return;
  }
  const pass_batch batch = batches_.of(pass, kind == VARVE_DECODE, holds_passes_[pass]);
  if (batch.is == pass_batch::state::no_tokens && holds_passes_[pass]) {
    return;  // those inside say it
  }
  using state = pass_batch::state;
  no_tokens_ += batch.is == state::no_tokens ? 1 : 0;
  no_context_ += batch.is == state::no_context ? 1 : 0;
  too_many_ += batch.is == state::too_many ? 1 : 0;
  if (batch.is != state::known) {
    return;
  }
  const std::vector<operator_work>& operators = work_of(batch);
  const auto uncounted = [](const operator_work& o) {
    return o.declared.flops == sizes::most || o.declared.bytes() == sizes::most;
  };
  if (std::any_of(operators.begin(), operators.end(), uncounted)) {
    ++too_large_;
    return;
  }
  if (operators.empty()) {
    ++no_tokens_;
    return;
  }
  ++described_;
  build_tree(pass);
  place(operators);
  tell(pass, operators);
}

void describer::count_losses() {
  const auto lose = [&](std::uint64_t count, std::string_view what) { t_.lose(what, losses_of, count); };
  lose(no_tokens_,
       "passes not described, their tokens are not known: set them (varve_attribute), or give the "
       "batch (--batch-tokens)");
  lose(no_context_,
       "decoding passes not described, their context is not known: set it (varve_attribute), or "
       "give it (--batch-context)");
  lose(too_many_, "passes not described, of more than 65536 sequences");
  lose(too_large_,
       "passes not described, FLOPs or bytes of an operator are 2^63 or more: are their tokens and context "
       "right (--batch-tokens, --batch-context)?");
  lose(drafts_, "passes of a draft model, which the description is not of");
  lose(misfits_.nothing_named,
       "passes described as a whole, none of their labels fits a rule: give rules "
       "(--model-rule)");
  lose(misfits_.no_such_layer,
       "labels of layers beyond the last that the model has: is it this model's "
       "description?");
  lose(misfits_.unnamed_layers,
       "layers of the model without a label in a pass that has some, counted for the "
       "pass: is it this model's description?");
  lose(misfits_.not_as_many,
       "labels that fit a rule, but not as many as there are operators, or several of "
       "the same: counted for the label around (--model-rule)");
  if (t_.world_size > 1 && model_.ranks == 1) {
    lose(described_,
         "passes of one of several ranks described as if it ran the whole model: describe its part "
         "(--tensor-parallel)");
  }
  if (model_.ranks > 1 && t_.world_size > 0 && t_.world_size % model_.ranks != 0) {
    lose(described_,
         "passes described as one rank's part of a model of which the run's ranks make no whole number: is "
         "--tensor-parallel right?");
  }
}

}  // namespace

void describe(trace& t, const model& m, const describe_options& options) { describer{t, m, options}.run(); }

}  // namespace v0
}  // namespace varve
