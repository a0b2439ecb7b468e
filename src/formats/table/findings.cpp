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
constexpr std::size_t most_slowest = 3;
constexpr std::size_t indent = 4;

struct entry {
  std::string_view text;
  std::string_view next_step{};
};

/// A command for the shell in lines that are one command when they are pasted.
std::string in_lines(std::string_view command, std::size_t width) {
  std::string out;
  std::string line;
  std::string piece;
  const auto flush = [&] {
    if (!line.empty() && columns(line) + columns(piece) + 3 > width) {
      out += line + " \\\n" + std::string(indent + 2, ' ');
      line.clear();
    }
    line += (line.empty() ? "" : " ") + piece;
    piece.clear();
  };
  bool quoted = false;
  for (std::size_t i = 0; i < command.size(); ++i) {
    quoted = quoted != (command[i] == '\'');
    const bool option = command.substr(i + 1, 2) == "--";
    if (command[i] == ' ' && !quoted && (option || command.find(' ', i + 1) == std::string_view::npos)) {
      flush();
    } else {
      piece += command[i];
    }
  }
  flush();
  return out + line;
}

std::string next_step(std::string_view text, std::size_t width) {
  const std::string safe = printable(text);
  return safe.rfind("ncu ", 0) == 0 ? in_lines(safe, width - indent) : flow({safe}, " ", indent, width);
}

void list(std::string_view title, const std::vector<entry>& texts, const style& s, std::string& out) {
  if (texts.empty()) {
    return;
  }
  out += '\n' + s.bold(title) + '\n';
  for (std::size_t i = 0; i < std::min(texts.size(), most_lines); ++i) {
    out += "  - " + flow({printable(texts[i].text)}, " ", indent, s.text_width()) + '\n';
    if (!texts[i].next_step.empty()) {
      out += std::string(indent, ' ') + s.dim(next_step(texts[i].next_step, s.text_width())) + '\n';
    }
  }
  if (texts.size() > most_lines) {
    out += "  - " +
           s.dim(counted(static_cast<std::int64_t>(texts.size() - most_lines), "more", "more") +
                 ": --json has all") +
           '\n';
  }
}

/// Those that help, and for phases that starve also that fewer bytes don't.
bool is_news(const report& r, const prediction& p) {
  const bool starves = std::any_of(r.findings.begin(), r.findings.end(), [&](const finding& f) {
    return f.what == finding::kind::overhead && f.phase == p.phase;
  });
  return p.what != prediction::change::left_out &&
         (p.helps || (starves && p.what == prediction::change::quarter_weight_bytes));
}

}  // namespace

std::string findings(const report& r, const style& s) {
  std::string out;
  std::vector<entry> texts;
  std::vector<entry> slowest;
  std::set<std::uint32_t> phases;
  for (const finding& f : r.findings) {
    if (f.what != finding::kind::slowest) {
      texts.push_back({f.text, f.next_step});
    } else if (!f.next_step.empty() && slowest.size() < most_slowest && phases.insert(f.phase).second) {
      slowest.push_back({f.text, f.next_step});  // the others are in the rows
    }
  }
  list("Findings", texts, s, out);
  list("Slowest, and what looks closer", slowest, s, out);
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
  list("What if", texts, s, out);
  if (!texts.empty()) {
    out += "    " +
           s.dim(flow({"expected (at best to at worst) for a pass; --json says what each rests on"}, " ", 4,
                      s.text_width())) +
           '\n';
  }
  return out.empty() ? out : out + '\n';
}

}  // namespace varve::table
