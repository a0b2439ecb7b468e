// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// "execute_…": vLLM, and what TraceLens patches write in its form.
#include "formats/pytorch/passes.hpp"
#include "formats/pytorch/text_scanner.hpp"

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

/// Requests in one phase and sums over them: of query tokens q, of KV lengths k, and of products.
struct requests {
  std::int64_t count = 0;
  std::int64_t q = 0;
  std::int64_t k = 0;
  std::int64_t qq = 0;
  std::int64_t qk = 0;
};

/// Every request has at least one token.
bool can_be(const requests& r) noexcept { return r.count == 0 ? r.q == 0 : r.q >= r.count; }

/// Squares of a request's tokens add up to least where all have as many, and to most where one has all.
bool squares_can_be(const requests& r) noexcept {
  if (r.count == 0) {
    return r.qq == 0;
  }
  const std::int64_t square = r.q * r.q;  // below 10^18
  return r.qq >= square / r.count + (square % r.count != 0 ? 1 : 0) && r.qq <= square;
}

std::optional<mark> pass_of_sides(std::string_view text, const requests& context, const requests& generation,
                                  bool detailed) {
  if (!can_be(context) || !can_be(generation)) {
    return not_understood(text, mark_form::unknown_vllm);
  }
  if (context.count == 0 && generation.count == 0) {
    return not_understood(text, mark_form::plain);  // nothing was scheduled, so nothing ran
  }
  mark out = pass_of(generation.count == 0 ? VARVE_PREFILL : context.count == 0 ? VARVE_DECODE : VARVE_MIXED);
  const auto side = [&](const requests& r) {
    return detailed ? pass_side{r.count, r.q, r.k, r.qk} : pass_side{r.count, r.q, -1, -1};
  };
  if (context.count > 0) {
    set_prefill(out, side(context));
  }
  if (generation.count > 0) {
    set_decode(out, side(generation));
  }
  return out;
}

/// "execute_context_1(888)_generation_0(0)"; the context's parentheses can hold "888_788544", Σq and Σq².
std::optional<mark> read_native(std::string_view text) {
  requests c;
  requests g;
  text_scanner in{text};
  in.text("execute_context_").number(c.count).text("(").number(c.q);
  const bool squares = in.next_is('_');
  if (squares) {
    in.text("_").sum(c.qq);
  }
  in.text(")_generation_").number(g.count).text("(").number(g.q).text(")");
  if (!in.done() || (squares && !squares_can_be(c))) {
    return not_understood(text, mark_form::unknown_vllm);
  }
  return pass_of_sides(text, c, g, false);
}

/// "execute_64_context_0(sq0sk0sqsq0sqsk0)_generation_64(sq64sk131072sqsq64sqsk131072)".
std::optional<mark> read_detailed(std::string_view text) {
  std::int64_t all = 0;
  requests c;
  requests g;
  text_scanner in{text};
  const auto sums = [&](requests& r) {
    in.number(r.count).text("(sq").number(r.q).text("sk").sum(r.k);
    in.text("sqsq").sum(r.qq).text("sqsk").sum(r.qk).text(")");
  };
  in.text("execute_").number(all).text("_context_");
  sums(c);
  in.text("_generation_");
  sums(g);
  // The first number is all tokens; in SGLang patched by TraceLens, all requests.
  const bool adds_up = all == c.q + g.q || all == c.count + g.count;
  const auto possible = [](const requests& r) { return r.k >= r.q && squares_can_be(r) && r.qk >= r.qq; };
  if (!in.done() || !adds_up || !possible(c) || !possible(g)) {
    return not_understood(text, mark_form::unknown_vllm);
  }
  return pass_of_sides(text, c, g, true);
}

/// "execute_new_2_cached_14": requests scheduled for the first time, and all others, which can be in decode
/// or in a later part of a prefill.
std::optional<mark> read_new_cached(std::string_view text) {
  std::int64_t fresh = 0;
  std::int64_t cached = 0;
  if (!text_scanner{text}.text("execute_new_").number(fresh).text("_cached_").number(cached).done()) {
    return not_understood(text, mark_form::unknown_vllm);
  }
  if (fresh == 0 && cached == 0) {
    return not_understood(text, mark_form::plain);
  }
  if (cached > 0) {
    return pass_of(fresh > 0 ? "new and cached" : "cached");
  }
  mark out = pass_of(VARVE_PREFILL);
  set_prefill(out, {fresh, -1, -1, -1});
  return out;
}

}  // namespace

std::optional<mark> read_vllm_pass(std::string_view text) {
  if (text.starts_with("execute_context_")) {
    return read_native(text);
  }
  if (text.starts_with("execute_new_")) {
    return read_new_cached(text);
  }
  std::int64_t number = 0;
  text_scanner in{text};
  if (in.text("execute_").number(number).rest().starts_with("_context_")) {
    return read_detailed(text);
  }
  std::int64_t height = 0;
  if (text_scanner{text}
          .text("execute_diffusion_")
          .number(number)
          .text("_")
          .number(height)
          .text("x")
          .number(height)
          .done()) {
    return pass_of("diffusion");  // xDiT patched by TraceLens: batch and resolution
  }
  return std::nullopt;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
