// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Runs the engine with a varve session around it, eager and with graphs, and prints the tokens and the
// reports; or what a session costs.
#include "cpu_backend.hpp"
#include "generator.hpp"
#include "graph_prediction.hpp"
#include "options.hpp"
#include "overhead.hpp"
#include "profile.hpp"
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
#include <initializer_list>
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

/// Tokens, and the report where there was a session.
struct finished_run {
  token_lists tokens;
  std::optional<varve::report> report;
  std::string refusal;  ///< why there is none
};

finished_run run_and_report(decoder::backend& device, const decoder::workload& work,
                            decoder::launch_mode mode, const std::string& trace,
                            const varve::analyze_options& analysis) {
  decoder::profiled_run run = decoder::profile(device, work, mode);
  finished_run out{std::move(run.tokens), {}, std::move(run.refusal)};
  if (run.trace) {
    write_trace(*run.trace, trace);
    out.report = decoder::report_of(std::move(*run.trace), work.model, device.type(), analysis);
  }
  return out;
}

/// Counts for the reports of runs that were timed. Where it cannot, it says why, and they stay as they are.
void add_counts(decoder::backend& device, const decoder::options& o, const decoder::workload& work,
                const varve::analyze_options& analysis, std::initializer_list<varve::report*> timed) try {
  if (!o.cuda) {
    throw std::runtime_error{"only GPUs have these counters: add --backend cuda"};
  }
  decoder::profiled_run run = decoder::count(device, work);
  if (!run.trace) {
    throw std::runtime_error{run.refusal};
  }
  const varve::report counted =
      decoder::report_of(std::move(*run.trace), work.model, device.type(), analysis);
  const decoder::counting counting = decoder::counting_of(counted);
  for (const std::string& line : counting.said) {
    std::cerr << "decoder: counters: " << line << '\n';
  }
  for (varve::report* const one : timed) {
    if (counting.any && one != nullptr) {
      varve::add_counted(*one, counted);
    }
  }
} catch (const std::exception& e) {
  std::cerr << "decoder: nothing is counted: " << e.what() << '\n';
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
  const decoder::workload work{o.model, random_prompts(o), o.tokens, o.repeat,
                               static_cast<std::uint64_t>(o.seed)};
  const varve::analyze_options analysis = analysis_of(o);
  finished_run eager;
  finished_run replayed;
  // Graphs first: CUPTI of CUDA 13.0 gives their launches wrong ids in sessions after a process's first.
  if (o.graphs) {
    replayed = run_and_report(*device, work, decoder::launch_mode::graphs, o.trace, analysis);
  }
  if (o.eager) {
    eager = run_and_report(*device, work, decoder::launch_mode::eager, o.trace, analysis);
  }
  const finished_run& last = o.graphs ? replayed : eager;
  print_tokens(last.tokens);
  if (o.eager && o.graphs && eager.tokens != replayed.tokens) {
    throw std::runtime_error{"graphs gave other tokens than eager launches"};
  }
  if (!last.report) {
    std::cout.flush();
    std::cerr << "decoder: goes without a report of its own: " << last.refusal << '\n';
    if (!(o.json.empty() && o.trace.empty())) {
      throw std::runtime_error{"--json and --trace have nothing to write"};
    }
    return;
  }
  if (o.counters) {
    std::cout.flush();  // the tokens, whatever becomes of counting
    add_counts(*device, o, work, analysis,
               {eager.report ? &*eager.report : nullptr, replayed.report ? &*replayed.report : nullptr});
  }
  const std::string where =
      ", " + device->name() + " back end" + (o.cuda ? "" : " (streams are threads)") + " ===\n\n";
  if (eager.report) {
    std::cout << "\n=== eager launches" << where << *eager.report;
  }
  if (replayed.report) {
    std::cout << "\n=== decode passes replayed as graphs" << where << *replayed.report;
  }
  if (eager.report && replayed.report) {
    std::cout << "\n=== decode as graphs, predicted from eager launches and measured" << where
              << decoder::predicted_and_measured(*eager.report, *replayed.report);
  }
  if (!o.json.empty()) {
    write_json(*last.report, o.json);
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
