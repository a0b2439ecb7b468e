// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "graph_prediction.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace decoder {

namespace {

const varve::phase_row* decode_of(const varve::report& r) {
  const auto found = std::find_if(r.phases.begin(), r.phases.end(), [](const varve::phase_row& p) {
    return p.phase == "decode" && p.passes > 0 && p.partition.busy() > 0;
  });
  return found != r.phases.end() ? &*found : nullptr;
}

double a_pass(const varve::phase_row& p, varve::time_ns total) {
  return static_cast<double>(total) / static_cast<double>(p.passes);
}

}  // namespace

std::string predicted_and_measured(const varve::report& eager, const varve::report& replayed) {
  const varve::phase_row* const before = decode_of(eager);
  const varve::phase_row* const after = decode_of(replayed);
  if (before == nullptr || after == nullptr) {
    return "No decode pass was recorded on a device: there is nothing to compare.\n";
  }
  const auto index = static_cast<std::uint32_t>(before - eager.phases.data());
  const auto found =
      std::find_if(eager.predictions.begin(), eager.predictions.end(), [&](const varve::prediction& p) {
        return p.what == varve::prediction::change::graphs && p.phase == index;
      });
  if (found == eager.predictions.end()) {
    return "Nothing was predicted: a decode pass has too few launches.\n";
  }
  const double measured = a_pass(*after, after->partition.wall());
  const double busy =
      a_pass(*before, before->partition.busy());  // the ratio's divisor: graphs leave it as it is
  std::string out = "                    eager  predicted    at best   at worst   measured\n";
  const auto line = [&](const char* what, double now, double divisor, double last) {
    std::array<char, 160> text{};
    std::snprintf(text.data(), text.size(), "%s %10.2f %10.2f %10.2f %10.2f %10.2f\n", what, now / divisor,
                  found->expected / divisor, found->at_best / divisor, found->at_worst / divisor, last);
    out += text.data();
  };
  constexpr double microsecond = 1e3;
  line("a pass, µs    ", found->now, microsecond, measured / microsecond);
  line("overhead ratio", found->now, busy, after->overhead_ratio());
  const double off = measured / found->expected - 1;
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "Measured is %.1f %% %s than predicted, %s.\n", std::abs(off) * 100,
                off < 0 ? "less" : "more",
                measured < found->at_best    ? "and less than at best"
                : measured > found->at_worst ? "and more than at worst"
                                             : "between best and worst");
  return out + text.data() +
         "Both runs were recorded: what recording costs an eager launch or a graph's node is in them.\n";
}

}  // namespace decoder
