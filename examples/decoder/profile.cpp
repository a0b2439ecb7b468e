// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "profile.hpp"

#include "model.hpp"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

namespace decoder {

namespace {

/// For the work of attention in replayed passes, which grows with the context: the engine can't declare it.
varve::model description_of(const model_config& config, varve::dtype type) {
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

/// A description takes attention to run where products do.
void correct_attention(varve::trace& t) {
  for (varve::path_work& w : t.path_works) {
    if (std::string_view{t.strings[t.labels[w.label].name]} == "attention" && w.declared.flops > 0) {
      w.declared.pipe = pipe_of_attention;
    }
  }
}

std::unique_ptr<generator> load(backend& device, const workload& w, launch_mode mode) {
  varve::phase pass{varve::load};
  return std::make_unique<generator>(device, w.model, limits_for(w.prompts, w.tokens), mode, w.seed);
}

}  // namespace

profiled_run profile(backend& device, const workload& w, launch_mode mode) {
  profiled_run run;
  varve::session session;
  const auto engine = load(device, w, mode);
  engine->warm_up();
  for (std::int64_t i = 0; i < w.repeat; ++i) {
    run.tokens = engine->generate(w.prompts, w.tokens);
  }
  if (session) {
    run.trace = session.stop();
  } else {
    run.refusal = session.status().error;
  }
  return run;
}

profiled_run count(backend& device, const workload& w) {
  profiled_run run;
  const auto engine = load(device, w, launch_mode::eager);
  engine->warm_up();
  varve::session_options options;
  options.counters.enabled = true;
  varve::session session{options};
  if (!session) {
    run.refusal = session.status().error;
    return run;
  }
  const std::int64_t decodes = w.tokens - 1;  // in an answer
  const std::int64_t answers =
      std::max(w.repeat, decodes > 0 ? (most_turns + decodes - 1) / decodes : std::int64_t{1});
  for (std::int64_t i = 0; i < std::max(answers, most_turns); ++i) {
    // The context of decode passes must be that of the run that is timed: whole answers, or prefill alone.
    run.tokens = engine->generate(w.prompts, i < answers ? w.tokens : 1);
  }
  run.trace = session.stop();
  return run;
}

varve::report report_of(varve::trace trace, const model_config& model, varve::dtype type,
                        const varve::analyze_options& analysis) {
  varve::describe(trace, description_of(model, type));
  correct_attention(trace);
  return varve::analyze(trace, analysis);
}

counting counting_of(const varve::report& counted) {
  counting out;
  const auto is_counted = [](const auto& row) { return row.counted.has_value(); };
  out.any = std::any_of(counted.layers.begin(), counted.layers.end(), is_counted);
  for (const varve::collector_status& one : counted.quality.collectors) {
    if (one.name == "counters") {
      out.said.push_back(one.detail);
    }
  }
  for (const varve::loss& lost : counted.quality.losses) {
    if (lost.where == "counters") {
      out.said.push_back(std::to_string(lost.count) + ' ' + lost.what);
    }
  }
  return out;
}

}  // namespace decoder
