// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/table/parts.hpp"

#include <varve/report.hpp>

#include <ostream>

namespace varve {
inline namespace v0 {

namespace {

/// Where no device was seen the host's times are all there is: they take the place of the device's, so that
/// rows are ranked, shared out and folded by them.
report with_host_times(report r) {
  const auto replace = [](measures& m) { m.gpu_time = m.host_time; };
  for (auto* rows : {&r.layers, &r.labels}) {
    for (row& one : *rows) {
      replace(one.inclusive);
      replace(one.exclusive);
      one.per_call = {};
    }
  }
  for (phase_row& p : r.phases) {
    // The steps go on to the end of what the GPU did, where that is known.
    p.total.gpu_time = p.event_span.count > 0 ? p.total.host_time : p.step.total;
  }
  return r;
}

std::string print(const report& r, table_options options, bool host_only) {
  // A model's operators stand for kernels, of which a prediction has none.
  if (options.by == view::operators && table::is_prediction(r)) {
    options.by = view::kernel;
  }
  const std::size_t width = options.width > 0 ? static_cast<std::size_t>(options.width) : 0;
  const table::style s{options.colour, width, host_only};
  std::string out;
  if (options.header) {
    out += table::title(r, s) + '\n';
  }
  out += options.by == view::phase       ? table::phases(r, options, s)
         : options.by == view::operators ? table::operators(r, options, s)
                                         : table::sections(r, options, s);
  if (options.header) {
    out += table::collectives(r, s) + table::counted_work_of(r, s) + table::findings(r, s) +
           table::quality(r, s);
  }
  return out;
}

}  // namespace

std::string to_table(const report& r, const table_options& options) {
  const bool host_only = r.quality.activities == 0 && !r.layers.empty() &&
                         (options.by == view::layer || options.by == view::label);
  return host_only ? print(with_host_times(r), options, true) : print(r, options, false);
}

std::ostream& operator<<(std::ostream& out, const report& r) { return out << to_table(r); }

}  // namespace v0
}  // namespace varve
