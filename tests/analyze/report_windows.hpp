// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Windows of a session by hand, to be added up.
#ifndef VARVE_TESTS_ANALYZE_REPORT_WINDOWS_HPP
#define VARVE_TESTS_ANALYZE_REPORT_WINDOWS_HPP

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "trace_builder.hpp"

namespace varve_test {

/// A window of the session; on device 0.
inline trace_builder window(time_ns begin, time_ns end) {
  trace_builder b;
  b.t.source = "session";
  b.t.begin = begin;
  b.t.end = end;
  return b;
}

inline varve::report report_of(const trace_builder& b) {
  varve::analyze_options options;
  options.histograms = true;
  return b.analyze(options);
}

inline std::uint64_t lost(const varve::report& r, std::string_view what) {
  const auto found =
      std::find_if(r.quality.losses.begin(), r.quality.losses.end(),
                   [&](const varve::loss& l) { return l.what == what && l.where == "add_report"; });
  return found != r.quality.losses.end() ? found->count : 0;
}

/// A pass [begin, begin + 100) with a layer that runs a kernel of `gpu` ns, launched in its first 10 ns.
inline void add_pass(trace_builder& b, time_ns begin, time_ns gpu, std::string_view layer = "attention") {
  const std::uint32_t pass = b.phase("decode", begin, begin + 100);
  const std::uint32_t l = b.layer(pass, layer, no_index, begin, begin + 90);
  b.launched_kernel(l, begin, begin + 10, begin + 20, begin + 20 + gpu);
}

}  // namespace varve_test

#endif  // VARVE_TESTS_ANALYZE_REPORT_WINDOWS_HPP
