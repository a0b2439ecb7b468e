// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Activity records of a completed buffer into rows of a trace.
#ifndef VARVE_CUDA_CUPTI_DECODE_HPP
#define VARVE_CUDA_CUPTI_DECODE_HPP

#include <varve/trace.hpp>

#include "cupti/library.hpp"
#include "cupti/records.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace varve::cupti {

/// How the library steps from record to record. Asks it for each kind once, and remembers: all records of a
/// kind are of one size. Thread safe.
class record_walk {
 public:
  explicit record_walk(const library& lib) noexcept : lib_{lib} {}

  enum class ending : std::uint8_t { whole, cut, unknown_kind };
  struct step {
    std::size_t records = 0;
    std::size_t too_short = 0;  ///< records passed over: the library makes them shorter than its version does
    ending end = ending::whole;  ///< counts once nothing is left
  };
  /// Where up to `most` records begin, from `at` on, which moves behind them.
  step next(std::uint8_t* buffer, std::size_t valid, std::size_t& at, const std::uint8_t** records,
            std::size_t most) noexcept;

 private:
  static constexpr std::size_t kinds = 64;
  result learn(std::uint8_t* buffer, std::size_t valid, std::size_t at, std::size_t& size) noexcept;

  const library& lib_;
  std::array<std::atomic<std::uint32_t>, kinds> sizes_{};  // by kind; 0: not known yet
};

/// What was decoded and not handed over yet. Thread safe.
class decoder {
 public:
  explicit decoder(const library& lib) noexcept : lib_{lib}, walk_{lib} {}

  /// Forgets all; at most `most` activities wait to be handed over, more are lost and counted.
  void open(std::size_t most) noexcept;
  /// Takes in a buffer. Its texts are CUPTI's: they may be gone once this has returned.
  void read(std::uint8_t* buffer, std::size_t valid) noexcept;
  /// Frees what the records of a buffer hold, and takes nothing in but the number of activities.
  std::size_t discard(std::uint8_t* buffer, std::size_t valid) noexcept;
  /// Whether an activity with this correlation id has been read, or the newest ids have taken its place.
  [[nodiscard]] bool has_read(std::uint32_t correlation) const noexcept;
  /// As device_source::hand_over().
  void hand_over(trace& batch, bool full) noexcept;
  [[nodiscard]] bool hand_over_last(trace& batch) noexcept;

  struct counts {
    std::uint64_t kernels = 0;
    std::uint64_t copies = 0;
    std::uint64_t sets = 0;
    std::uint64_t graphs = 0;
    std::uint64_t allocations = 0;
    std::uint64_t cut_buffers = 0;
    std::uint64_t too_short = 0;
    std::uint64_t unknown_kinds = 0;  ///< buffers of which the rest could not be read
    std::uint64_t device_launched = 0;
    std::uint64_t not_kept = 0;
    std::uint64_t without_end = 0;  ///< they began, and still ran when CUPTI was told to give all it has
    time_ns overhead = 0;           ///< CUPTI's own, on the host
    time_ns loading = 0;            ///< of modules and functions at first use
  };
  [[nodiscard]] counts counted() const noexcept;

 private:
  struct raw_shape {
    std::array<std::uint64_t, 4> words{};
    std::uint16_t registers = 0;
  };
  struct known_shape {
    raw_shape raw;
    std::uint32_t id = none;
  };
  struct known_name {
    const char* at = nullptr;
    const char* copy = nullptr;
    std::uint32_t id = none;
  };

  void decode(const std::uint8_t* record);
  void add_kernel(const std::uint8_t* record);
  void add_copy(const std::uint8_t* record);
  void add_memory(const std::uint8_t* record);
  void add_overhead(const std::uint8_t* record);
  void add(const activity& a);
  bool move_to(trace& batch) noexcept;
  std::uint32_t shape_of(const std::uint8_t* record);
  std::uint32_t name_of(const char* text);
  std::uint32_t node_of(std::uint64_t id);
  std::uint16_t stream_of(std::uint32_t device, std::uint32_t context, std::uint32_t stream);
  std::uint32_t bytes_of(std::uint64_t bytes);

  const library& lib_;
  record_walk walk_;
  mutable std::mutex mutex_;  // guards what follows; held for some hundred records at a time
  trace waiting_;             // its activities may be longer than what is in them
  std::size_t rows_ = 0;      // that are
  std::size_t room_ = 0;      // rows that all of its columns have, which without memory may differ
  std::size_t most_ = 0;
  bool full_ = false;  // nothing more can be kept
  counts counted_;
  std::array<std::uint32_t, 4096> read_{};  // correlation ids, by their last bits
  std::array<known_name, 256> names_{};     // by address
  std::array<known_shape, 256> shapes_{};
  std::unordered_map<std::uint64_t, std::uint32_t> nodes_;
  stream_info last_stream_;
  std::uint16_t last_stream_index_ = narrow_none;
};

}  // namespace varve::cupti

#endif  // VARVE_CUDA_CUPTI_DECODE_HPP
