// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The batch of a pass in words.
#include "formats/table/parts.hpp"
#include "formats/table/text.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace varve::table {

namespace {

bool drop(std::string_view& text, std::string_view start) noexcept {
  const bool starts = text.substr(0, start.size()) == start;
  text.remove_prefix(starts ? start.size() : 0);
  return starts;
}

std::string_view take_digits(std::string_view& text) noexcept {
  const std::string_view digits = text.substr(0, std::min(text.size(), text.find_first_not_of("0123456789")));
  text.remove_prefix(digits.size());
  return digits;
}

std::string with_noun(std::string_view n, std::string_view what) {
  return std::string{n}.append(" ").append(what).append(n == "1" ? "" : "s");
}

/// "16", "1×512", "3 (1000 tokens)" or "1000 tokens" in words; "" where it is nothing of these.
std::string side(std::string_view text) {
  const std::string_view first = take_digits(text);
  if (first.empty()) {
    return "";
  }
  if (text.empty()) {
    return with_noun(first, "sequence");
  }
  if (text == " tokens") {
    return with_noun(first, "token");
  }
  const bool same = drop(text, "×");
  if (!same && !drop(text, " (")) {
    return "";
  }
  const std::string_view tokens = take_digits(text);
  if (tokens.empty() || text != (same ? "" : " tokens)")) {
    return "";
  }
  return same ? std::string{first} + " × " + with_noun(tokens, "token")
              : with_noun(first, "sequence") + ", " + with_noun(tokens, "token");
}

}  // namespace

std::string batch_name(std::string_view batch, std::string_view phase) {
  std::string out;
  std::string_view rest = batch;
  for (const std::string_view name : {"prefill", "decode"}) {
    const std::size_t size = std::min(rest.size(), rest.find(", "));
    std::string_view part = rest.substr(0, size);
    if (!drop(part, name) || !drop(part, " ")) {
      continue;
    }
    const std::string words = side(part);
    if (words.empty()) {
      break;
    }
    // Where it is all and the phase says which side it is, that is clear.
    const bool is_phase = part.size() + name.size() + 1 == batch.size() && drop(phase, name) &&
                          (phase.empty() || phase.front() == ' ');
    out.append(out.empty() ? "" : " + ").append(is_phase ? "" : std::string{name} + ' ').append(words);
    rest.remove_prefix(std::min(rest.size(), size + 2));
  }
  return rest.empty() ? out : printable(batch);
}

}  // namespace varve::table
