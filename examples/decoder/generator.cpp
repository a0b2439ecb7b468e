// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "generator.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <stdexcept>

namespace decoder {

namespace {

std::int64_t count_of(const token_list& list) { return static_cast<std::int64_t>(list.size()); }

/// The rows of a prefill pass on the host: all prompts, one after the other.
struct prompt_rows {
  token_list tokens;
  token_list sequences;
  token_list positions;
  token_list ends;  ///< row of each prompt's last token

  explicit prompt_rows(const std::vector<token_list>& prompts) {
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      for (std::size_t position = 0; position < prompts[i].size(); ++position) {
        tokens.push_back(prompts[i][position]);
        sequences.push_back(static_cast<std::int32_t>(i));
        positions.push_back(static_cast<std::int32_t>(position));
      }
      ends.push_back(static_cast<std::int32_t>(tokens.size()) - 1);
    }
  }
};

/// Back ends set memory to zero, which takes time on a device: it is to belong to a layer, as all does.
id_list ids_of(memory& m, std::int64_t count) {
  varve::layer layer{"memory"};
  return m.ids(count);
}

}  // namespace

engine_limits limits_for(const std::vector<token_list>& prompts, std::int64_t tokens) {
  engine_limits limits{static_cast<std::int64_t>(prompts.size()), 0, 0};
  for (const token_list& prompt : prompts) {
    limits.rows += count_of(prompt);
    limits.context = std::max(limits.context, count_of(prompt) + tokens);
  }
  return limits;
}

generator::generator(backend& device, const model_config& config, const engine_limits& limits,
                     launch_mode mode, std::uint64_t seed)
    : device_{device},
      limits_{limits},
      mode_{mode},
      memory_{device.make_memory()},
      prompt_tokens_{ids_of(*memory_, limits.rows)},
      prompt_places_{ids_of(*memory_, limits.rows), ids_of(*memory_, limits.rows)},
      prompt_ends_{ids_of(*memory_, limits.sequences)},
      next_tokens_{ids_of(*memory_, limits.sequences)},
      next_places_{ids_of(*memory_, limits.sequences), ids_of(*memory_, limits.sequences)},
      sampled_{device.make_event()},
      copied_{device.make_event()},
      compute_{device.make_stream()},
      copies_{device.make_stream()},
      model_{device, *compute_, config, limits, seed} {
  varve::layer layer{"inputs"};
  token_list sequences(static_cast<std::size_t>(limits.sequences));
  std::iota(sequences.begin(), sequences.end(), 0);
  compute_->upload(next_places_.sequences, sequences.data());
  compute_->synchronise();
}

generator::~generator() {
  // What is still queued uses the memory.
  compute_.reset();
  copies_.reset();
}

void generator::warm_up() {
  const auto sequences = static_cast<std::size_t>(std::min(limits_.sequences, limits_.rows));
  prefill(varve::warm_up, std::vector<token_list>(sequences, token_list{0}), {});
  decode(varve::warm_up, launch_mode::eager, {});
}

std::vector<token_list> generator::generate(const std::vector<token_list>& prompts, std::int64_t count) {
  check(prompts, count);
  requests served;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    served.push_back(varve::request{"request", next_request_++});
  }
  std::vector<token_list> generated(prompts.size());
  for (std::int64_t step = 0; step < count; ++step) {
    const token_list& sampled =
        step == 0 ? prefill(varve::prefill, prompts, served) : decode(varve::decode, mode_, served);
    for (std::size_t i = 0; i < generated.size(); ++i) {
      generated[i].push_back(sampled[i]);
    }
  }
  return generated;
}

void generator::time_decode_passes() {
  pass_begin_ = device_.make_event();
  pass_end_ = device_.make_event();
  decode_times_ = {};
}

void generator::check(const std::vector<token_list>& prompts, std::int64_t count) const {
  std::int64_t rows = 0;
  std::int64_t longest = 0;
  bool valid = true;
  for (const token_list& prompt : prompts) {
    rows += count_of(prompt);
    longest = std::max(longest, count_of(prompt));
    valid = valid && !prompt.empty();
  }
  if (!valid || prompts.empty() || count < 1) {
    throw std::invalid_argument{"prompts and the number of tokens must not be empty"};
  }
  if (static_cast<std::int64_t>(prompts.size()) > limits_.sequences || rows > limits_.rows ||
      longest + count > limits_.context) {
    throw std::invalid_argument{"the prompts and their tokens are more than the engine's limits hold"};
  }
}

