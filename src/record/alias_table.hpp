// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Correlation ids of calls inside calls, and the outer calls that they mean.
#ifndef VARVE_RECORD_ALIAS_TABLE_HPP
#define VARVE_RECORD_ALIAS_TABLE_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace varve::record {

/// Ids are given out in turn, so that those of a moment lie together: in pages, which are retired as a whole.
/// Not thread safe.
class alias_table {
 public:
  static constexpr std::size_t ids_of_page = 512;
  /// What a page takes, with its entry in the index.
  static constexpr std::size_t bytes_of_page = ids_of_page * sizeof(std::uint32_t) + 64;

  /// Whether there is a page for this id already.
  [[nodiscard]] bool has_page(std::uint32_t id) const noexcept {
    return pages_.find(id / ids_of_page) != pages_.end();
  }
  void set(std::uint32_t id, std::uint32_t outer);
  /// The call that this id means: itself, where nothing else is known.
  [[nodiscard]] std::uint32_t outer_of(std::uint32_t id) const noexcept;
  /// Forgets the pages that were last written before the last call.
  void retire();
  [[nodiscard]] std::size_t bytes() const noexcept { return pages_.size() * bytes_of_page; }

 private:
  struct page {
    std::array<std::uint32_t, ids_of_page> outer{};  // 0: none
    std::uint32_t written = 0;                       // in that generation
  };
  std::unordered_map<std::uint32_t, std::unique_ptr<page>> pages_;
  page* last_ = nullptr;
  std::uint32_t last_number_ = 0;
  std::uint32_t generation_ = 0;
};

}  // namespace varve::record

#endif  // VARVE_RECORD_ALIAS_TABLE_HPP
