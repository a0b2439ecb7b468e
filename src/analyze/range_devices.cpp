// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/range_devices.hpp"

#include <algorithm>

namespace varve {
inline namespace v0 {
namespace analysis {

void range_devices::expect(std::size_t devices) {
  devices_ = static_cast<std::uint32_t>(devices);
  words_ = devices > 1 ? (devices + 63) / 64 : 0;
  launched_.assign(words_ * trace_.ranges.size(), 0);
}

void range_devices::settle() {
  if (words_ == 0) {
    return;
  }
  const auto count = static_cast<std::uint32_t>(trace_.ranges.size());
  for (std::uint32_t r = count; r-- > 0;) {
    if (const std::uint32_t up = trace_.ranges[r].parent; up < r) {
      for (std::size_t w = 0; w < words_; ++w) {
        launched_[up * words_ + w] |= launched_[r * words_ + w];
      }
    }
  }
  around_.assign(count, none);
  for (std::uint32_t r = 0; r < count; ++r) {
    const auto* const first = launched_.data() + r * words_;
    if (std::any_of(first, first + words_, [](std::uint64_t word) { return word != 0; })) {
      around_[r] = r;
      if (structure_.ranges[r].owner == r) {
        each(r, [&](std::uint32_t d) {
          rows_.row(structure_.path_of(trace_, r),
                    rows_.group(structure_.key_of(structure_.ranges[r].pass), d));
        });
      }
    } else if (trace_.ranges[r].parent < r) {
      around_[r] = around_[trace_.ranges[r].parent];
    }
  }
  home_.assign(count, 0);
  for (std::uint32_t r = 0; r < count; ++r) {
    if (around_[r] != r && structure_.ranges[r].owner == r) {
      home_[r] = home(r, structure_.path_of(trace_, r), structure_.key_of(structure_.ranges[r].pass));
    }
  }
}

std::uint32_t range_devices::home(std::uint32_t range, std::uint32_t path, std::uint32_t key) const {
  if (words_ == 0) {
    return 0;
  }
  const std::uint32_t around = range < around_.size() ? around_[range] : none;
  std::uint32_t of_kind = none;
  std::uint32_t of_row = none;
  std::uint32_t of_range = none;
  for (std::uint32_t d = 0; d < devices_; ++d) {
    const bool inside = around != none && ran_on(around, d);
    const bool has_row = rows_.has_row(path, key, d);
    if (inside && has_row) {
      return d;
    }
    of_range = inside && of_range == none ? d : of_range;
    of_row = has_row && of_row == none ? d : of_row;
    of_kind = of_kind == none && rows_.has_row(whole_pass, key, d) ? d : of_kind;
  }
  return of_range != none ? of_range : of_row != none ? of_row : of_kind != none ? of_kind : 0;
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
