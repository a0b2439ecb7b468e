// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The operators of a pass, one after the other.
#ifndef VARVE_WORK_LAYER_WORK_HPP
#define VARVE_WORK_LAYER_WORK_HPP

#include <varve/model.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace varve {
inline namespace v0 {
namespace model_work {

/// What attention needs to know of some sequences, all together, for one window.
struct attended {
  std::int64_t tokens = 0;
  std::int64_t pairs = 0;    ///< a new token and a key that it attends to
  std::int64_t needed = 0;   ///< keys
  std::int64_t context = 0;  ///< keys, whatever the window
};

/// The sequences of a pass.
class batch {
 public:
  batch(const std::vector<pass_sequence>& sequences, const work_options& options);

  [[nodiscard]] std::int64_t tokens() const noexcept { return tokens_; }
  [[nodiscard]] std::int64_t logits() const noexcept { return logits_; }
  /// work_options::rarest_expert.
  [[nodiscard]] double rarest_expert() const noexcept { return rarest_expert_; }
  [[nodiscard]] attended all(std::int64_t window) const;
  /// Those whose latents are used as they are, and those whose keys and values are made of them first.
  [[nodiscard]] attended absorbed() const { return attend(absorbed_, 0); }
  [[nodiscard]] attended expanded() const { return attend(expanded_, 0); }

 private:
  [[nodiscard]] attended attend(const std::vector<pass_sequence>& sequences, std::int64_t window) const;

  bool full_square_;
  double rarest_expert_;
  std::int64_t tokens_ = 0;
  std::int64_t logits_ = 0;
  std::vector<pass_sequence> absorbed_;
  std::vector<pass_sequence> expanded_;
};

/// Collects the operators of one layer after the other.
class operators {
 public:
  operators(const model& m, std::vector<operator_work>& out) : m_{m}, out_{out} {}

  void set_layer(std::int32_t layer) noexcept { layer_ = layer; }
  operator_work& add(std::string_view block, std::string_view name, const work& declared);
  /// A product with weights, whose bias, if any, has `bias` elements.
  operator_work& product(std::string_view block, std::string_view name, std::int64_t tokens, std::int64_t n,
                         std::int64_t k, const weight_format& weights, std::int64_t bias = 0);
  operator_work& norm(std::string_view name, std::int64_t tokens, std::int64_t width);
  operator_work& residual(std::string_view name, std::int64_t tokens, std::int64_t inputs);
  /// The activation of `width` elements a token, gated or not.
  operator_work& activate(std::string_view block, std::string_view name, std::int64_t tokens,
                          std::int64_t width, bool gated);
  [[nodiscard]] std::int64_t bytes(std::int64_t count) const noexcept { return bytes_of(count, m_.type); }
  [[nodiscard]] math_pipe pipe(const weight_format& weights) const noexcept;

 private:
  const model& m_;
  std::vector<operator_work>& out_;
  std::int32_t layer_ = no_index;
};

void add_attention(operators& to, const model& m, const attention_layer& a, const batch& b);
void add_mlp(operators& to, const model& m, const mlp_layer& mlp, std::int64_t tokens);
void add_experts(operators& to, const model& m, const expert_layer& e, const batch& b);

}  // namespace model_work
}  // namespace v0
}  // namespace varve

#endif  // VARVE_WORK_LAYER_WORK_HPP
