// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Annotations and calls of modules as nested ranges.
#ifndef VARVE_FORMATS_PYTORCH_ANNOTATIONS_HPP
#define VARVE_FORMATS_PYTORCH_ANNOTATIONS_HPP

#include "formats/pytorch/losses.hpp"
#include "formats/pytorch/marks.hpp"

#include <varve/trace.hpp>

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

class annotations {
 public:
  /// Levels of nesting, and bytes of a label path, that are kept. Reports write each path out: without bounds
  /// a small file could ask for any amount of memory.
  static constexpr std::size_t deepest = 128;
  static constexpr std::size_t longest_path = 4096;

  /// `name` is in `t.strings`; read_mark() says what it marks.
  void add(trace& t, std::uint32_t name, bool is_module, std::uint16_t thread, time_ns begin, time_ns end);

  /// Adds all to `t.ranges`, nested by containment on each thread, times moved by `shift`. Rounded times can
  /// make one end up to `slack` after the one that holds it, or begin before its predecessor ended.
  void write(trace& t, time_ns shift, time_ns slack, loss_counts& losses);

  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

 private:
  struct annotation {
    time_ns begin = 0;
    time_ns end = 0;
    std::uint32_t label = none;  // in labels_
    std::uint16_t thread = narrow_none;
  };
  struct label {
    std::uint32_t name = none;
    mark means;
  };
  std::vector<annotation> all_;
  std::vector<label> labels_;
  std::unordered_map<std::uint64_t, std::uint32_t> label_of_name_;
};

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_ANNOTATIONS_HPP
