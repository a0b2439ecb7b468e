// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The rows by label name alone.
#include "analyze/assemble.hpp"

#include <algorithm>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

class label_builder {
 public:
  label_builder(const results& from, const tree_order& order, samples& values, report& to)
      : from_{from}, order_{order}, values_{values}, to_{to} {}

  void build() {
    const row_table& rows = from_.rows;
    places_.resize(rows.labels.size());
    to_.labels.reserve(rows.labels.size());
    for (const label_row& l : rows.labels) {
      row& r = to_.labels.emplace_back();
      name_group(from_, l.group, r);
      r.path = r.label = from_.source.strings[l.name];
      r.kind = from_.marks.paths[l.path].kind;
    }
    std::uint32_t layer = 0;  // report::layers are the positions that are no whole passes
    for (std::uint32_t k = 0; k < order_.row.size(); ++k) {
      if (rows.rows[order_.row[k]].path != whole_pass) {
        add(k, to_.layers[layer++]);
      }
    }
    for (std::uint32_t l = 0; l < rows.labels.size(); ++l) {
      finish(l);
    }
  }

 private:
  void add(std::uint32_t k, const row& layer) {
    const layer_row& source = from_.rows.rows[order_.row[k]];
    measures own = to_measures(source.own, source.calls);
    own.shared_time += source.share.shared;
    own.alone_time += source.share.alone;
    own.declared = layer.exclusive.declared;
    for (std::uint32_t n = 0; n < source.label_count; ++n) {
      const std::uint32_t l = from_.rows.label_lists[source.first_label + n];
      add_parts(to_.labels[l].inclusive, own);
      places_[l].extent.add(source.own.extent);
      places_[l].rows.push_back(k);
    }
    if (source.last_label == none) {
      return;
    }
    row& last = to_.labels[source.last_label];
    place& at = places_[source.last_label];
    add_parts(last.exclusive, own);
    at.own_extent.add(source.own.extent);
    add_host(last.exclusive, layer.exclusive);
    last.exclusive.calls_with_work += layer.exclusive.calls_with_work;
    if (!source.names_again) {  // a call inside one of the same name is part of that
      last.inclusive.calls += layer.inclusive.calls;
      last.inclusive.calls_with_work += layer.inclusive.calls_with_work;
      add_host(last.inclusive, layer.inclusive);
      at.calls.push_back(k);
    }
  }

  /// What ranges add up to.
  static void add_host(measures& to, const measures& part) {
    add_to(to.host_time, part.host_time);
    add_to(to.allocated_bytes, part.allocated_bytes);
    add_to(to.freed_bytes, part.freed_bytes);
    to.peak_bytes = std::max(to.peak_bytes, part.peak_bytes);
  }

  void finish(std::uint32_t l) {
    const label_row& source = from_.rows.labels[l];
    row& r = to_.labels[l];
    add_joint(r.inclusive, source.joint, source.share);
    add_joint(r.exclusive, source.joint_exclusive, source.share_exclusive);
    set_span(r.inclusive, places_[l].extent);
    set_span(r.exclusive, places_[l].own_extent);
    r.exclusive.calls = r.inclusive.calls;
    values_.want(sample::layer_latency, places_[l].rows, r.launch_latency);
    values_.want(sample::layer_queue, places_[l].rows, r.queue_delay);
    std::int64_t idle = r.inclusive.calls;  // calls that ran nothing
    for (const std::uint32_t k : places_[l].calls) {
      idle -= values_.count(sample::layer_call, k);
    }
    values_.want(sample::layer_call, places_[l].calls, r.per_call, std::max<std::int64_t>(idle, 0));
  }

  struct place {
    time_extent extent;
    time_extent own_extent;            // of rows that end in the name
    std::vector<std::uint32_t> rows;   // positions of the rows whose path holds it
    std::vector<std::uint32_t> calls;  // and of those that are its calls
  };

  const results& from_;
  const tree_order& order_;
  samples& values_;
  report& to_;
  std::vector<place> places_;
};

}  // namespace

void add_labels(const results& from, const tree_order& order, samples& values, report& to) {
  label_builder{from, order, values, to}.build();
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
