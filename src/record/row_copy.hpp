// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Part of a trace as a trace of its own: some of its rows, and of its tables what these need.
#ifndef VARVE_RECORD_ROW_COPY_HPP
#define VARVE_RECORD_ROW_COPY_HPP

#include <varve/trace.hpp>

#include <cstdint>
#include <vector>

namespace varve::record {

/// Of traces as sessions make them: without operators and collectives. Ranges come first, then the rest in
/// any order. `from` and `to` outlive it. Throws only std::bad_alloc.
class row_copy {
 public:
  row_copy(const trace& from, trace& to) : from_{from}, to_{to} {}

  /// Ranges, and what tells of them.
  void ranges(const std::vector<bool>& wanted);
  void calls(const std::vector<bool>& wanted);
  /// Rows of `columns`, which refer to tables of `from`.
  void activities(const activity_columns& columns, const std::vector<bool>& wanted, activity_columns& into);

  /// Where a row of `from` is in `to`: copied now, if it was not.
  std::uint32_t string(std::uint32_t id);
  std::uint32_t label(std::uint32_t id);
  std::uint32_t node(std::uint32_t row);
  std::uint16_t stream(std::uint16_t row);
  std::uint16_t thread(std::uint16_t row);
  /// The same of ranges and calls; none where it was left out.
  [[nodiscard]] std::uint32_t range(std::uint32_t index) const noexcept { return at(ranges_, index); }
  [[nodiscard]] std::uint32_t call(std::uint32_t index) const noexcept { return at(calls_, index); }
  [[nodiscard]] std::uint16_t copied_stream(std::uint16_t row) const noexcept {
    return row < streams_.size() ? streams_[row] : narrow_none;
  }
  [[nodiscard]] std::uint32_t copied_node(std::uint32_t row) const noexcept { return at(nodes_, row); }

 private:
  static std::uint32_t at(const std::vector<std::uint32_t>& where, std::uint32_t index) noexcept {
    return index < where.size() ? where[index] : none;
  }
  template <class Row>
  void of_ranges(const std::vector<Row>& rows, std::vector<Row>& into);
  std::uint32_t detail(std::uint32_t id, bool kernel);

  const trace& from_;
  trace& to_;
  std::vector<std::uint32_t> ranges_;
  std::vector<std::uint32_t> calls_;
  std::vector<std::uint32_t> strings_;
  std::vector<std::uint32_t> labels_;
  std::vector<std::uint32_t> nodes_;
  std::vector<std::uint32_t> shapes_;
  std::vector<std::uint32_t> bytes_;
  std::vector<std::uint16_t> streams_;
  std::vector<std::uint16_t> threads_;
};

}  // namespace varve::record

#endif  // VARVE_RECORD_ROW_COPY_HPP
