// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The parts of a printed report, each complete with its line ends.
#ifndef VARVE_FORMATS_TABLE_PARTS_HPP
#define VARVE_FORMATS_TABLE_PARTS_HPP

#include "formats/table/style.hpp"

#include <varve/report.hpp>

#include <string>
#include <vector>

namespace varve::table {

/// A name in bold that fits into a line.
std::string heading(std::string_view text, const style& s);

/// Whether nothing ran: what stands for kernels are a model's operators.
bool is_prediction(const report& r) noexcept;

/// Where the report comes from, its devices and requests.
std::string title(const report& r, const style& s);

/// A row's batch in words: "1 × 512 tokens", "prefill 1 × 512 tokens + decode 16 sequences". As it is where
/// it has another form; reports come from files too.
std::string batch_name(std::string_view batch, std::string_view phase);

/// "decode of draft on device 1 · 16 sequences": what the rows of a key have in common.
std::string key_name(const report& r, std::string_view phase, std::string_view model, std::uint32_t device,
                     std::string_view batch);

/// What is worth knowing of one phase before its rows.
std::string phase_head(const report& r, const phase_row& p, const style& s);

/// What gauges showed in a phase that is worth a word.
std::vector<std::string> gauges(const phase_row& p);

/// Whether a steady view set these passes apart.
bool is_ramp(const report& r, const phase_row& p) noexcept;

/// All that a steady view says of ramps: a line each. Empty where it has none.
std::string ramps(const report& r, const style& s);

inline constexpr std::size_t indent = 2;
inline constexpr std::size_t label_width = 9;
inline constexpr std::size_t text_column = indent + label_width;

/// "  label    piece · piece" with its line end.
std::string labelled(std::string_view label, const std::vector<std::string>& pieces, const style& s);

/// The wall as a bar and its parts in percent.
std::string partition(const wall_partition& p, const style& s);

/// What the numbers rest on, in sentences; only what is not as it should be, and where it comes from.
std::string quality(const report& r, const style& s);

/// Rows, phase by phase.
std::string sections(const report& r, const table_options& options, const style& s);

/// What stands out, and what would change if, where there is anything to tell.
std::string findings(const report& r, const style& s);

/// Collectives by name and number of ranks, where there are any.
std::string collectives(const report& r, const style& s);

/// What devices counted, where they did.
std::string counted_work_of(const report& r, const style& s);

/// One row a phase, and requests.
std::string phases(const report& r, const table_options& options, const style& s);

/// One row an operator.
std::string operators(const report& r, const table_options& options, const style& s);

}  // namespace varve::table

#endif  // VARVE_FORMATS_TABLE_PARTS_HPP
