// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Numbers and names in the sentences of verdicts and findings.
#ifndef VARVE_ANALYZE_SENTENCE_HPP
#define VARVE_ANALYZE_SENTENCE_HPP

#include <varve/report.hpp>

#include <string>

namespace varve {
inline namespace v0 {
namespace analysis {

/// Three significant digits.
[[nodiscard]] std::string number_of(double value);
/// "81 %", "0.6 %".
[[nodiscard]] std::string percent_of(double part, double whole);
/// Nanoseconds as "2.35 s".
[[nodiscard]] std::string length_of(double ns);
/// "3.35 TB/s" for 3.35e12 and "B/s".
[[nodiscard]] std::string rate_of(double value, const char* unit);
/// "2.71 of 3.35 TB/s"; "0.2 GB/s of 3.35 TB/s" where the prefixes differ.
[[nodiscard]] std::string of_peak(double value, double peak, const char* unit);
/// "BF16 tensor", …
[[nodiscard]] std::string name_of(math_pipe pipe);
/// "operators' shapes", …
[[nodiscard]] std::string name_of(work_source source);
/// ", limited by registers"; empty where it is not known.
[[nodiscard]] std::string limit_text(occupancy::limit limit);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_SENTENCE_HPP
