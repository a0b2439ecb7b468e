// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "record/alias_table.hpp"

#include <iterator>

namespace varve::record {

void alias_table::set(std::uint32_t id, std::uint32_t outer) {
  const auto number = static_cast<std::uint32_t>(id / ids_of_page);
  if (last_ == nullptr || number != last_number_) {
    auto p = pages_.find(number);
    if (p == pages_.end()) {
      p = pages_.emplace(number, std::make_unique<page>()).first;
    }
    last_ = p->second.get();
    last_number_ = number;
  }
  last_->outer[id % ids_of_page] = outer;
  last_->written = generation_;
}

std::uint32_t alias_table::outer_of(std::uint32_t id) const noexcept {
  const auto found = pages_.find(static_cast<std::uint32_t>(id / ids_of_page));
  const std::uint32_t outer = found != pages_.end() ? found->second->outer[id % ids_of_page] : 0;
  return outer != 0 ? outer : id;
}

void alias_table::retire() {
  for (auto p = pages_.begin(); p != pages_.end();) {
    p = p->second->written != generation_ ? pages_.erase(p) : std::next(p);
  }
  ++generation_;
  last_ = nullptr;
}

}  // namespace varve::record
