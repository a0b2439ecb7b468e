// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_FORMATS_TABLE_STYLE_HPP
#define VARVE_FORMATS_TABLE_STYLE_HPP

#include <cstddef>
#include <string>
#include <string_view>

namespace varve::table {

/// Colours, where wanted, and how wide running text may be.
struct style {
  bool colour = false;
  std::size_t width = 0;   ///< of the terminal; 0: no limit
  bool host_only = false;  ///< nothing of a device was recorded: times are the host's

  /// Width for sentences, which unlike a table need a limit to be readable, and some room.
  [[nodiscard]] std::size_t text_width() const noexcept {
    constexpr std::size_t least = 24;
    constexpr std::size_t most = 120;
    return width == 0 || width > most ? most : width < least ? least : width;
  }

  [[nodiscard]] std::string paint(std::string_view code, std::string_view text) const {
    std::string out;
    if (colour && !text.empty()) {
      out.append("\x1b[").append(code).append("m").append(text).append("\x1b[0m");
    } else {
      out = text;
    }
    return out;
  }
  [[nodiscard]] std::string bold(std::string_view text) const { return paint("1", text); }
  [[nodiscard]] std::string dim(std::string_view text) const { return paint("2", text); }
  [[nodiscard]] std::string warning(std::string_view text) const { return paint("33", text); }
};

}  // namespace varve::table

#endif  // VARVE_FORMATS_TABLE_STYLE_HPP
