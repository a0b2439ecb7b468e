// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The row of a device that a person names.
#include "device/gpus.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace varve {

namespace {

using device::gpu;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Letters and digits, small, of words that tell something; "NVIDIA" and the like do not.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out(1);
  for (const char c : text) {
    if (is_digit(c) || (c >= 'a' && c <= 'z')) {
      out.back() += c;
    } else if (c >= 'A' && c <= 'Z') {
      out.back() += static_cast<char>(c - 'A' + 'a');
    } else if (!out.back().empty()) {
      out.emplace_back();
    }
  }
  constexpr std::string_view silent[] = {"", "nvidia", "geforce", "tesla", "amd", "instinct"};
  out.erase(std::remove_if(out.begin(), out.end(),
                           [&](const std::string& word) {
                             return std::find(std::begin(silent), std::end(silent), word) != std::end(silent);
                           }),
            out.end());
  return out;
}

std::string joined(const std::vector<std::string>& words) {
  return std::accumulate(words.begin(), words.end(), std::string{});
}

/// Whether `text` begins with `part`, not in the middle of a number.
bool begins(const std::string& text, const std::string& part) {
  return text.compare(0, part.size(), part) == 0 &&
         (text.size() == part.size() || !is_digit(part.back()) || !is_digit(text[part.size()]));
}

struct entry {
  const gpu* row;
  std::vector<std::string> words;
  std::vector<std::string> whole;  ///< its name, and those that drivers print, without gaps
};

std::vector<entry> entries() {
  std::vector<entry> out;
  for (const device::gpu_list list : {device::datacentre_gpus(), device::other_gpus()}) {
    for (const gpu& g : list) {
      entry e{&g, words_of(g.name), {}};
      e.whole.push_back(joined(e.words));
      for (const std::string_view printed : g.prints) {
        if (!printed.empty()) {
          e.whole.push_back(joined(words_of(printed)));
        }
      }
      out.push_back(std::move(e));
    }
  }
  return out;
}

/// How many letters must change.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t corner = i;
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t change = corner + (a[i] == b[j] ? 0 : 1);
      corner = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, corner + 1});
    }
  }
  return row.back();
}

template <class Fits>
std::vector<const gpu*> rows_that(const std::vector<entry>& all, Fits&& fit) {
  std::vector<const gpu*> out;
  for (const entry& e : all) {
    if (fit(e)) {
      out.push_back(e.row);
    }
  }
  return out;
}

std::string list_of(const std::vector<const gpu*>& rows) {
  std::string out;
  for (const gpu* g : rows) {
    (out += out.empty() ? "" : ", ") += g->name;
  }
  return out;
}

std::vector<const gpu*> nearest(std::vector<entry> all, const std::string& asked) {
  constexpr std::size_t shown = 5;
  const auto nearness = [&](const entry& e) {
    std::size_t least = distance(asked, e.whole.front());
    for (const std::string& whole : e.whole) {
      least = std::min(least, distance(asked, whole));
    }
    return least;
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const entry& a, const entry& b) { return nearness(a) < nearness(b); });
  all.resize(std::min(all.size(), shown));
  return rows_that(all, [](const entry&) { return true; });
}

}  // namespace

inline namespace v0 {

ceilings ceilings_named(std::string_view name) {
  constexpr std::size_t longest = 128;
  const std::vector<std::string> words = words_of(name.substr(0, longest));
  const std::string whole = joined(words);
  const std::string quoted = '"' + std::string{name.substr(0, longest)} + '"';
  if (whole.empty()) {
    throw std::invalid_argument{quoted + " names no device"};
  }
  const std::vector<entry> all = entries();
  std::vector<const gpu*> rows = rows_that(
      all, [&](const entry& e) { return std::find(e.whole.begin(), e.whole.end(), whole) != e.whole.end(); });
  if (rows.empty()) {
    rows = rows_that(all, [&](const entry& e) {
      return std::any_of(e.whole.begin(), e.whole.end(),
                         [&](const std::string& text) { return begins(text, whole); }) ||
             std::all_of(words.begin(), words.end(), [&](const std::string& word) {
               return std::any_of(e.words.begin(), e.words.end(),
                                  [&](const std::string& text) { return begins(text, word); });
             });
    });
  }
  if (rows.size() > 1) {
    throw std::invalid_argument{quoted + " may be any of " + list_of(rows)};
  }
  if (rows.empty()) {
    throw std::invalid_argument{quoted + " is not in the table of devices; the nearest names are " +
                                list_of(nearest(all, whole))};
  }
  return device::ceilings_of(*rows.front());
}

}  // namespace v0
}  // namespace varve
