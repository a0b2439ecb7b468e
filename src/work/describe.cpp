// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "work/kernel_pipes.hpp"
#include "work/pass_batches.hpp"
#include "work/pass_trees.hpp"

#include <varve/model.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace varve {
inline namespace v0 {

namespace {

using namespace model_work;

constexpr std::string_view losses_of = "model description";

double amount(const work& w) noexcept {
  return static_cast<double>(w.flops) + static_cast<double>(w.bytes());
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
      : t_{t}, model_{m}, options_{options}, rules_{options.rules}, trees_{t, rules_}, batches_{t, options} {
    for (const range_model& of : t.models) {
      model_names_[of.range] = t.strings[of.name];
    }
  }

  void run() {
    const auto earlier = [](const range_work& w) { return w.source == work_source::description; };
    t_.works.erase(std::remove_if(t_.works.begin(), t_.works.end(), earlier), t_.works.end());
    t_.path_works.clear();
    const auto of_earlier = [](const loss& l) { return l.where == losses_of; };
    t_.losses.erase(std::remove_if(t_.losses.begin(), t_.losses.end(), of_earlier), t_.losses.end());
    for (std::uint32_t r = 0; r < t_.ranges.size(); ++r) {
      if (t_.ranges[r].kind == range_kind::phase) {
        describe_pass(r);
      }
    }
    count_losses();
  }

 private:
  void describe_pass(std::uint32_t pass);
  const std::vector<operator_work>& work_of(const pass_batch& batch);
  void place(const std::vector<operator_work>& operators);
  void tell(std::uint32_t pass, const std::vector<operator_work>& operators);
  void count_losses();

  trace& t_;
  const model& model_;
  const describe_options& options_;
  label_rules rules_;
  pass_trees trees_;
  pass_batches batches_;
  std::optional<kernel_pipes> pipes_;  // once something is told
  std::map<std::uint32_t, std::string_view> model_names_;
  std::map<std::vector<std::int64_t>, std::vector<operator_work>> works_;

  // The placement of the pass at hand, which stays as long as its like come
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
  if (!(trees_.tree() == placed_tree_) || operators.size() != placed_.size() ||
      !std::equal(operators.begin(), operators.end(), placed_.begin(), same)) {
    placed_tree_ = trees_.tree();
    placed_.clear();
    for (const operator_work& o : operators) {
      placed_.emplace_back(o.name, o.declared.flops > 0);
    }
    in_pass_ = {};
    owner_ = place_operators(operators, placed_tree_, t_.strings, rules_, in_pass_);
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
  std::vector<std::uint32_t> moves(trees_.origins().size(), none);
  std::vector<double> amounts(trees_.origins().size());
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
  trees_.find_trusted(amounts);
  if (!pipes_) {
    pipes_.emplace(t_);
  }
  const math_pipe meant = pipe_of_products(entries);
  for (const entry& e : entries) {
    if (!trees_.leave_room(e.node, amounts[e.node])) {
      continue;
    }
    const pass_trees::origin& o = trees_.origins()[e.node];
    // What else is meant to run as the products do (attention) runs as they did.
    work declared = e.declared;
    const math_pipe ran = declared.weight_bytes == 0
                              ? (declared.pipe == meant ? pipes_->of_range(pass) : math_pipe::unknown)
                          : o.range != none ? pipes_->of_range(o.range)
                                            : pipes_->of_label(o.label);
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
  const pass_batch batch = batches_.of(pass, kind == VARVE_DECODE, trees_.holds_passes(pass));
  if (batch.is == pass_batch::state::no_tokens && trees_.holds_passes(pass)) {
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
  trees_.build(pass);
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