const token_list& generator::prefill(varve::phase_kind kind, const std::vector<token_list>& prompts,
                                     const requests& served) {
  const prompt_rows host{prompts};
  const std::int64_t rows = count_of(host.tokens);
  const std::int64_t sequences = count_of(host.ends);
  contexts_.clear();
  std::int64_t query_context = 0;
  for (const token_list& prompt : prompts) {
    contexts_.push_back(static_cast<std::int32_t>(prompt.size()));
    query_context += count_of(prompt) * count_of(prompt);
  }

  varve::phase pass{kind};
  pass.prefill_tokens(rows).sequences(sequences).context_tokens(rows).query_context(query_context);
  pass.logit_tokens(sequences).emitted_tokens(sequences);
  for (const varve::request& r : served) {
    pass.serves(r);
  }
  const batch device_rows{prompt_tokens_.first(rows),
                          {prompt_places_.sequences.first(rows), prompt_places_.positions.first(rows)},
                          prompt_ends_.first(sequences),
                          *std::max_element(contexts_.begin(), contexts_.end()),
                          lengths(false)};
  {
    varve::layer layer{"inputs"};
    compute_->upload(device_rows.tokens, host.tokens.data());
    compute_->upload(device_rows.places.sequences, host.sequences.data());
    compute_->upload(device_rows.places.positions, host.positions.data());
    compute_->upload(device_rows.last_rows, host.ends.data());
    compute_->upload(next_places_.positions.first(sequences), contexts_.data());
  }
  const tensor logits = model_.forward(*compute_, device_rows);
  {
    varve::layer layer{"sampling"};
    layer.work([&] { return sampling_work(sequences); });
    compute_->argmax(next_tokens_.first(sequences), logits);
  }
  return fetch_tokens();
}

const token_list& generator::decode(varve::phase_kind kind, launch_mode mode, const requests& served) {
  for (std::int32_t& context : contexts_) {
    ++context;  // the token that goes in attends to itself too
  }
  if (mode == launch_mode::graphs) {
    capture_decode();
  }
  varve::phase pass{kind};
  const std::int64_t sequences = count_of(contexts_);
  const std::int64_t context = std::accumulate(contexts_.begin(), contexts_.end(), std::int64_t{0});
  pass.decode_tokens(sequences).sequences(sequences).context_tokens(context).query_context(context);
  pass.logit_tokens(sequences).emitted_tokens(sequences);
  for (const varve::request& r : served) {
    pass.serves(r);
  }
  const auto begin = std::chrono::steady_clock::now();
  if (pass_begin_) {
    compute_->record(*pass_begin_);
  }
  if (mode == launch_mode::graphs) {
    compute_->launch(*decode_pass_);
  } else {
    launch_decode(lengths(true));
  }
  if (!pass_begin_) {
    return fetch_tokens();
  }
  compute_->record(*pass_end_);
  const token_list& tokens = fetch_tokens();  // waits for what was recorded before it
  ++decode_times_.passes;
  decode_times_.host += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  decode_times_.device += pass_end_->seconds_since(*pass_begin_);
  return tokens;
}

/// Launches a decode pass for all sequences, with room for their contexts to grow to the next step. It reads
/// and advances what changes from pass to pass in device memory, so that its replay needs no new parameters.
void generator::launch_decode(const std::vector<varve::pass_sequence>& lengths) {
  const std::int64_t sequences = count_of(contexts_);
  const batch rows{next_tokens_.first(sequences),
                   {next_places_.sequences.first(sequences), next_places_.positions.first(sequences)},
                   next_places_.sequences.first(sequences),  // row i is the last of sequence i
                   context_bound(),
                   lengths};
  const tensor logits = model_.forward(*compute_, rows);
  varve::layer layer{"sampling"};
  layer.work([&] { return sampling_work(sequences); });
  compute_->argmax(rows.tokens, logits);
  compute_->increment(rows.places.positions);
}

varve::work generator::sampling_work(std::int64_t sequences) const {
  return varve::sampling(sequences, model_.config().vocab, model_.type());
}

std::vector<varve::pass_sequence> generator::lengths(bool decode) const {
  std::vector<varve::pass_sequence> out;
  for (const std::int64_t context : contexts_) {
    out.push_back({decode ? 1 : context, context, decode});
  }
  return out;
}

std::int64_t generator::context_bound() const {
  const std::int64_t longest = *std::max_element(contexts_.begin(), contexts_.end());
  return (longest + context_step - 1) / context_step * context_step;
}

/// Makes sure that decode_pass_ holds a pass for the sequences as they are now.
void generator::capture_decode() {
  const std::int64_t sequences = count_of(contexts_);
  if (decode_pass_ && captured_sequences_ == sequences && context_bound() <= captured_bound_) {
    return;
  }
  varve::phase pass{varve::capture};
  compute_->begin_capture();
  launch_decode({});
  const std::unique_ptr<graph> captured = compute_->end_capture();
  if (!decode_pass_ || !decode_pass_->update(*captured)) {
    decode_pass_ = device_.instantiate(*captured);
  }
  captured_sequences_ = sequences;
  captured_bound_ = context_bound();
  ++captures_;
}

/// Copies the sampled tokens to the host, on a stream of its own, and waits for them.
const token_list& generator::fetch_tokens() {
  varve::layer layer{"outputs"};
  sampled_tokens_.resize(contexts_.size());
  compute_->record(*sampled_);
  copies_->wait(*sampled_);
  copies_->download(sampled_tokens_.data(), next_tokens_.first(count_of(contexts_)));
  copies_->record(*copied_);
  copied_->synchronise();
  return sampled_tokens_;
}

}  // namespace decoder
