// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/rows.hpp"

#include "formats/input/json_text.hpp"
#include "formats/pytorch/builder.hpp"
#include "formats/pytorch/number.hpp"

#include <algorithm>
#include <cstdint>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

/// What follows `key` in `text`, up to the first of `ends`; empty where there is no key.
std::string_view after(std::string_view text, std::string_view key, std::string_view ends) noexcept {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) {
    return {};
  }
  text.remove_prefix(at + key.size());
  return text.substr(0, text.find_first_of(ends));
}

void read_extent(std::string_view text, extent& to) noexcept {
  if (text.empty() || to.is != extent::state::absent) {
    return;
  }
  to.is = extent::state::good;
  for (std::uint32_t& size : to.size) {
    const auto number = whole(text.substr(0, text.find(',')), 0xFFFFFFFFU);
    to.is = number ? to.is : extent::state::invalid;
    size = static_cast<std::uint32_t>(number.value_or(0));
    text.remove_prefix(std::min(text.find(','), text.size() - 1) + 1);
    if (text.empty() && &size != &to.size[2]) {
      to.is = extent::state::invalid;
      return;
    }
  }
}

}  // namespace

row read_row(std::string_view process, std::string_view thread) noexcept {
  constexpr std::string_view device = "/device:GPU:";
  constexpr std::string_view stream = "Stream #";
  if (process.find("/host:CPU") != std::string_view::npos) {
    return {row_kind::host, {}, {}};
  }
  row out;
  out.device = after(process, device, " /");
  out.stream = thread.starts_with(stream) ? after(thread, stream, " (") : std::string_view{};
  out.kind = !out.device.empty() && !out.stream.empty() ? row_kind::stream : row_kind::unknown;
  return out;
}

category category_in_stream(std::string_view name) noexcept {
  return name.starts_with("\"Memcpy")   ? category::copy
         : name.starts_with("\"Memset") ? category::set
                                        : category::kernel;
}

call_kind kind_of_named_call(std::string_view name) noexcept {
  return name.starts_with("Memcpy")   ? call_kind::copy
         : name.starts_with("Memset") ? call_kind::set
                                      : call_kind::launch;
}

void read_details(event& e) noexcept {
  if (!input::is_string(e.details)) {
    return;
  }
  const std::string_view text = input::inside(e.details);
  if (e.kind == category::kernel) {
    read_extent(after(text, "grid:", " "), e.grid);
    read_extent(after(text, "block:", " "), e.block);
    e.registers = after(text, "regs:", " ");
    e.shared_memory = after(text, "dynamic_shared:", " ");
  } else {
    e.bytes = after(text, "size:", " ");
  }
}

bool builder::add_by_row(event e) {
  const auto key = thread_key_of(e);
  const auto process = key ? process_names_.find(key->process) : process_names_.end();
  const auto thread = key ? thread_names_.find(*key) : thread_names_.end();
  const row where = read_row(process != process_names_.end() ? process->second : std::string_view{},
                             thread != thread_names_.end() ? thread->second : std::string_view{});
  if (where.kind == row_kind::stream) {
    e.device = where.device;
    e.stream = where.stream;
    e.context = {};
    e.kind = category_in_stream(e.name);
    read_details(e);
    add(e);
    rows_ = true;
    return true;
  }
  if (where.kind != row_kind::host || e.correlation.empty()) {
    uncategorised_ |= where.kind == row_kind::unknown && !e.begin.empty();
    losses_.add(lost::unknown_row, !e.correlation.empty() && process == process_names_.end() ? 1 : 0);
    return false;
  }
  e.kind = category::call;
  const std::size_t before = trace_.calls.size();
  add(e);
  if (trace_.calls.size() > before && trace_.calls.kind.back() == call_kind::other &&
      input::is_string(e.name) && !e.name.starts_with("\"cu") && !e.name.starts_with("\"hip")) {
    trace_.calls.kind.back() = kind_of_named_call(input::inside(e.name));
  }
  return true;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
