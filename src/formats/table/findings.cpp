// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Findings and predictions, as far as the rows don't show them.
#include "formats/table/parts.hpp"
#include "formats/table/text.hpp"
#include "formats/table/units.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

namespace varve::table {

namespace {

constexpr std::size_t most_lines = 8;

void list(std::string_view title, const std::vector<std::string_view>& texts, const style& s,
          std::string& out) {
  if (texts.empty()) {
    return;
  }
  out += '\n' + s.bold(title) + '\n';
  for (std::size_t i = 0; i < std::min(texts.size(), most_lines); ++i) {
    out += "  - " + flow({printable(texts[i])}, " ", 4, s.text_width()) + '\n';
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
  std::vector<std::string_view> texts;
  for (const finding& f : r.findings) {
    if (f.what != finding::kind::slowest) {  // the rows are in this order
      texts.push_back(f.text);
    }
  }
  list("Findings", texts, s, out);
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
    texts.push_back(p->text);
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
