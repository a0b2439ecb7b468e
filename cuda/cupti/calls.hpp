// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Calls of the CUDA APIs into the logs of the threads that make them: the range that is open there is theirs.
// What runs here runs on an engine's launch path: no lock but for a thread's next block of slots, no
// allocation but for its first log.
#ifndef VARVE_CUDA_CUPTI_CALLS_HPP
#define VARVE_CUDA_CUPTI_CALLS_HPP

#include <varve/trace.hpp>

#include "cupti/abi.hpp"
#include "cupti/library.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace varve::cupti {

/// What each callback id of the two APIs does, as the loaded library names them.
class call_kinds {
 public:
  static constexpr std::size_t most = 2048;  ///< ids of an API
  static constexpr std::uint8_t not_watched = 0xFF;
  // Added to the kind: calls that are watched while nothing is recorded, too.
  static constexpr std::uint8_t graph_update = 0x10;
  static constexpr std::uint8_t capture_begin = 0x20;
  static constexpr std::uint8_t capture_end = 0x40;
  static constexpr std::uint8_t graph_instantiate = 0x80;
  static constexpr std::uint8_t special = graph_update | capture_begin | capture_end | graph_instantiate;

  /// Asks the library for all names.
  explicit call_kinds(const library& lib);

  [[nodiscard]] std::uint8_t of(callback_domain domain, std::uint32_t id) const noexcept {
    return id >= most                               ? not_watched
           : domain == callback_domain::runtime_api ? runtime_[id]
           : domain == callback_domain::driver_api  ? driver_[id]
                                                    : not_watched;
  }
  /// Names that varve does not know: these calls are not recorded.
  [[nodiscard]] const std::vector<std::string>& unknown() const noexcept { return unknown_; }

 private:
  void learn(const library& lib, callback_domain domain, std::array<std::uint8_t, most>& kinds);

  std::array<std::uint8_t, most> runtime_;
  std::array<std::uint8_t, most> driver_;
  std::vector<std::string> unknown_;
};

/// A call begins or ends on this thread. `era` differs from session to session.
void enter_call(std::uint8_t kind, std::uint32_t correlation, std::uint32_t era) noexcept;
void leave_call(std::uint32_t era, bool succeeded) noexcept;
/// The call that is open on this thread records a node of a graph instead of doing something. False: none is
/// open, or it builds a graph.
bool call_is_captured() noexcept;

/// The ids of each thread's last launch; 0: none. Where nested calls have ids of their own its records carry
/// either.
struct launch_ids {
  std::uint32_t outer = 0;
  std::uint32_t inner = 0;
};
inline constexpr std::size_t most_last_launches = 64;  ///< threads share them where there are more
std::array<launch_ids, most_last_launches> last_launches() noexcept;
void forget_last_launches() noexcept;

}  // namespace varve::cupti

#endif  // VARVE_CUDA_CUPTI_CALLS_HPP
