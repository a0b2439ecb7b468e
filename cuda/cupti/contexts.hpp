// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Which CUDA contexts have done something, and which streams capture, as far as callbacks tell: what a
// session waits for at its end, and how.
#ifndef VARVE_CUDA_CUPTI_CONTEXTS_HPP
#define VARVE_CUDA_CUPTI_CONTEXTS_HPP

#include "cupti/abi.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace varve::cupti {

/// The contexts that a thread's last calls were made in: a thread may serve several GPUs in turn, and is to
/// tell of each once in an era.
class recent_contexts {
 public:
  static constexpr std::size_t most = 16;

  /// Whether `c` is none of them; it is one now.
  bool is_new(context_handle c, std::uint32_t era) noexcept {
    for (std::size_t i = 0; i < most; ++i) {
      if (all_[(last_ + i) % most] == entry{c, era}) {
        last_ = (last_ + i) % most;
        return false;
      }
    }
    last_ = oldest_++ % most;
    all_[last_] = {c, era};
    return true;
  }

 private:
  struct entry {
    context_handle context = nullptr;
    std::uint32_t era = 0;
    bool operator==(const entry& o) const noexcept { return context == o.context && era == o.era; }
  };
  std::array<entry, most> all_{};
  std::size_t last_ = 0;
  std::size_t oldest_ = 0;
};

/// Thread safe; takes a lock, and what it remembers may allocate. Without memory something is not remembered.
class context_book {
 public:
  void saw(context_handle c) noexcept;
  /// All captures in it will be told of.
  void made(context_handle c) noexcept;
  /// With its streams.
  void gone(context_handle c) noexcept;
  void capture_begins(context_handle c, stream_handle s) noexcept;
  void capture_ends(stream_handle s) noexcept;
  void stream_gone(stream_handle s) noexcept;
  /// A call only made a node of a graph: it shows a capture that began before there was somebody to tell.
  void call_was_captured() noexcept;
  /// Who looks anew is shown it anew.
  void forget_shown() noexcept;

  [[nodiscard]] bool capturing() const noexcept;
  /// Or one that calls have shown, or that was forgotten for want of memory.
  [[nodiscard]] bool may_capture() const noexcept;
  /// Whether a context was there before there was somebody to tell of its captures.
  [[nodiscard]] bool has_older() const noexcept;
  /// Captures in all so far; from the runtime and the driver inside it once.
  [[nodiscard]] std::uint64_t captures_begun() const noexcept;
  /// Throws std::bad_alloc.
  [[nodiscard]] std::vector<context_handle> all() const;
  void clear() noexcept;

 private:
  struct capture {
    context_handle in = nullptr;
    stream_handle stream = nullptr;
    std::thread::id thread;  // of a stream whose handle is the same on all threads
    bool operator==(const capture& o) const noexcept { return stream == o.stream && thread == o.thread; }
  };
  static capture capture_of(context_handle c, stream_handle s) noexcept;
  struct known {
    context_handle context = nullptr;
    bool from_its_beginning = false;
  };
  void add(known k) noexcept;

  mutable std::mutex mutex_;
  std::vector<known> contexts_;
  std::vector<capture> captures_;
  std::uint64_t begun_ = 0;
  bool forgot_one_ = false;  // a capture, for want of memory
  bool shown_ = false;       // by its calls alone: a capture
};

}  // namespace varve::cupti

#endif  // VARVE_CUDA_CUPTI_CONTEXTS_HPP
