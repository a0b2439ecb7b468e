// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Which CUDA contexts have done something, and which streams capture, as far as callbacks tell: what a
// session waits for at its end, and whether it may.
#ifndef VARVE_CUDA_CUPTI_CONTEXTS_HPP
#define VARVE_CUDA_CUPTI_CONTEXTS_HPP

#include "cupti/abi.hpp"

#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

namespace varve::cupti {

/// Thread safe; takes a lock, and what it remembers may allocate. Without memory something is not remembered.
class context_book {
 public:
  void saw(context_handle c) noexcept;
  /// With its streams.
  void gone(context_handle c) noexcept;
  void capture_begins(context_handle c, stream_handle s) noexcept;
  void capture_ends(stream_handle s) noexcept;

  [[nodiscard]] bool capturing() const noexcept;
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
  static capture made(context_handle c, stream_handle s) noexcept;

  mutable std::mutex mutex_;
  std::vector<context_handle> contexts_;
  std::vector<capture> captures_;
};

}  // namespace varve::cupti

#endif  // VARVE_CUDA_CUPTI_CONTEXTS_HPP
