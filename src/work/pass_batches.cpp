// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "work/pass_batches.hpp"

#include <algorithm>
#include <cstddef>

namespace varve {
inline namespace v0 {
namespace model_work {

namespace {

constexpr std::int64_t most_sequences = 65536;
constexpr std::size_t attributes = VARVE_ACCEPTED_TOKENS + 1;

/// Sums over the sequences in one phase; negative: not told.
struct side {
  std::int64_t tokens = -1;
  std::int64_t sequences = -1;
  std::int64_t context = -1;
  bool decode = false;
};

/// Sequences of even length with these sums.
pass_batch::state add_even(const side& s, std::vector<pass_sequence>& to) {
  if (s.sequences > most_sequences || s.sequences > s.tokens) {
    return s.sequences > most_sequences ? pass_batch::state::too_many : pass_batch::state::no_tokens;
  }
  for (std::int64_t i = 0; i < s.sequences; ++i) {
    const auto part = [&](std::int64_t sum) { return sum / s.sequences + (i < sum % s.sequences ? 1 : 0); };
    to.push_back({part(s.tokens), part(s.context), s.decode});
  }
  return pass_batch::state::known;
}

}  // namespace

pass_batches::pass_batches(const trace& t, const describe_options& options) : options_{options} {
  const auto at = [&](std::uint32_t range) -> told* {
    return range < t.ranges.size() && t.ranges[range].kind == range_kind::phase ? &told_[range] : nullptr;
  };
  for (const range_attribute& a : t.attributes) {
    told* const to = static_cast<std::size_t>(a.key) < attributes ? at(a.range) : nullptr;
    if (to != nullptr) {
      to->numbers.resize(attributes, -1);
      to->numbers[static_cast<std::size_t>(a.key)] = a.value;
    }
  }
  for (const sequence_shape& s : t.sequences) {
    told* const to = at(s.range);
    if (to != nullptr && to->sequences.size() <= most_sequences) {
      to->sequences.push_back({s.tokens, s.context, s.decode});
    }
  }
}

/// The batch of passes that do not say it. One that decodes runs no prompts: of each it has the next token.
void pass_batches::give(bool decodes, pass_batch& out) const {
  using state = pass_batch::state;
  out.sequences = options_.batch;
  out.is = out.sequences.empty() ? state::no_tokens : state::known;
  const auto is_prompt = [](const pass_sequence& s) { return !s.decode; };
  if (decodes && std::all_of(out.sequences.begin(), out.sequences.end(), is_prompt)) {
    out.is = !out.sequences.empty() && options_.context <= 0 ? state::no_context : out.is;
    for (pass_sequence& s : out.sequences) {
      s = {1, options_.context, true};
    }
  }
}

pass_batch pass_batches::of(std::uint32_t range, bool decodes, bool only_told) const {
  using state = pass_batch::state;
  pass_batch out;
  const auto found = told_.find(range);
  const auto number = [&](varve_attribute key) {
    return found == told_.end() || found->second.numbers.empty()
               ? std::int64_t{-1}
               : found->second.numbers[static_cast<std::size_t>(key)];
  };
  out.logits = number(VARVE_LOGIT_TOKENS);
  if (found != told_.end() && !found->second.sequences.empty()) {
    out.sequences = found->second.sequences;
    out.is =
        static_cast<std::int64_t>(out.sequences.size()) > most_sequences ? state::too_many : state::known;
    return out;
  }
  side prefill{number(VARVE_PREFILL_TOKENS), number(VARVE_PREFILL_SEQUENCES),
               number(VARVE_PREFILL_CONTEXT_TOKENS), false};
  side decode{number(VARVE_DECODE_TOKENS), number(VARVE_DECODE_SEQUENCES),
              number(VARVE_DECODE_CONTEXT_TOKENS), true};
  if (prefill.tokens <= 0 && decode.tokens <= 0) {
    const bool runs_some = only_told || prefill.sequences > 0 || decode.sequences > 0;
    if (!runs_some) {
      give(decodes, out);
    }
    return out;
  }
  if (prefill.tokens > 0) {
    prefill.sequences = prefill.sequences > 0 ? prefill.sequences : 1;
    prefill.context = prefill.context > 0 ? prefill.context : prefill.tokens;  // nothing cached before
    out.is = add_even(prefill, out.sequences);
  }
  if (decode.tokens > 0 && (prefill.tokens <= 0 || out.is == state::known)) {
    decode.sequences = decode.sequences > 0 ? decode.sequences : decode.tokens;
    if (decode.context <= 0) {
      decode.context = sizes::product(options_.context, decode.sequences);
    }
    out.is = decode.context < decode.tokens ? state::no_context : add_even(decode, out.sequences);
  }
  return out;
}

}  // namespace model_work
}  // namespace v0
}  // namespace varve
