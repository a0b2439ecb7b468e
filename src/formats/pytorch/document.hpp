// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The walk through a trace's JSON.
#ifndef VARVE_FORMATS_PYTORCH_DOCUMENT_HPP
#define VARVE_FORMATS_PYTORCH_DOCUMENT_HPP

#include "formats/input/input.hpp"
#include "formats/input/window.hpp"
#include "formats/pytorch/builder.hpp"
#include "formats/pytorch/event.hpp"
#include "formats/pytorch/losses.hpp"

#include <cstdint>
#include <functional>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// What a walk found beside the events that went to the builder.
struct walked {
  header about;
  std::uint64_t unread = 0;  ///< events of kinds that are not read
};

/// Why a text cannot be walked.
enum class refusal : std::uint8_t {
  damaged,      ///< not JSON
  encoding,     ///< characters that JSON does not allow; repaired() helps
  no_trace,     ///< JSON, but without events
  no_category,  ///< nor of any other use: events without a category, and nothing else
  too_long      ///< for the parser
};

struct refused {
  refusal why = refusal::damaged;
};

/// Gives each event of `text` to `to`. Throws `refused` and std::bad_alloc. `progress` gets the share that is
/// done, now and then. Nested values that are not read are skipped, however deep, in constant memory.
[[nodiscard]] walked walk(const input::buffer& text, builder& to, loss_counts& losses,
                          const std::function<void(double)>& progress);
/// The same of a text of any length, in memory that does not grow with it. May refuse what the other takes.
[[nodiscard]] walked walk(input::window& window, builder& to, loss_counts& losses,
                          const std::function<void(double)>& progress);

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_DOCUMENT_HPP
