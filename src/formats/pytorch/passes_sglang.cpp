// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// "step[…]": SGLang.
#include "formats/pytorch/passes.hpp"
#include "formats/pytorch/text_scanner.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

/// A word and numbers with names: "EXTEND bs=2 toks=7 c_sq=7".
class step {
 public:
  /// False where `inside` is no such text.
  bool read(std::string_view inside) {
    constexpr std::size_t most = 24;
    const auto next = [&] {
      const std::string_view part = inside.substr(0, inside.find(' '));
      inside.remove_prefix(std::min(inside.size(), part.size() + 1));
      return part;
    };
    mode_ = next();
    while (!inside.empty()) {
      const std::string_view part = next();
      const std::size_t equals = part.find('=');
      if (equals == std::string_view::npos || values_.size() == most) {
        return false;
      }
      const std::string_view name = part.substr(0, equals);
      const bool sum =
          name.find("sk") != std::string_view::npos || name.find("sqsq") != std::string_view::npos;
      std::int64_t value = 0;
      text_scanner in{part.substr(equals + 1)};
      if (!(sum ? in.sum(value) : in.number(value)).done()) {
        return false;
      }
      values_.emplace_back(name, value);
    }
    return !mode_.empty();
  }
  [[nodiscard]] std::string_view mode() const noexcept { return mode_; }
  /// −1 where there is none.
  [[nodiscard]] std::int64_t operator[](std::string_view name) const noexcept {
    for (const auto& [known, value] : values_) {
      if (known == name) {
        return value;
      }
    }
    return -1;
  }

 private:
  std::string_view mode_;
  std::vector<std::pair<std::string_view, std::int64_t>> values_;
};

mark read_extend(const step& s) {
  mark out = pass_of(VARVE_PREFILL);
  const bool agree = s["c_sq"] < 0 || s["c_sq"] == s["toks"];
  set_prefill(out, {s["bs"], s["toks"], agree ? s["c_sk"] : -1, agree ? s["c_sqsk"] : -1});
  return out;
}

mark read_decode(const step& s) {
  mark out = pass_of(VARVE_DECODE);
  // More than one token a sequence: the draft model's, and what its lengths count is another matter.
  const bool one_each = s["g_sq"] < 0 || s["g_sq"] == s["bs"];
  set_decode(
      out, {s["bs"], one_each ? s["bs"] : s["g_sq"], one_each ? s["g_sk"] : -1, one_each ? s["g_sqsk"] : -1});
  return out;
}

mark read_mixed(const step& s) {
  mark out = pass_of(VARVE_MIXED);
  if (s["c"] >= 0 && s["g"] >= 0) {
    set_prefill(out, {s["c"], s["c_sq"], s["c_sk"], s["c_sqsk"]});
    set_decode(out, {s["g"], s["g_sq"], s["g_sk"], s["g_sqsk"]});
  }
  return out;
}

std::optional<mark> read_mode(const step& s) {
  const std::string_view mode = s.mode();
  const auto draft = [&](std::int64_t sequences) {
    mark out = pass_of(VARVE_DRAFT);
    // These sequences are in decode, though "c_" calls them by the shape of the work.
    set_decode(out, {sequences, s["c_sq"], s["c_sk"], s["c_sqsk"]});
    return out;
  };
  if (mode == "idle" || mode == "IDLE") {
    return pass_of("idle");
  }
  if (mode == "DRAFT_LOOP") {
    return s["raw_bs"] < 0 ? std::nullopt : std::optional{draft(s["raw_bs"])};
  }
  if (s["bs"] < 0) {
    return std::nullopt;
  }
  if (mode == "EXTEND") {
    return read_extend(s);
  }
  if (mode == "decode" || mode == "DECODE") {
    return read_decode(s);
  }
  if (mode == "MIXED") {
    return read_mixed(s);
  }
  if (mode == "TARGET_VERIFY") {
    mark out = pass_of(VARVE_VERIFY);
    set_decode(out, {s["bs"], std::max(s["g_sq"], s["c_sq"]), -1, -1});
    return out;
  }
  if (mode == "DRAFT_EXTEND" || mode == "DRAFT_EXTEND_V2") {
    return draft(s["bs"]);
  }
  if (mode == "SPLIT_PREFILL") {  // some of the model's layers
    mark out = pass_of(VARVE_PREFILL);
    set_prefill(out, {s["bs"], -1, -1, -1});
    return out;
  }
  if (mode == "DLLM_EXTEND" || mode == "prefill" || mode == "mixed") {
    return pass_of("extend");  // the first form said "prefill" and "mixed" of any mode that extends
  }
  return std::nullopt;
}

}  // namespace

std::optional<mark> read_sglang_pass(std::string_view text) {
  constexpr std::string_view head = "step[";
  if (!text.starts_with(head)) {
    return std::nullopt;
  }
  step s;
  if (text.back() == ']' && s.read(text.substr(head.size(), text.size() - head.size() - 1))) {
    if (auto out = read_mode(s)) {
      return out;
    }
  }
  return not_understood(text, mark_form::unknown_sglang);
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
