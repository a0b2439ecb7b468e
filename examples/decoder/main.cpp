// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Runs the engine with a varve session around it, eager and with graphs, and prints the tokens and the
// reports; or what the session costs.
#include "cpu_backend.hpp"
#include "generator.hpp"
#include "options.hpp"
#include "overhead.hpp"
#if defined(DECODER_CUDA)
#include "cuda_backend.hpp"
#endif

#include <varve/varve.hpp>
#if defined(DECODER_JSON)
#include <varve/io.hpp>

#include <fstream>
#endif

#include <algorithm>
#include <exception>
#include <iostream>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>

namespace {

enum exit_code : int { done = 0, failed = 1, wrong_use = 2, no_gpu = 3 };

using token_lists = std::vector<decoder::token_list>;

token_lists random_prompts(const decoder::options& o) {
  std::mt19937_64 random{static_cast<std::uint64_t>(o.seed)};
  token_lists prompts(static_cast<std::size_t>(o.batch));
  for (decoder::token_list& prompt : prompts) {
    for (std::int64_t i = 0; i < o.prompt; ++i) {
      prompt.push_back(static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(o.model.vocab)));
    }
  }
  return prompts;
}

void write_json([[maybe_unused]] const varve::report& report, [[maybe_unused]] const std::string& path) {
#if defined(DECODER_JSON)
  std::ofstream file{path};
  varve::write_json(file, report);
  file << '\n';
  if (!file.flush()) {
    throw std::runtime_error{"cannot write " + path};
  }
#else
  throw std::runtime_error{"--json needs a build with VARVE_IO=ON"};
#endif
}

void write_trace([[maybe_unused]] const varve::trace& trace, const std::string& path) {
  if (!path.empty()) {
#if defined(DECODER_JSON)
    varve::write_chrome_trace(trace, path);
#else
    throw std::runtime_error{"--trace needs a build with VARVE_IO=ON"};
#endif
  }
}

varve::analyze_options analysis_of(const decoder::options& o) {
  varve::analyze_options analysis;
  if (!o.device.empty()) {
#if defined(DECODER_JSON)
    analysis.ceilings = varve::read_ceilings(o.device);
#else
    throw std::runtime_error{"--device needs a build with VARVE_IO=ON"};
#endif
  }
  return analysis;
}

/// For the work of attention in replayed passes, which grows with the context: the engine can't declare it.
varve::model description_of(const decoder::model_config& config, varve::dtype type) {
  varve::model m;
  m.name = "decoder";
  m.width = config.hidden;
  m.vocabulary = config.vocab;
  m.type = m.cache = m.factors = type;
  varve::model_layer layer;
  layer.attention.heads = {config.heads, config.kv_heads, config.head_size(), config.head_size()};
  layer.mlp.width = config.ffn;
  m.layers.assign(static_cast<std::size_t>(config.layers), layer);
  return m;
}

std::unique_ptr<decoder::generator> load(decoder::backend& device, const decoder::options& o,
                                         decoder::launch_mode mode) {
  varve::phase pass{varve::load};
  const decoder::engine_limits limits{o.batch, o.batch * o.prompt, o.prompt + o.tokens};
  return std::make_unique<decoder::generator>(device, o.model, limits, mode,
                                              static_cast<std::uint64_t>(o.seed));
}

struct profiled_run {
  token_lists tokens;
  varve::report report;
};

/// Generates tokens with a session around the whole engine.
profiled_run profile(decoder::backend& device, const decoder::options& o, decoder::launch_mode mode) {
  const varve::analyze_options analysis = analysis_of(o);
  varve::session session;
  if (!session) {
    throw std::runtime_error{"no session: " + session.status().error};
  }
  const auto engine = load(device, o, mode);
  engine->warm_up();
  token_lists tokens = engine->generate(random_prompts(o), o.tokens);
  varve::trace trace = session.stop();
  write_trace(trace, o.trace);
  varve::describe(trace, description_of(o.model, device.type()));
  return {std::move(tokens), varve::analyze(trace, analysis)};
}

void print_tokens(const token_lists& generated) {
  constexpr std::size_t shown = 16;
  for (std::size_t i = 0; i < generated.size(); ++i) {
    const decoder::token_list& tokens = generated[i];
    std::cout << "sequence " << i << ':';
    for (std::size_t t = 0; t < std::min(shown, tokens.size()); ++t) {
      std::cout << ' ' << tokens[t];
    }
    std::cout << (tokens.size() > shown ? " ... (" + std::to_string(tokens.size()) + " tokens)\n" : "\n");
  }
}

std::unique_ptr<decoder::backend> make_backend(const decoder::options& o) {
  if (!o.cuda) {
    return decoder::make_cpu_backend();
  }
#if defined(DECODER_CUDA)
  return decoder::make_cuda_backend(o.type);
#else
  throw std::runtime_error{
      "this build has no CUDA back end: configure again where nvcc and cuBLAS of CUDA 12 or later are"};
#endif
}

void run(const decoder::options& o) {
  const auto device = make_backend(o);
  if (o.overhead > 0) {
    std::cout << device->name() << ", " << o.batch << " sequences, " << o.tokens - 1 << " passes of each of "
              << o.overhead << " repetitions\n"
              << to_table(measure_overhead(*device, o.model, random_prompts(o), o.tokens, o.overhead,
                                           static_cast<std::uint64_t>(o.seed)));
    return;
  }
  std::optional<profiled_run> eager;
  std::optional<profiled_run> replayed;
  if (o.eager) {
    eager = profile(*device, o, decoder::launch_mode::eager);
  }
  if (o.graphs) {
    replayed = profile(*device, o, decoder::launch_mode::graphs);
  }
  const profiled_run& last = replayed ? *replayed : *eager;
  print_tokens(last.tokens);
  if (eager && replayed && eager->tokens != replayed->tokens) {
    throw std::runtime_error{"graphs gave other tokens than eager launches"};
  }
  const std::string where =
      ", " + device->name() + " back end" + (o.cuda ? "" : " (streams are threads)") + " ===\n\n";
  if (eager) {
    std::cout << "\n=== eager launches" << where << eager->report;
  }
  if (replayed) {
    std::cout << "\n=== decode passes replayed as graphs" << where << replayed->report;
  }
  if (!o.json.empty()) {
    write_json(last.report, o.json);
  }
}

}  // namespace

int main(int argc, char** argv) {
  decoder::options options;
  try {
    options = decoder::parse_options(argc, argv);
  } catch (const std::invalid_argument& wrong) {
    std::cerr << "decoder: " << wrong.what() << '\n';
    return wrong_use;
  }
  if (options.help) {
    std::cout << decoder::usage;
    return done;
  }
  try {
    run(options);
    return done;
#if defined(DECODER_CUDA)
  } catch (const decoder::no_device& missing) {
    std::cerr << "decoder: " << missing.what() << '\n';
    return no_gpu;
#endif
  } catch (const std::bad_alloc&) {
    std::cerr << "decoder: not enough memory: give smaller sizes\n";
    return failed;
  } catch (const std::exception& e) {
    std::cerr << "decoder: " << e.what() << '\n';
    return failed;
  }
}
