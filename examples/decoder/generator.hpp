// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef DECODER_GENERATOR_HPP
#define DECODER_GENERATOR_HPP

#include "backend.hpp"
#include "config.hpp"
#include "model.hpp"

#include <varve/marker.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace decoder {

using token_list = std::vector<std::int32_t>;

enum class launch_mode : std::uint8_t {
  eager,  ///< every kernel of every pass is launched by itself
  graphs  ///< decode passes are captured once and replayed by one launch each
};

/// Of all passes together, in seconds.
struct pass_times {
  std::int64_t passes = 0;
  double host = 0;    ///< from the first launch until the tokens are there
  double device = 0;  ///< from the first kernel to the last, by the device's clock
};

/// As much as it takes to generate `tokens` for each prompt.
[[nodiscard]] engine_limits limits_for(const std::vector<token_list>& prompts, std::int64_t tokens);

/// Generates tokens for a batch of prompts, always the most likely one next. Prefill is one pass for all
/// prompts; then each decode pass adds a token to every sequence. Kernels run on one stream, the sampled
/// tokens come back to the host on another.
class generator {
 public:
  /// The context that a captured decode pass can take is rounded up to a multiple of this; when it is
  /// outgrown, the pass is captured anew.
  static constexpr std::int64_t context_step = 32;

  generator(backend& device, const model_config& config, const engine_limits& limits, launch_mode mode,
            std::uint64_t seed);
  generator(const generator&) = delete;
  generator& operator=(const generator&) = delete;
  ~generator();

  /// One prefill and one decode pass, so that nothing is slow for being the first.
  void warm_up();

  /// `count` new tokens for each prompt. Throws std::invalid_argument for what the limits don't hold.
  std::vector<token_list> generate(const std::vector<token_list>& prompts, std::int64_t count);

  /// Times all decode passes from now on, by two events around each.
  void time_decode_passes();
  [[nodiscard]] const pass_times& decode_times() const { return decode_times_; }
  /// The next decode pass is captured anew, as a recorder that has come meanwhile may need it.
  void forget_capture() { decode_pass_.reset(); }

  /// Times that the decode pass was captured.
  [[nodiscard]] int captures() const { return captures_; }

 private:
  using requests = std::vector<varve::request>;
  const token_list& prefill(varve::phase_kind kind, const std::vector<token_list>& prompts,
                            const requests& served);
  const token_list& decode(varve::phase_kind kind, launch_mode mode, const requests& served);
  void check(const std::vector<token_list>& prompts, std::int64_t count) const;
  void launch_decode(const std::vector<varve::pass_sequence>& lengths);
  [[nodiscard]] std::vector<varve::pass_sequence> lengths(bool decode) const;
  [[nodiscard]] varve::work sampling_work(std::int64_t sequences) const;
  [[nodiscard]] std::int64_t context_bound() const;
  void capture_decode();
  const token_list& fetch_tokens();

  backend& device_;
  engine_limits limits_;
  launch_mode mode_;
  std::unique_ptr<memory> memory_;
  id_list prompt_tokens_;
  row_places prompt_places_;
  id_list prompt_ends_;
  id_list next_tokens_;     // sampled by a pass, read by the next
  row_places next_places_;  // one row a sequence
  std::unique_ptr<event> sampled_;
  std::unique_ptr<event> copied_;
  std::unique_ptr<event> pass_begin_;  // of decode passes that are timed
  std::unique_ptr<event> pass_end_;
  std::unique_ptr<stream> compute_;
  std::unique_ptr<stream> copies_;
  model model_;

  std::vector<std::int32_t> contexts_;  // tokens of each sequence in the cache
  token_list sampled_tokens_;           // on the host
  std::unique_ptr<executable> decode_pass_;
  std::int64_t captured_sequences_ = 0;
  std::int64_t captured_bound_ = 0;
  pass_times decode_times_;
  int captures_ = 0;
  int next_request_ = 0;
};

}  // namespace decoder

#endif  // DECODER_GENERATOR_HPP
