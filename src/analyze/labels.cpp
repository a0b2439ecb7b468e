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
  label_builder(const results& from, const tree_order& order, const row_samples& samples, report& to)
      : from_{from}, order_{order}, samples_{samples}, to_{to} {}

  void build() {
    const row_table& rows = from_.rows;
    std::vector<std::uint32_t> ranks;
    places_.resize(rows.labels.size());
    for (const label_row& l : rows.labels) {
      row& r = to_.labels.emplace_back();
      name_group(from_, l.group, r);
      r.path = r.label = from_.source.strings[l.name];
      r.kind = from_.marks.paths[l.path].kind;
      ranks.push_back(order_.rank[l.group]);
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
    sort_flat(to_.labels, ranks);
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
    add_to(last.exclusive.host_time, layer.exclusive.host_time);
    last.exclusive.calls_with_work += layer.exclusive.calls_with_work;
    if (!source.names_again) {  // a call inside one of the same name is part of that
      last.inclusive.calls += layer.inclusive.calls;
      last.inclusive.calls_with_work += layer.inclusive.calls_with_work;
      add_to(last.inclusive.host_time, layer.inclusive.host_time);
      at.calls.push_back(k);
    }
  }

  void finish(std::uint32_t l) {
    const label_row& source = from_.rows.labels[l];
    row& r = to_.labels[l];
    add_joint(r.inclusive, source.joint, source.share);
    add_joint(r.exclusive, source.joint_exclusive, source.share_exclusive);
    r.inclusive.span = places_[l].extent.length();
    r.exclusive.span = places_[l].own_extent.length();
    r.exclusive.calls = r.inclusive.calls;
    r.launch_latency = summarise(samples_.latency, places_[l].rows, 0);
    r.queue_delay = summarise(samples_.queue, places_[l].rows, 0);
    r.per_call = summarise(samples_.calls, places_[l].calls, r.inclusive.calls);
  }

  /// `count` values, of which those that are not recorded are 0.
  distribution summarise(const grouped_values& values, const std::vector<std::uint32_t>& rows,
                         std::int64_t count) {
    parts_.clear();
    for (const std::uint32_t k : rows) {
      parts_.push_back(values.of(k));
      count -= static_cast<std::int64_t>(parts_.back().size());
    }
    return summarise_.summarise(parts_, std::max<std::int64_t>(count, 0));
  }

  struct place {
    time_extent extent;
    time_extent own_extent;            // of rows that end in the name
    std::vector<std::uint32_t> rows;   // positions of the rows whose path holds it
    std::vector<std::uint32_t> calls;  // and of those that are its calls
  };

  const results& from_;
  const tree_order& order_;
  const row_samples& samples_;
  report& to_;
  std::vector<place> places_;
  summariser summarise_;
  std::vector<std::span<const time_ns>> parts_;
};

}  // namespace

void add_labels(const results& from, const tree_order& order, const row_samples& samples, report& to) {
  label_builder{from, order, samples, to}.build();
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
