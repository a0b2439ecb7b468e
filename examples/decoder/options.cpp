// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "options.hpp"

#include <charconv>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace decoder {

const char* const usage =
    "usage: decoder [flags]\n"
    "Generates tokens with a Llama-style model of random weights, on CPU threads or a GPU, and prints where\n"
    "the time went, layer by layer.\n"
    "  --backend NAME  cpu (default) or cuda\n"
    "  --dtype NAME    of the numbers in memory, with cuda: f32, f16 (default) or bf16\n"
    "  --preset NAME   sizes of the model: tiny, small (default), 125m, opt-125m, llama-1b, llama-7b or\n"
    "                  llama-8b; give it before the sizes below\n"
    "  --layers N  --hidden N  --heads N  --kv-heads N  --ffn N  --vocab N\n"
    "  --prompt N      tokens of each prompt (128)\n"
    "  --tokens N      tokens to generate for each prompt (48)\n"
    "  --batch N       sequences (4)\n"
    "  --repeat N      times that the prompts are answered, each with a prefill pass (1)\n"
    "  --seed N        of the weights and prompts (1)\n"
    "  --eager         launch every kernel by itself\n"
    "  --graph         replay decode passes as graphs; by default both ways run, one after the other\n"
    "  --json FILE     write the report as JSON; with --eager or --graph\n"
    "  --trace FILE    write what was recorded as Chrome JSON; with --eager or --graph\n"
    "  --counters      then the same passes again, eagerly, in which a GPU counts what layers move and do\n"
    "  --overhead N    instead: what recording costs, the median of N runs with each recorder\n"
    "  --device FILE   what the device can do at most, as varve calibrate writes it: gives verdicts\n"
    "  --help\n"
    "Exit codes: 0 done, 1 failed, 2 wrong use, 3 no GPU to run on\n";

namespace {

std::int64_t* number_of(options& o, std::string_view flag) {
  return flag == "--layers"     ? &o.model.layers
         : flag == "--hidden"   ? &o.model.hidden
         : flag == "--heads"    ? &o.model.heads
         : flag == "--kv-heads" ? &o.model.kv_heads
         : flag == "--ffn"      ? &o.model.ffn
         : flag == "--vocab"    ? &o.model.vocab
         : flag == "--prompt"   ? &o.prompt
         : flag == "--tokens"   ? &o.tokens
         : flag == "--batch"    ? &o.batch
         : flag == "--seed"     ? &o.seed
         : flag == "--repeat"   ? &o.repeat
         : flag == "--overhead" ? &o.overhead
                                : nullptr;
}

varve::dtype type_named(std::string_view name) {
  if (name == "f32") {
    return varve::dtype::f32;
  }
  if (name == "f16") {
    return varve::dtype::f16;
  }
  if (name == "bf16") {
    return varve::dtype::bf16;
  }
  throw std::invalid_argument{"--dtype takes f32, f16 or bf16, not '" + std::string{name} + "'"};
}

std::int64_t number_from(std::int64_t least, const std::string& flag, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > 1'000'000) {
    throw std::invalid_argument{flag + " takes a whole number from " + std::to_string(least) +
                                " to 1000000, not '" + std::string{text} + "'"};
  }
  return value;
}

}  // namespace

options parse_options(int argc, const char* const* argv) {
  options o;
  bool eager = false;
  bool graphs = false;
  std::optional<varve::dtype> type;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const auto value = [&]() -> std::string_view {
      if (i + 1 == argc) {
        throw std::invalid_argument{flag + " needs a value"};
      }
      return argv[++i];
    };
    if (flag == "--help") {
      o.help = true;
    } else if (flag == "--eager") {
      eager = true;
    } else if (flag == "--graph") {
      graphs = true;
    } else if (flag == "--counters") {
      o.counters = true;
    } else if (flag == "--preset") {
      o.model = preset(value());
    } else if (flag == "--backend") {
      const std::string_view name = value();
      if (name != "cpu" && name != "cuda") {
        throw std::invalid_argument{"--backend takes cpu or cuda, not '" + std::string{name} + "'"};
      }
      o.cuda = name == "cuda";
    } else if (flag == "--dtype") {
      type = type_named(value());
    } else if (flag == "--trace") {
      o.trace = value();
    } else if (flag == "--json") {
      o.json = value();
    } else if (flag == "--device") {
      o.device = value();
    } else if (std::int64_t* number = number_of(o, flag)) {
      *number = number_from(flag == "--seed" ? 0 : 1, flag, value());
    } else {
      throw std::invalid_argument{"unknown flag '" + flag + "'; --help lists the flags"};
    }
  }
  if (eager != graphs) {
    o.eager = eager;
    o.graphs = graphs;
  }
  o.model.check();
  if (!o.cuda && type.value_or(varve::dtype::f32) != varve::dtype::f32) {
    throw std::invalid_argument{"the CPU back end stores numbers as f32 alone: add --backend cuda"};
  }
  o.type = type.value_or(o.cuda ? varve::dtype::f16 : varve::dtype::f32);
  if (!(o.json.empty() && o.trace.empty()) && o.eager == o.graphs) {
    throw std::invalid_argument{"--json and --trace write of one run: add --eager or --graph"};
  }
  if (o.overhead > 0 && (o.counters || o.repeat > 1)) {
    throw std::invalid_argument{"--overhead makes no reports: leave --counters and --repeat out"};
  }
  return o;
}

}  // namespace decoder
