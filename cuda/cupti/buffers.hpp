// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The memory that CUPTI writes records into.
#ifndef VARVE_CUDA_CUPTI_BUFFERS_HPP
#define VARVE_CUDA_CUPTI_BUFFERS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace varve::cupti {

/// A bounded number of buffers, used again and again. Thread safe. CUPTI asks for one on the engine's thread:
/// so take() hands out what is there already, and the lock that it takes is held for a few instructions by
/// whoever has it, never over an allocation.
class buffer_pool {
 public:
  static constexpr std::size_t spare_bytes = std::size_t{64} << 10U;
  static constexpr std::size_t most_spares = 16;

  struct piece {
    std::uint8_t* data = nullptr;
    std::size_t size = 0;
    bool is_short = false;  ///< not what was asked for: refill() is due
  };

  /// How many buffers are to be there at once: all, up to 1 GiB (of addresses, of which CUPTI touches what
  /// it fills), but two in any case.
  static constexpr std::size_t ready_of(std::size_t bytes, std::size_t most) noexcept {
    return std::min(most, std::max((std::size_t{1} << 30U) / bytes, std::size_t{2}));
  }
  /// For `most` buffers of `bytes` each, 8-aligned, of which `ready` are there at once. What is lent stays
  /// lent. Not to be called by several threads at a time, as close() is not.
  void open(std::size_t bytes, std::size_t most, std::size_t ready) noexcept;
  /// A buffer; when none is free a small spare one; when all of these are lent, nothing.
  piece take() noexcept;
  void give(std::uint8_t* data) noexcept;
  /// Makes buffers so that `ready` are free, as far as `most` allows. Not to be called on an engine's thread.
  void refill() noexcept;
  /// Frees what is not lent, and the rest when it is given back.
  void close() noexcept;

  /// How often there was no buffer, since open().
  [[nodiscard]] std::uint64_t refused() const noexcept;
  [[nodiscard]] std::size_t lent() const noexcept;
  /// How often something has been lent so far.
  [[nodiscard]] std::uint64_t loans() const noexcept;
  /// The number of the loan of what is lent; loans() for anything else.
  [[nodiscard]] std::uint64_t loan_of(const std::uint8_t* data) const noexcept;
  /// Of the loans from the `first`-th on to before the `end`-th, those that have not been given back.
  [[nodiscard]] std::size_t lent(std::uint64_t first, std::uint64_t end) const noexcept;

 private:
  struct loan {
    std::uint8_t* data;
    std::uint64_t number;
    std::uint32_t opening;
    bool spare;
  };
  mutable std::mutex mutex_;
  std::vector<std::uint8_t*> free_;
  std::vector<std::uint8_t*> spares_;
  std::vector<loan> lent_;
  std::size_t bytes_ = 0;
  std::size_t most_ = 0;
  std::size_t ready_ = 0;
  std::size_t made_ = 0;  // since open(), spares apart
  std::uint64_t refused_ = 0;
  std::uint64_t loans_ = 0;
  std::uint32_t opening_ = 0;  // number of the last open()
  bool open_ = false;
};

}  // namespace varve::cupti

#endif  // VARVE_CUDA_CUPTI_BUFFERS_HPP
