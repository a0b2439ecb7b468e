// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Findings and predictions, as far as the rows don't show them.
#include "formats/table/parts.hpp"
#include "formats/table/text.hpp"
#include "formats/table/units.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace varve::table {

namespace {

constexpr std::size_t most_lines = 8;
constexpr std::size_t most_what_if = 12;  // of two phases each
constexpr std::size_t most_slowest = 3;
constexpr std::size_t list_indent = 4;

struct entry {
  std::string_view text;
  std::string_view next_step{};
};

/// A command for the shell in lines that are one command when they are pasted: broken between words, and a
/// word in quotes that is too long for a line inside of them, where the shell joins what touches.
std::string in_lines(std::string_view command, std::size_t width) {
  std::string out;
  std::string word;
  std::size_t column = list_indent;
  bool fresh = true;
  const auto flush = [&] {
    if (!fresh && column + columns(word) + 3 > width) {  // a space before, and one and a backslash after
      out += " \\\n" + std::string(list_indent + 2, ' ');
      column = list_indent + 2;
      fresh = true;
    }
    out += fresh ? "" : " ";
    column += fresh ? 0 : 1;
    while (column + columns(word) + 2 > width) {
      const std::size_t room = width - column - 2;
      if (word.front() != '\'' || columns(word) != word.size()) {
        word = shortened(word, room);  // no command of ours
        break;
      }
      out += word.substr(0, room) + "'\\\n";
      word.replace(0, room, 1, '\'');
      column = 0;
    }
    out += word;
    column += columns(word);
    fresh = false;
    word.clear();
  };
  bool quoted = false;
  for (const char c : command) {
    quoted = quoted != (c == '\'');
    if (c == ' ' && !quoted) {
      flush();
    } else {
      word += c;
    }
  }
  flush();
  return out;
}

std::string next_step(std::string_view text, std::size_t width) {
  const std::string safe = printable(text);
  return safe.rfind("ncu ", 0) == 0 ? in_lines(safe, width) : flow({safe}, " ", list_indent, width);
}

void list(std::string_view title, const std::vector<entry>& texts, std::size_t most, const style& s,
          std::string& out) {
  if (texts.empty()) {
    return;
  }
  out += '\n' + s.bold(title) + '\n';
  for (std::size_t i = 0; i < std::min(texts.size(), most); ++i) {
    out += "  - " + flow({printable(texts[i].text)}, " ", list_indent, s.text_width()) + '\n';
    if (!texts[i].next_step.empty()) {
      out += std::string(list_indent, ' ') + s.dim(next_step(texts[i].next_step, s.text_width())) + '\n';
    }
  }
  if (texts.size() > most) {
    out +=
        "  - " +
        s.dim(counted(static_cast<std::int64_t>(texts.size() - most), "more", "more") + ": --json has all") +
        '\n';
  }
}

/// Those that help, what one layer less brings, and for phases that starve also that fewer bytes don't.
bool is_news(const report& r, const prediction& p) {
  const bool starves = std::any_of(r.findings.begin(), r.findings.end(), [&](const finding& f) {
    return f.what == finding::kind::overhead && f.phase == p.phase;
  });
  return p.helps || p.what == prediction::change::left_out ||
         (starves && p.what == prediction::change::quarter_weight_bytes);
}

}  // namespace

std::string findings(const report& r, const style& s) {
  std::string out;
  std::vector<entry> texts;
  std::vector<const finding*> slow;  // the first of each phase, then those that may have other kernels
  std::vector<const finding*> more;
  std::set<std::uint32_t> phases;
  for (const finding& f : r.findings) {
    if (f.what != finding::kind::slowest) {
      texts.push_back({f.text, f.next_step});
    } else if (!f.next_step.empty()) {
      (phases.insert(f.phase).second ? slow : more).push_back(&f);
    }
  }
  slow.insert(slow.end(), more.begin(), more.end());
  std::set<std::string_view> commands;
  std::vector<entry> slowest;
  for (std::size_t i = 0; i < slow.size() && slowest.size() < most_slowest; ++i) {
    if (i < phases.size() || commands.count(slow[i]->next_step) == 0) {
      slowest.push_back({slow[i]->text, slow[i]->next_step});
    }
    commands.insert(slow[i]->next_step);
  }
  list("Findings", texts, most_lines, s, out);
  list("Slowest, and what looks closer", slowest, most_lines, s, out);
  std::vector<const prediction*> news;
  for (const prediction& p : r.predictions) {
    if (is_news(r, p)) {
      news.push_back(&p);
    }
  }
  const auto gain = [](const prediction* p) { return p->now > 0 ? p->expected / p->now : 1; };
  std::stable_sort(news.begin(), news.end(), [&](auto a, auto b) {
    return std::tuple{a->phase, gain(a)} < std::tuple{b->phase, gain(b)};
  });
  texts.clear();
  for (const prediction* const p : news) {
    texts.push_back({p->text});
  }
  list("What if", texts, most_what_if, s, out);
  if (!texts.empty()) {
    out += "    " +
           s.dim(flow({"expected (at best to at worst) for a pass; --json says what each rests on"}, " ", 4,
                      s.text_width())) +
           '\n';
  }
  return out.empty() ? out : out + '\n';
}

}  // namespace varve::table
