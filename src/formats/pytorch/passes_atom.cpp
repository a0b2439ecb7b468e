// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// "prefill[…]", "decode[…]", "draft[…]": ATOM.
#include "formats/pytorch/passes.hpp"
#include "formats/pytorch/text_scanner.hpp"

#include <algorithm>
#include <utility>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

struct fields {
  std::int64_t sequences = -1;  // "bs", without what a graph pads it to
  std::int64_t tokens = -1;
  std::int64_t in_prefill = -1;
  std::int64_t in_decode = -1;
  std::int64_t sk = -1;
  std::int64_t sqsk = -1;
};

/// "bs=117/128 tok=117 ctx=[7803, 6918]...+3 d=117": false where it is no such text.
bool read(std::string_view inside, fields& to) {
  const std::pair<std::string_view, std::int64_t*> known[] = {{"bs", &to.sequences}, {"tok", &to.tokens},
                                                              {"p", &to.in_prefill}, {"d", &to.in_decode},
                                                              {"sk", &to.sk},        {"sqsk", &to.sqsk}};
  while (!inside.empty()) {
    const std::size_t equals = inside.find('=');
    if (equals == std::string_view::npos) {
      return false;
    }
    const std::string_view key = inside.substr(0, equals);
    inside.remove_prefix(equals + 1);
    const std::size_t list = inside.substr(0, 1) == "[" ? inside.find(']') : 0;
    const std::size_t end = std::min(inside.find(' ', std::min(list, inside.size())), inside.size());
    text_scanner value{inside.substr(0, end)};
    inside.remove_prefix(std::min(end + 1, inside.size()));
    for (const auto& [name, number] : known) {
      if (name != key) {
        continue;
      }
      if (number == &to.sk || number == &to.sqsk) {
        value.sum(*number);
      } else {
        value.number(*number);
      }
      if (key == "bs" && value.next_is('/')) {
        std::int64_t padded = 0;
        value.text("/").number(padded);
      }
      if (!value.done()) {
        return false;
      }
    }
  }
  return to.sequences >= 0;
}

mark read_decode(const fields& f) {
  if (f.in_prefill > 0) {
    mark out = pass_of(VARVE_MIXED);  // all sums are over both sides
    set_prefill(out, {f.in_prefill, -1, -1, -1});
    set_decode(out, {f.in_decode, -1, -1, -1});
    return out;
  }
  mark out = pass_of(VARVE_DECODE);
  // With drafts, whether a sequence's length counts them is not known.
  const bool one_each = f.tokens == f.sequences;
  set_decode(out, {f.sequences, f.tokens, one_each ? f.sk : -1, one_each ? f.sqsk : -1});
  return out;
}

}  // namespace

std::optional<mark> read_atom_pass(std::string_view text) {
  const std::size_t bracket = text.find('[');
  if (bracket == std::string_view::npos || text.back() != ']') {
    return std::nullopt;
  }
  const std::string_view kind = text.substr(0, bracket);
  std::string_view inside = text.substr(bracket + 1, text.size() - bracket - 2);
  const bool prefill = kind == "prefill" || kind == "eager_prefill";
  const bool decode = kind == "decode" || kind == "eager_decode";
  const bool dummy = kind == "dummy_prefill" || kind == "dummy_eager_prefill" || kind == "dummy_decode" ||
                     kind == "dummy_eager_decode";
  const bool draft = kind == "draft" || kind == "dspark";
  if (kind == "dspark_sched" || kind == "dspark_ctx_kv") {
    return mark{std::string{kind}, no_index, range_kind::op, {}, mark_form::plain};
  }
  if (!prefill && !decode && !dummy && !draft) {
    return std::nullopt;
  }
  if (kind == "draft") {  // "1/3 bs=64": the second of three drafts
    std::int64_t number = 0;
    text_scanner in{inside};
    inside = in.number(number).text("/").number(number).text(" ").rest();
  }
  fields f;
  if (!read(inside, f)) {
    return not_understood(text, mark_form::unknown_atom);
  }
  if (dummy) {
    return pass_of(VARVE_WARM_UP);
  }
  if (decode) {
    return read_decode(f);
  }
  mark out = pass_of(prefill ? VARVE_PREFILL : VARVE_DRAFT);
  if (prefill) {
    set_prefill(out, {f.sequences, f.tokens, f.sk, f.sqsk});
  } else {
    set_decode(out, {f.sequences, -1, -1, -1});
  }
  return out;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
