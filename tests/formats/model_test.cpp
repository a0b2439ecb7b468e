// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Descriptions of models from config.json. Sizes are those of published models, whose counts of parameters
// are printed on their pages; what is left out of a file is left out on purpose.
#include "formats/input_files.hpp"
#include "formats/model/module_names.hpp"

#include <varve/io.hpp>
#include <varve/model.hpp>

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

namespace {

using varve::dtype;

class model_file : public input_files {
 protected:
  [[nodiscard]] varve::model read(const std::string& fields) const {
    return varve::read_model(write("config.json", "{" + fields + "}"));
  }
  [[nodiscard]] std::int64_t parameters(const std::string& fields) const {
    return count_parameters(read(fields)).total;
  }
  [[nodiscard]] std::string error(const std::string& fields) const {
    const std::string file = write("config.json", "{" + fields + "}");
    return error_of([&] { static_cast<void>(varve::read_model(file)); });
  }
};

const std::string tiny_llama =
    R"("model_type": "llama", "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2,
    "num_attention_heads": 4, "vocab_size": 1000)";

const std::string tiny_mixture =
    R"("model_type": "mixtral", "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 4, "num_local_experts": 4, "num_experts_per_tok": 2,
    "vocab_size": 1000)";

TEST_F(model_file, has_the_parameters_that_a_published_model_has) {
  EXPECT_EQ(parameters(R"("model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32,
      "num_attention_heads": 71, "vocab_size": 65024)"),
            6'921'720'704);  // 7B: one key-value head, one norm, no bias, tied, 4 times the width
  EXPECT_EQ(
      parameters(R"("model_type": "opt", "hidden_size": 1024, "word_embed_proj_dim": 512, "ffn_dim": 4096,
      "num_hidden_layers": 24, "num_attention_heads": 16, "vocab_size": 50272,
      "max_position_embeddings": 2048, "do_layer_norm_before": false)"),
      331'196'416);  // 350m: projections to and from a narrower table, no last norm
  EXPECT_EQ(parameters(R"("model_type": "phi", "hidden_size": 2560, "intermediate_size": 10240,
      "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 51200)"),
            2'779'683'840);  // Phi-2: every product has a bias, the head's too
  EXPECT_EQ(parameters(R"("model_type": "gemma", "hidden_size": 2048, "intermediate_size": 16384,
      "num_hidden_layers": 18, "num_attention_heads": 8, "num_key_value_heads": 1, "vocab_size": 256000)"),
            2'506'172'416);  // 2B: heads of 256, tied
  EXPECT_EQ(parameters(R"("model_type": "qwen3", "hidden_size": 1024, "intermediate_size": 3072,
      "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 8, "vocab_size": 151936,
      "tie_word_embeddings": true)"),
            596'049'920);  // 0.6B: heads of 128, whatever the width
}

TEST_F(model_file, has_the_parameters_of_a_published_mixture_of_experts) {
  EXPECT_EQ(parameters(R"("model_type": "qwen2_moe", "hidden_size": 2048, "intermediate_size": 5632,
      "moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632, "num_experts": 60,
      "num_experts_per_tok": 4, "num_hidden_layers": 24, "num_attention_heads": 16,
      "num_key_value_heads": 16, "vocab_size": 151936)"),
            14'315'784'192);  // Qwen1.5-MoE-A2.7B
  const varve::model lite = read(R"("model_type": "deepseek_v2", "hidden_size": 2048,
      "intermediate_size": 10944, "moe_intermediate_size": 1408, "n_routed_experts": 64,
      "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1, "num_hidden_layers": 27,
      "num_attention_heads": 16, "num_key_value_heads": 16, "q_lora_rank": null, "vocab_size": 102400)");
  EXPECT_EQ(count_parameters(lite).total, 15'706'484'224);  // DeepSeek-V2-Lite: queries projected directly
  EXPECT_EQ(kv_bytes_per_token(lite), 27 * (512 + 64) * 2);
  EXPECT_EQ(parameters(R"("model_type": "phimoe", "hidden_size": 4096, "intermediate_size": 6400,
      "num_local_experts": 16, "num_experts_per_tok": 2, "num_hidden_layers": 32, "num_attention_heads": 32,
      "num_key_value_heads": 8, "vocab_size": 32064, "attention_bias": true, "lm_head_bias": true)"),
            41'873'153'344);  // Phi-3.5-MoE: LayerNorm, biases of attention and head
  const varve::model oss = read(R"("model_type": "gpt_oss", "hidden_size": 2880, "intermediate_size": 2880,
      "num_local_experts": 128, "num_experts_per_tok": 4, "num_hidden_layers": 36,
      "num_attention_heads": 64, "vocab_size": 201088,
      "quantization_config": {"quant_method": "mxfp4"})");
  EXPECT_EQ(count_parameters(oss).total, 116'829'156'672);  // gpt-oss-120b
  EXPECT_EQ(oss.layers[0].attention.window, 128);
  EXPECT_EQ(oss.layers[1].attention.window, 0);
  EXPECT_EQ(oss.layers[0].experts.weights, (varve::weight_format{dtype::fp4, 32, 1, 8}));
  EXPECT_EQ(oss.layers[0].attention.in, dtype::bf16);
}

// A layer: queries and output 2·3584², keys and values 2·3584·512 with 4 heads of 128, biases 3584 + 2·512;
// 64 experts and a shared one as wide as eight of them of 3·3584·2560, the router 64·3584 and the shared
// one's gate 3584; two norms. 28 of them, two tables of 151,936 and a norm. Its page has 57.4 billion, of
// which 14 are active: with both tables, as Qwen counts them.
TEST_F(model_file, has_the_parameters_of_qwen2_57b_a14b) {
  const auto counts =
      count_parameters(read(R"("model_type": "qwen2_moe", "hidden_size": 3584, "intermediate_size": 18944,
      "moe_intermediate_size": 2560, "shared_expert_intermediate_size": 20480, "num_experts": 64,
      "num_experts_per_tok": 8, "num_hidden_layers": 28, "num_attention_heads": 28,
      "num_key_value_heads": 4, "decoder_sparse_step": 1, "mlp_only_layers": [], "vocab_size": 151936,
      "tie_word_embeddings": false)"));
  constexpr std::int64_t attention = 2 * 3584 * 3584 + 2 * 3584 * 512 + 3584 + 2 * 512;
  constexpr std::int64_t expert = 3 * 3584 * 2560;
  constexpr std::int64_t rest = 64 * 3584 + 3584 + 2 * 3584;
  constexpr std::int64_t table = 151'936 * 3584;
  static_assert(28 * (attention + (64 + 8) * expert + rest) + 2 * table + 3584 == 57'408'658'944);
  EXPECT_EQ(counts.total, 57'408'658'944);
  static_assert(28 * (attention + (8 + 8) * expert + rest) + table + 3584 == 13'704'732'160);
  EXPECT_EQ(counts.active, 13'704'732'160);
  static_assert(13'704'732'160 + table == 14'249'270'784);
}

// A layer of width w with 8 key-value heads of 64: queries, keys and values w·(w + 1024), output w², a block
// of four times the width 8·w², and one or two norms of 2·w; then the tables of 65,024 words and the last
// norm.
TEST_F(model_file, has_the_parameters_of_published_falcons) {
  const auto falcon = [&](const std::string& sizes) {
    return count_parameters(read(R"("model_type": "falcon", "bias": false, "multi_query": true,
        "new_decoder_architecture": true, "num_kv_heads": 8, "parallel_attn": true, "vocab_size": 65024, )" +
                                 sizes));
  };
  const auto layers = [](std::int64_t count, std::int64_t w, std::int64_t head, std::int64_t norms) {
    return count * (w * (w + 2 * 8 * head) + w * w + 8 * w * w + norms * 2 * w);
  };
  // 11B, of heads of 128: one norm, a head of its own. Its page has 11.1 billion.
  const auto small = falcon(R"("hidden_size": 4096, "ffn_hidden_size": 16384, "num_hidden_layers": 60,
      "num_attention_heads": 32, "num_ln_in_parallel_attn": 1, "tie_word_embeddings": false)");
  EXPECT_EQ(layers(60, 4096, 128, 1) + 2 * 65'024 * 4096 + 2 * 4096, 11'102'822'400);
  EXPECT_EQ(small.total, 11'102'822'400);
  // 40B and 180B have two norms of one input and a tied head.
  const auto middle = falcon(R"("hidden_size": 8192, "num_hidden_layers": 60, "num_attention_heads": 128)");
  EXPECT_EQ(layers(60, 8192, 64, 2) + 65'024 * 8192 + 2 * 8192, 41'303'293'952);
  EXPECT_EQ(middle.total, 41'303'293'952);
  const auto large = falcon(R"("hidden_size": 14848, "num_hidden_layers": 80, "num_attention_heads": 232)");
  EXPECT_EQ(layers(80, 14848, 64, 2) + std::int64_t{65'024} * 14848 + 2 * 14848, 178'557'088'768);
  EXPECT_EQ(large.total, 178'557'088'768);
  // Counts made of its files, which have the tied table twice, are 179.523 billion.
  EXPECT_EQ(large.total + large.embedding, 179'522'565'120);
  EXPECT_EQ(large.head, 0);
  // RefinedWeb-1B, the first architecture: all heads have keys, every product a bias, norms one after the
  // other; 12·2048² + 13·2048 and two norms a layer, 1.31 billion.
  EXPECT_EQ(parameters(R"("model_type": "falcon", "hidden_size": 2048, "num_hidden_layers": 24,
      "num_attention_heads": 32, "vocab_size": 50304, "bias": true, "multi_query": false,
      "parallel_attn": false, "alibi": true, "new_decoder_architecture": false)"),
            24 * (12 * 2048 * 2048 + 13 * 2048) + 50'304 * 2048 + 2 * 2048);
}

TEST_F(model_file, takes_the_language_model_of_one_with_eyes) {
  const varve::model m = read(R"("model_type": "gemma3", "torch_dtype": "bfloat16", "vision_config": {},
      "text_config": {"model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240,
      "num_hidden_layers": 34, "sliding_window": 1024})");
  EXPECT_EQ(count_parameters(m).total, 3'880'263'168);  // Gemma 3 4B without its vision tower
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    EXPECT_EQ(m.layers[i].attention.window, i % 6 == 5 ? 0 : 1024) << i;
  }
  EXPECT_EQ(m.layers[0].attention.heads.queries, 8);
  EXPECT_TRUE(m.tied);
}

TEST_F(model_file, windows_are_where_the_family_has_them) {
  const std::string sizes = R"(, "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 4,
      "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 1000)";
  const auto windows = [&](const std::string& fields) {
    std::vector<std::int64_t> out;
    for (const varve::model_layer& layer : read(fields + sizes).layers) {
      out.push_back(layer.attention.window);
    }
    return out;
  };
  using list = std::vector<std::int64_t>;
  EXPECT_EQ(windows(R"("model_type": "mistral")"), (list{4096, 4096, 4096, 4096}));  // the class's own
  EXPECT_EQ(windows(R"("model_type": "mistral", "sliding_window": null)"), (list{0, 0, 0, 0}));
  EXPECT_EQ(windows(R"("model_type": "gemma2")"), (list{4096, 0, 4096, 0}));
  EXPECT_EQ(windows(R"("model_type": "gemma3_text", "sliding_window": 7, "sliding_window_pattern": 2)"),
            (list{7, 0, 7, 0}));
  EXPECT_EQ(windows(R"("model_type": "gemma3_text", "sliding_window": 7, "layer_types": ["full_attention",
      "sliding_attention", "full_attention", "full_attention"])"),
            (list{0, 7, 0, 0}));
  EXPECT_EQ(windows(R"("model_type": "qwen2", "sliding_window": 7)"), (list{0, 0, 0, 0}));
  EXPECT_EQ(windows(R"("model_type": "qwen2", "sliding_window": 7, "use_sliding_window": true,
      "max_window_layers": 3)"),
            (list{0, 0, 0, 7}));
  EXPECT_EQ(windows(R"("model_type": "phi3", "sliding_window": 7)"), (list{7, 7, 7, 7}));
  const std::string oss = R"("model_type": "gpt_oss", "num_local_experts": 4, "num_experts_per_tok": 2)";
  EXPECT_EQ(windows(oss), (list{128, 0, 128, 0}));
  EXPECT_EQ(windows(oss + R"(, "sliding_window": 7)"), (list{7, 0, 7, 0}));
  EXPECT_EQ(windows(oss + R"(, "sliding_window": null)"), (list{0, 0, 0, 0}));
}

// As transformers 5 saves Qwen3's mixtures: 2 layers of 8 experts of 3 · 256 · 64 = 49,152, 4 of them chosen.
TEST_F(model_file, experts_go_by_either_name) {
  const std::string qwen3 = R"("model_type": "qwen3_moe", "hidden_size": 256, "intermediate_size": 512,
      "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 1000, "moe_intermediate_size": 64,
      "num_experts_per_tok": 4, )";
  const varve::model old = read(qwen3 + R"("num_experts": 8)");
  EXPECT_EQ(old.layers[1].experts.count, 8);
  for (const char* const fields : {R"("num_local_experts": 8)", R"("num_experts": 8, "num_local_experts": 8)",
                                   R"("num_experts": null, "num_local_experts": 8)"}) {
    EXPECT_EQ(parameters(qwen3 + fields), count_parameters(old).total) << fields;
  }
  // 8 more experts and their rows of the router: 2 · 8 · (49,152 + 256) = 790,528.
  EXPECT_EQ(parameters(qwen3 + R"("num_local_experts": 16)") - count_parameters(old).total, 790'528);
  EXPECT_EQ(error(qwen3 + R"("num_experts": 8, "num_local_experts": 16)"),
            "config.json: num_experts: is another number than num_local_experts; correct one of them");
  EXPECT_EQ(error(tiny_mixture + R"(, "num_experts": 8)"),
            "config.json: num_local_experts: is another number than num_experts; correct one of them");
  EXPECT_EQ(
      error(qwen3.substr(0, qwen3.rfind(','))),
      "config.json: num_experts: missing; add it (or num_local_experts), or take the config.json that the "
      "model was published with");
}

TEST_F(model_file, dense_layers_stand_between_sparse_ones) {
  const auto sparse = [&](const std::string& fields) {
    std::string out;
    for (const varve::model_layer& layer : read(fields).layers) {
      out += layer.experts.count > 0 ? 'E' : 'd';
    }
    return out;
  };
  const std::string qwen = R"("model_type": "qwen3_moe", "hidden_size": 256, "intermediate_size": 512,
      "moe_intermediate_size": 64, "num_experts": 8, "num_experts_per_tok": 2, "num_hidden_layers": 6,
      "num_attention_heads": 4, "vocab_size": 1000)";
  EXPECT_EQ(sparse(qwen), "EEEEEE");
  EXPECT_EQ(sparse(qwen + R"(, "decoder_sparse_step": 2)"), "dEdEdE");
  EXPECT_EQ(sparse(qwen + R"(, "decoder_sparse_step": 2, "mlp_only_layers": [0, 3, 99])"), "dEdddE");
  const std::string deepseek = R"("model_type": "deepseek_v3", "hidden_size": 256, "intermediate_size": 512,
      "moe_intermediate_size": 64, "n_routed_experts": 8, "num_experts_per_tok": 2, "num_hidden_layers": 6,
      "num_attention_heads": 4, "vocab_size": 1000)";
  EXPECT_EQ(sparse(deepseek), "dddEEE");
  EXPECT_EQ(sparse(deepseek + R"(, "first_k_dense_replace": 1, "moe_layer_freq": 2)"), "ddEdEd");
}

TEST_F(model_file, quantised_matrices_are_those_that_the_file_does_not_leave_out) {
  const auto format = [&](const std::string& how) {
    return read(tiny_llama + R"(, "quantization_config": {)" + how + "}");
  };
  const varve::model gptq = format(R"("quant_method": "gptq", "bits": 4, "group_size": 64, "sym": true)");
  EXPECT_EQ(gptq.layers[0].mlp.weights, (varve::weight_format{dtype::int4, 64, 1, 16, 4}));
  EXPECT_EQ(gptq.factors, dtype::bf16);
  EXPECT_EQ(format(R"("quant_method": "gptq", "bits": 8, "group_size": -1)").layers[0].mlp.weights,
            (varve::weight_format{dtype::int8, 0, 1, 16, 8}));
  EXPECT_EQ(format(R"("quant_method": "awq", "zero_point": false)").layers[1].attention.in,
            (varve::weight_format{dtype::int4, 128, 1, 16}));
  const varve::model fp8 = format(R"("quant_method": "fp8", "weight_block_size": [128, 64],
      "modules_to_not_convert": ["lm_head", "model.layers.1.self_attn.o_proj", "model.layers.1.input_layernorm"])");
  EXPECT_EQ(fp8.layers[0].attention.output, (varve::weight_format{dtype::fp8, 64, 128, 32}));
  EXPECT_EQ(fp8.layers[1].attention.output, dtype::bf16);
  EXPECT_EQ(fp8.layers[1].attention.in, fp8.layers[0].attention.in);
  EXPECT_EQ(fp8.factors, dtype::fp8);
  const varve::model tensors = format(R"("quant_method": "compressed-tensors", "ignore": ["re:.*self_attn.*"],
      "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float", "strategy": "channel"},
      "input_activations": {"num_bits": 8}}})");
  EXPECT_EQ(tensors.layers[0].mlp.weights, (varve::weight_format{dtype::fp8, 0, 1, 16}));
  EXPECT_EQ(tensors.layers[0].attention.in, dtype::bf16);
}

// What activations are quantised to says where products run, not what weights are stored as.
TEST_F(model_file, products_run_as_the_activations_of_compressed_tensors_are) {
  const auto group = [](const std::string& weights, const std::string& activations) {
    return tiny_llama + R"(, "quantization_config": {"quant_method": "compressed-tensors", "config_groups": {
        "g": {"targets": ["Linear"], "weights": {)" +
           weights + R"(, "strategy": "channel"}, "input_activations": )" + activations + "}}}";
  };
  const auto pipe = [&](const std::string& weights, const std::string& activations) {
    for (const varve::operator_work& o : work_of_pass(read(group(weights, activations)), {{4, 4, true}})) {
      if (o.name == "down_proj") {
        return o.declared.pipe;
      }
    }
    return varve::math_pipe::mixed;
  };
  const std::string int4 = R"("num_bits": 4, "type": "int")";
  const std::string int8 = R"("num_bits": 8, "type": "int")";
  const std::string fp4 = R"("num_bits": 4, "type": "float")";
  const std::string fp8 = R"("num_bits": 8, "type": "float")";
  EXPECT_EQ(pipe(int4, "{" + int8 + "}"), varve::math_pipe::int8_tensor);
  EXPECT_EQ(pipe(int4, "{" + fp8 + "}"), varve::math_pipe::fp8_tensor);
  EXPECT_EQ(pipe(fp4, "{" + fp8 + "}"), varve::math_pipe::fp8_tensor);
  EXPECT_EQ(pipe(fp4, "{" + fp4 + "}"), varve::math_pipe::fp4_tensor);
  EXPECT_EQ(pipe(int8, "{" + int8 + "}"), varve::math_pipe::int8_tensor);
  EXPECT_EQ(pipe(fp8, "{" + fp8 + "}"), varve::math_pipe::fp8_tensor);
  for (const std::string& stored : {int4, int8, fp4, fp8}) {
    EXPECT_EQ(pipe(stored, "null"), varve::math_pipe::bf16_tensor) << stored;
    EXPECT_EQ(pipe(stored, R"({"num_bits": 16, "type": "float"})"), varve::math_pipe::bf16_tensor) << stored;
  }
  const auto refused = testing::HasSubstr("config_groups.g.input_activations.num_bits: ");
  EXPECT_THAT(error(group(int4, "{" + int4 + "}")), refused);
  EXPECT_THAT(error(group(fp8, "{" + int8 + "}")), refused);
  EXPECT_THAT(error(group(int8, "{" + fp8 + "}")), refused);
  EXPECT_THAT(error(group(int4, R"({"num_bits": 6, "type": "float"})")), refused);
  EXPECT_THAT(error(group(int4, "{}")), testing::HasSubstr("input_activations.num_bits: missing"));
}

TEST_F(model_file, quantisation_may_stand_in_a_file_beside) {
  static_cast<void>(write("hf_quant_config.json", R"({"producer": {"name": "modelopt"}, "quantization":
      {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8", "exclude_modules": ["lm_head"]}})"));
  const varve::model m = read(tiny_llama);
  EXPECT_EQ(m.layers[0].mlp.weights, (varve::weight_format{dtype::fp8, 0, 0, 32}));
  EXPECT_EQ(m.cache, dtype::fp8);
  EXPECT_EQ(m.type, dtype::bf16);
  EXPECT_EQ(m.quantisation, "modelopt FP8");
}

TEST_F(model_file, each_matrix_is_stored_as_the_file_says_of_it) {
  const auto format = [&](const std::string& how) {
    return read(tiny_llama + R"(, "quantization_config": {)" + how + "}").layers[0];
  };
  const varve::weight_format fp8{dtype::fp8, 0, 0, 32};
  const varve::weight_format int4{dtype::int4, 32, 1, 16};
  const varve::model_layer back = format(R"("quant_method": "fp8",
      "modules_to_not_convert": ["model.layers.0.mlp.down_proj", "model.layers.1.self_attn"])");
  EXPECT_EQ(back.mlp.weights, fp8);
  EXPECT_EQ(back.mlp.down, varve::weight_format{dtype::bf16});
  EXPECT_EQ(back.attention.in, fp8);
  const auto tensors = [&](const std::string& ignore, const std::string& targets) {
    return format(R"("quant_method": "compressed-tensors", "ignore": [)" + ignore +
                  R"(], "config_groups": {"g": {"targets": [)" + targets + R"(], "weights": {"num_bits": 4,
                  "type": "int", "strategy": "group", "group_size": 32}}})");
  };
  const varve::model_layer no_mlp =
      tensors(R"("lm_head", "re:.*mlp\\.(gate|up|gate_up|down)_proj.*")", R"("Linear")");
  EXPECT_EQ(no_mlp.mlp.weights, dtype::bf16);
  EXPECT_FALSE(no_mlp.mlp.down);
  EXPECT_EQ(no_mlp.attention.in, int4);
  const varve::model_layer mlp = tensors(R"("lm_head")", R"("re:.*mlp.*")");
  EXPECT_EQ(mlp.mlp.weights, int4);
  EXPECT_EQ(mlp.attention.in, dtype::bf16);
  EXPECT_EQ(mlp.attention.output, dtype::bf16);
  // A regular expression fits from the path's beginning on, whatever follows.
  EXPECT_EQ(tensors(R"("re:self_attn")", "").attention.in, int4);
  EXPECT_EQ(tensors(R"("re:.*self_attn")", "").attention.in, dtype::bf16);
  EXPECT_EQ(tensors(R"("re:.*mlp.gate$")", "").mlp.weights, int4);
  const varve::model_layer both = format(R"("quant_method": "compressed-tensors", "config_groups": {
      "a": {"targets": ["re:.*down_proj"], "weights": {"num_bits": 8, "strategy": "channel"}},
      "b": {"targets": ["Linear"], "weights": {"num_bits": 4, "strategy": "group", "group_size": 32}}})");
  EXPECT_EQ(both.mlp.weights, int4);
  EXPECT_EQ(both.mlp.down, (varve::weight_format{dtype::int8, 0, 1, 16}));
}

// FP8 has a scale of 4 bytes a matrix: one of 256 · 256 that is left out takes 131,072 bytes for 65,540, one
// of 256 · 512 twice as much.
TEST_F(model_file, matrices_that_engines_join_may_have_formats_of_their_own) {
  const auto with = [&](const std::string& modules) {
    return read(tiny_llama + R"(, "quantization_config": {"quant_method": "fp8",
                "modules_to_not_convert": [)" +
                modules + "]}");
  };
  const std::int64_t whole = weight_bytes(with(""));
  for (const char* one : {"q_proj", "k_proj", "v_proj"}) {
    const varve::model m = with("\"model.layers.1.self_attn." + std::string{one} + '"');
    EXPECT_EQ(weight_bytes(m) - whole, 131'072 - 65'540) << one;
    EXPECT_FALSE(m.layers[0].attention.keys || m.layers[0].attention.values) << one;
  }
  EXPECT_EQ(with(R"("model.layers.1.self_attn.k_proj")").layers[1].attention.keys,
            varve::weight_format{dtype::bf16});
  for (const char* one : {"gate_proj", "up_proj", "down_proj"}) {  // of both layers
    EXPECT_EQ(weight_bytes(with('"' + std::string{one} + '"')) - whole, 2 * (262'144 - 131'076)) << one;
  }
  EXPECT_EQ(with("\"up_proj\"").layers[0].mlp.up, varve::weight_format{dtype::bf16});
}

// Each of 4 experts' matrices of 256 · 512 takes 131,076 bytes in FP8 with its scale, 262,144 as it is.
TEST_F(model_file, gate_and_up_of_experts_may_have_formats_of_their_own) {
  const auto with = [&](const std::string& modules) {
    return read(tiny_mixture + R"(, "quantization_config": {"quant_method": "fp8",
                "modules_to_not_convert": [)" +
                modules + "]}");
  };
  const std::int64_t whole = weight_bytes(with(""));
  for (const char* one :
       {"mlp.experts.0.gate_proj", "mlp.experts.0.up_proj", "mlp.experts.0.down_proj",
        "block_sparse_moe.experts.0.w1", "block_sparse_moe.experts.0.w2", "block_sparse_moe.experts.0.w3"}) {
    const varve::model m = with("\"model.layers.1." + std::string{one} + '"');
    EXPECT_EQ(weight_bytes(m) - whole, 4 * (262'144 - 131'076)) << one;
    EXPECT_FALSE(m.layers[0].experts.up || m.layers[0].experts.down) << one;
  }
  EXPECT_EQ(with(R"("up_proj")").layers[0].experts.up, varve::weight_format{dtype::bf16});
  EXPECT_EQ(with(R"("w1")").layers[0].experts.weights, dtype::bf16);
  EXPECT_EQ(with(R"("w1")").layers[0].experts.up, (varve::weight_format{dtype::fp8, 0, 0, 32}));
  const auto joined = with(R"("model.layers.1.mlp.experts.gate_up_proj")");  // as one tensor
  EXPECT_EQ(weight_bytes(joined) - whole, 2 * 4 * (262'144 - 131'076));
  EXPECT_FALSE(joined.layers[1].experts.up);
}

// A shared expert of 256 · 128: 32,772 bytes in FP8, 65,536 as it is.
TEST_F(model_file, gate_and_up_of_shared_experts_may_have_formats_of_their_own) {
  const auto with = [&](const std::string& module) {
    return read(R"("model_type": "qwen2_moe", "hidden_size": 256, "intermediate_size": 512,
        "moe_intermediate_size": 64, "shared_expert_intermediate_size": 128, "num_experts": 4,
        "num_experts_per_tok": 2, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 4, "vocab_size": 1000, "quantization_config": {"quant_method": "fp8",
        "modules_to_not_convert": [)" +
                module + "]}");
  };
  const std::int64_t whole = weight_bytes(with(""));
  for (const char* one : {"gate_proj", "up_proj", "down_proj"}) {
    const varve::model m = with("\"model.layers.1.mlp.shared_expert." + std::string{one} + '"');
    EXPECT_EQ(weight_bytes(m) - whole, 65'536 - 32'772) << one;
    EXPECT_FALSE(m.layers[1].experts.up || m.layers[1].experts.down) << one;
  }
}

// The head, 1000 · 256: 128,000 bytes of weights, and for each of 1000 columns two groups of 128 with 16 bits
// of scale and 4 of zero, 5000. Tied, it stands beside the table.
TEST_F(model_file, a_quantised_head_is_stored_beside_the_table) {
  const auto gptq = [&](const std::string& more, const std::string& head) {
    return read(tiny_llama + more + R"(, "quantization_config": {"quant_method": "gptq", "bits": 4,
                "group_size": 128, "lm_head": )" +
                head + "}");
  };
  const varve::model plain = gptq("", "false");
  const varve::model quantised = gptq("", "true");
  EXPECT_FALSE(plain.head);
  EXPECT_EQ(quantised.head, (varve::weight_format{dtype::int4, 128, 1, 16, 4}));
  EXPECT_EQ(weight_bytes(quantised) - weight_bytes(plain), 133'000 - 512'000);
  const std::string tied = R"(, "tie_word_embeddings": true)";
  EXPECT_EQ(weight_bytes(gptq(tied, "true")) - weight_bytes(gptq(tied, "false")), 133'000);
  EXPECT_EQ(count_parameters(quantised).total, count_parameters(plain).total);
  EXPECT_FALSE(unquantised(quantised).head);
  const auto tensors = [&](const std::string& ignore, const std::string& target) {
    return read(tiny_llama + R"(, "quantization_config": {"quant_method": "compressed-tensors",
        "ignore": [)" +
                ignore + R"(], "config_groups": {"g": {"targets": [)" + target +
                R"(], "weights": {"num_bits": 8, "strategy": "channel"}}}})");
  };
  const varve::weight_format int8{dtype::int8, 0, 1, 16};
  EXPECT_FALSE(tensors("\"lm_head\"", "\"Linear\"").head);
  EXPECT_EQ(tensors("", "\"Linear\"").head, int8);
  EXPECT_EQ(tensors("", R"("re:.*(mlp|lm_head).*")").head, int8);
  EXPECT_FALSE(tensors("", R"("re:.*mlp.*")").head);
}

// Two layers of 256 · 256 for q, k, v and o and 256 · 512 for gate, up and down. In 4 bits with 16 of scale
// and 4 of zero for 128 along k, 256 · 512 takes 65,536 + 512 · 2 · 20/8 = 68,096 bytes as gate and up, and
// 65,536 + 256 · 4 · 20/8 = 68,096 as down; in 16 bits 262,144. In 8 bits, 8 of zero: 131,072 + 1024 · 3 =
// 134,144.
TEST_F(model_file, single_modules_of_gptq_have_formats_of_their_own) {
  const auto gptq = [&](const std::string& more) {
    return read(tiny_llama + R"(, "quantization_config": {"quant_method": "gptq", "bits": 4,
                "group_size": 128, )" +
                more + "}");
  };
  const auto dynamic = [&](const std::string& entries) { return gptq(R"("dynamic": {)" + entries + "}"); };
  const varve::weight_format int4{dtype::int4, 128, 1, 16, 4};
  const varve::weight_format int8{dtype::int8, 128, 1, 16, 8};
  const std::int64_t whole = weight_bytes(gptq(R"("dynamic": null)"));
  const varve::model down = dynamic(R"("-:.*down_proj.*": {})");
  EXPECT_EQ(down.layers[1].mlp.down, varve::weight_format{dtype::bf16});
  EXPECT_EQ(weight_bytes(down) - whole, 2 * (262'144 - 68'096));
  EXPECT_EQ(weight_bytes(dynamic(R"("-:.*down_proj.*": null)")), weight_bytes(down));
  const varve::model first = dynamic(R"("+:.*\\.0\\..*gate.*": {"bits": 8})");
  EXPECT_EQ(first.layers[0].mlp.weights, int8);
  EXPECT_EQ(first.layers[0].mlp.up, int4);
  EXPECT_EQ(first.layers[1].mlp.weights, int4);
  EXPECT_EQ(weight_bytes(first) - whole, 134'144 - 68'096);
  EXPECT_EQ(dynamic(R"(".*gate.*": {"group_size": -1})").layers[0].mlp.weights,
            (varve::weight_format{dtype::int4, 0, 1, 16, 4}));
  // The first that fits counts, from the path's beginning on.
  EXPECT_EQ(dynamic(R"("+:.*gate": {"bits": 8}, "-:.*mlp": {})").layers[0].mlp.weights, int8);
  EXPECT_EQ(dynamic(R"("-:.*mlp": {}, "+:.*gate": {"bits": 8})").layers[0].mlp.weights, dtype::bf16);
  EXPECT_EQ(dynamic(R"("-:mlp": {})").layers[0].mlp.weights, int4);
  EXPECT_FALSE(dynamic(R"("+:.*": {"bits": 8})").head);  // lm_head is not said to be quantised
  EXPECT_EQ(gptq(R"("lm_head": true, "dynamic": {"+:lm_head": {"bits": 8}})").head, int8);
  EXPECT_FALSE(gptq(R"("lm_head": true, "dynamic": {"-:lm_head": {}})").head);

  // Four of 256 · 256 in 4 bits take 32,768 + 512 · 20/8 = 34,048 bytes each for 131,072.
  for (const std::string list : {R"([["self_attn.k_proj", "self_attn.v_proj"], ["self_attn.q_proj"]])",
                                 R"(["self_attn.k_proj", "self_attn.v_proj", "self_attn.q_proj"])"}) {
    const varve::model only = gptq(R"("modules_in_block_to_quantize": )" + list);
    EXPECT_EQ(only.layers[1].attention.in, int4) << list;
    EXPECT_EQ(only.layers[1].attention.output, dtype::bf16) << list;
    EXPECT_EQ(weight_bytes(only) - whole, 2 * (3 * (262'144 - 68'096) + 131'072 - 34'048)) << list;
  }
  EXPECT_EQ(weight_bytes(gptq(R"("modules_in_block_to_quantize": null)")), whole);
}

TEST_F(model_file, formats_that_no_description_has_are_refused_by_the_field) {
  const auto refused = [&](const std::string& how) {
    return error(tiny_llama + R"(, "quantization_config": {)" + how + "}");
  };
  const auto tensors = [&](const std::string& ignore, const std::string& target) {
    return refused(R"("quant_method": "compressed-tensors", "ignore": [)" + ignore +
                   R"(], "config_groups": {"g": {"targets": [)" + target +
                   R"(], "weights": {"num_bits": 4}}})");
  };
  EXPECT_THAT(tensors(R"("re:.*(mlp")", R"("Linear")"),
              testing::HasSubstr("quantization_config.ignore: a regular expression in it is not"));
  EXPECT_THAT(tensors(R"("re:)" + std::string(600, 'a') + '"', R"("Linear")"),
              testing::HasSubstr("longer than 512 bytes"));
  std::string many;
  for (int i = 0; i < 300; ++i) {  // 2 layers · 300 · 500 bytes: more than 2^18
    many += (i > 0 ? ", " : "") + ("\"re:" + std::string(500, 'a') + '"');
  }
  EXPECT_THAT(tensors(many, R"("Linear")"), testing::HasSubstr("too many to search for"));
  EXPECT_THAT(refused(R"("quant_method": "compressed-tensors", "config_groups": {
      "a": {"targets": ["re:.*mlp.*"], "weights": {"num_bits": 8}, "input_activations": {"num_bits": 8}},
      "b": {"targets": ["re:.*self_attn.*"], "weights": {"num_bits": 4}}})"),
              testing::HasSubstr("quantization_config.config_groups: multiplies activations as one type"));
  const auto gptq = [&](const std::string& more) {
    return refused(R"("quant_method": "gptq", "bits": 4, )" + more);
  };
  EXPECT_THAT(gptq(R"("dynamic": {"-:.*(mlp": {}})"),
              testing::HasSubstr("quantization_config.dynamic: a regular expression in it is not"));
  EXPECT_THAT(gptq(R"("dynamic": {"+:.*mlp": {"bits": 3}})"),
              testing::HasSubstr("quantization_config.dynamic.+:.*mlp.bits: 3 bits are not supported"));
  EXPECT_THAT(gptq(R"("dynamic": {"+:.*mlp": 8})"),
              testing::HasSubstr("quantization_config.dynamic.+:.*mlp: must be an object"));
  EXPECT_THAT(gptq(R"("dynamic": [])"), testing::HasSubstr("quantization_config.dynamic: must be an object"));
  for (const char* list : {"\"q_proj\"", "[4]", "[[\"q_proj\"], {}]", "[[[\"q_proj\"]]]"}) {
    EXPECT_THAT(
        gptq(std::string{R"("modules_in_block_to_quantize": )"} + list),
        testing::HasSubstr("quantization_config.modules_in_block_to_quantize: must be a list of at most"))
        << list;
  }
}

// As older files of llm-compressor call it, and as those of models with eyes name their modules.
TEST_F(model_file, quantisation_may_go_by_other_names) {
  const std::string groups = R"({"quant_method": "compressed-tensors", "config_groups": {"g": {
      "targets": ["Linear"], "weights": {"num_bits": 8, "strategy": "channel"}}}})";
  const varve::weight_format int8{dtype::int8, 0, 1, 16};
  EXPECT_EQ(read(tiny_llama + R"(, "compression_config": )" + groups).layers[0].mlp.weights, int8);
  const auto seen = [&](const std::string& ignored) {
    return read(R"("model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "head_dim": 64, )" +
                tiny_llama.substr(tiny_llama.find(',') + 1) + R"(}, "quantization_config": {"ignore": [)" +
                ignored + "], " + groups.substr(1))
        .layers[0];
  };
  for (const char* const prefix : {"model.language_model.", "language_model.model.", "model.", ""}) {
    const varve::model_layer plain = seen('"' + std::string{prefix} + R"(layers.0.mlp.down_proj")");
    EXPECT_EQ(plain.mlp.down, varve::weight_format{dtype::bf16}) << prefix;
    EXPECT_EQ(plain.mlp.weights, int8) << prefix;
  }
  EXPECT_EQ(seen(R"("re:model\\.language_model\\..*down_proj")").mlp.down, varve::weight_format{dtype::bf16});
}

TEST_F(model_file, quantisation_of_nothing_is_refused_by_the_field) {
  const auto refused = [&](const std::string& how) {
    return error(tiny_llama + R"(, "quantization_config": {)" + how + "}");
  };
  const auto targets = [&](const std::string& target) {
    return refused(R"("quant_method": "compressed-tensors", "config_groups": {"g": {"targets": [)" + target +
                   R"(], "weights": {"num_bits": 4}}})");
  };
  EXPECT_THAT(targets(R"("MoEExperts")"),
              testing::HasSubstr("config_groups.g.targets: MoEExperts is a class of modules"));
  EXPECT_THAT(targets(R"("re:.*experts.*")"),
              testing::HasSubstr("quantization_config.config_groups: leaves no matrix of the model"));
  EXPECT_THAT(refused(R"("quant_method": "gptq", "bits": 4, "modules_in_block_to_quantize": [["attn.q"]])"),
              testing::HasSubstr("modules_in_block_to_quantize: leaves no matrix of the model"));
  EXPECT_THAT(refused(R"("quant_method": "gptq", "bits": 4, "dynamic": {"-:.*": {}})"),
              testing::HasSubstr("quantization_config.dynamic: leaves no matrix of the model"));
  EXPECT_THAT(refused(R"("quant_method": "fp8", "modules_to_not_convert": ["model.layers"])"),
              testing::HasSubstr("modules_to_not_convert: leaves no matrix of the model"));
  EXPECT_THAT(refused(R"("quant_method": "mxfp4")"),  // of experts alone
              testing::HasSubstr("quant_method: leaves no matrix of the model"));
}

// 2 layers, 4 heads of 64 for keys and for values: 1,024 elements a token, of a byte each.
TEST_F(model_file, the_cache_is_stored_as_its_quantisation_says) {
  const auto bytes = [&](const std::string& how) {
    return kv_bytes_per_token(read(tiny_llama + R"(, "quantization_config": {)" + how + "}"));
  };
  const std::string tensors = R"("quant_method": "compressed-tensors",
      "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float"}}})";
  const std::string modelopt = R"("quant_method": "modelopt", "quant_algo": "FP8")";
  const std::string scheme = R"(, "kv_cache_scheme": {"num_bits": 8, "type": "float", "dynamic": false})";
  EXPECT_EQ(bytes(tensors), 2048);
  EXPECT_EQ(bytes(tensors + R"(, "kv_cache_scheme": null)"), 2048);
  EXPECT_EQ(bytes(tensors + scheme), 1024);
  EXPECT_EQ(bytes(modelopt), 2048);
  EXPECT_EQ(bytes(modelopt + scheme), 1024);
  EXPECT_EQ(bytes(modelopt + R"(, "kv_cache_quant_algo": "INT8")"), 1024);
  EXPECT_THAT(error(tiny_llama + R"(, "quantization_config": {)" + tensors +
                    R"(, "kv_cache_scheme": {"num_bits": 4, "type": "float"}})"),
              testing::HasSubstr("quantization_config.kv_cache_scheme.num_bits: is not 8"));
  EXPECT_THAT(
      error(tiny_llama + R"(, "quantization_config": {)" + modelopt + R"(, "kv_cache_quant_algo": "NVFP4"})"),
      testing::HasSubstr("quantization_config.kv_cache_quant_algo: is not one of FP8, INT8"));
}

// As in Python, which engines read the file with. tiny_llama has 4 heads and 2 layers.
TEST_F(model_file, of_a_field_that_is_there_twice_the_last_one_counts) {
  const varve::model m =
      read(tiny_llama + R"(, "num_hidden_layers": 3, "num_attention_heads": 8, "torch_dtype": "float16",
           "num_key_value_heads": 2, "num_key_value_heads": null, "torch_dtype": "float32")");
  EXPECT_EQ(m.layers.size(), 3U);
  EXPECT_EQ(m.layers[0].attention.heads.keys, 8);  // null: as many as query heads
  EXPECT_EQ(m.type, dtype::f32);
  // Of a group of 4 bits, then of 8: 8 bits; one that becomes no group is none.
  const auto group = [](const char* name, int bits) {
    return '"' + std::string{name} + R"(": {"targets": ["Linear"], "weights": {"type": "int", "num_bits": )" +
           std::to_string(bits) + "}}";
  };
  const auto bytes = [&](const std::string& groups) {
    return weight_bytes(read(
        tiny_llama + R"(, "quantization_config": {"quant_method": "compressed-tensors", "config_groups": {)" +
        groups + "}}"));
  };
  EXPECT_EQ(bytes(group("a", 4) + ", " + group("a", 8)), bytes(group("a", 8)));
  EXPECT_EQ(bytes(group("b", 4) + R"(, "b": null, )" + group("a", 8)), bytes(group("a", 8)));
  EXPECT_LT(bytes(group("a", 4)), bytes(group("a", 8)));
}

TEST_F(model_file, a_folder_stands_for_its_config) {
  static_cast<void>(write("config.json", "{" + tiny_llama + R"(, "torch_dtype": "float16"})"));
  const varve::model m = varve::read_model(path(""));
  EXPECT_EQ(m.name, "llama");
  EXPECT_EQ(m.type, dtype::f16);
  EXPECT_EQ(m.layers[0].attention.heads.keys, 4);
}

TEST_F(model_file, errors_name_the_field_and_what_to_do) {
  EXPECT_EQ(
      error(R"("model_type": "llama")"),
      "config.json: hidden_size: missing; add it, or take the config.json that the model was published with");
  EXPECT_THAT(error(R"("model_type": "mamba", "hidden_size": 1)"),
              testing::StartsWith("config.json: model_type: \"mamba\" is unknown; known are deepseek_v2, "));
  EXPECT_THAT(error(R"("model_type": "phi3small", "hidden_size": 4096)"),
              testing::StartsWith("config.json: model_type: phi3small attends to blocks of keys"));
  EXPECT_THAT(error(R"("hidden_size": 1)"),
              testing::StartsWith("config.json: model_type: missing; known are "));
  EXPECT_EQ(error(tiny_llama + R"(, "num_key_value_heads": 3)"),
            "config.json: num_attention_heads: 4 heads cannot share 3 key-value heads; correct one of them");
  EXPECT_EQ(
      error(R"("model_type": "llama", "hidden_size": 10, "vocab_size": 5, "num_attention_heads": 3)"),
      "config.json: num_attention_heads: 3 heads do not divide a width of 10; correct one of them, or add "
      "head_dim");
  EXPECT_EQ(error(R"("model_type": "llama", "hidden_size": -1)"),
            "config.json: hidden_size: must be an integer from 1 to 2^40; correct it in the file");
  EXPECT_THAT(error(R"("model_type": "llama", "hidden_size": "wide")"),
              testing::HasSubstr("hidden_size: must be"));
  EXPECT_THAT(error(R"("model_type": "gemma3", "text_config": {"model_type": "gemma3_text"})"),
              testing::HasSubstr("hidden_size: missing"));
  EXPECT_EQ(error(R"("model_type": "llama", "hidden_size": 8, "vocab_size": 5, "num_attention_heads": 2,
      "intermediate_size": 4, "num_hidden_layers": 100000)"),
            "config.json: num_hidden_layers: 100000 layers are more than the 1024 that varve takes");
  EXPECT_THAT(error(tiny_llama + R"(, "quantization_config": {"quant_method": "magic"})"),
              testing::StartsWith("config.json: quantization_config.quant_method: unknown; known are awq, "));
  EXPECT_THAT(error(tiny_llama + R"(, "quantization_config": {"quant_method": "gptq", "bits": 3})"),
              testing::StartsWith("config.json: quantization_config.bits: 3 bits are not supported"));
  EXPECT_THAT(error(tiny_llama + R"(, "quantization_config": 4)"),
              testing::HasSubstr("quantization_config: must be an object"));
  EXPECT_THAT(error(tiny_llama + R"(, "torch_dtype": "posit")"),
              testing::HasSubstr("torch_dtype: is not one of"));
  EXPECT_THAT(error(R"("model_type": "gemma2", "hidden_size": 8, "vocab_size": 5, "num_attention_heads": 4,
      "intermediate_size": 4, "num_hidden_layers": 2, "layer_types": ["full_attention"])"),
              testing::HasSubstr("layer_types: names 1 layers of 2"));
}

// 2^40 · 2^40 elements of one matrix are more than 2^63 − 1 can count.
TEST_F(model_file, sizes_that_no_count_holds_are_refused_by_the_largest_field) {
  EXPECT_EQ(
      error(R"("model_type": "llama", "hidden_size": 1099511627776, "intermediate_size": 512,
      "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 1000)"),
      "config.json: hidden_size: 1099511627776 makes a model of more than 2^50 parameters, which varve does "
      "not count; correct it in the file");
  EXPECT_THAT(error(R"("model_type": "llama", "hidden_size": 4096, "intermediate_size": 1099511627776,
      "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 1000)"),
              testing::StartsWith("config.json: intermediate_size: 1099511627776 makes"));
  EXPECT_THAT(error(R"("model_type": "llama", "hidden_size": 4096, "intermediate_size": 512,
      "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 1099511627776)"),
              testing::StartsWith("config.json: vocab_size: 1099511627776 makes"));
}

TEST_F(model_file, what_is_no_config_is_refused) {
  const auto refused = [&](const std::string& bytes) {
    const std::string file = write("config.json", bytes);
    return error_of([&] { static_cast<void>(varve::read_model(file)); });
  };
  EXPECT_FALSE(refused("").empty());
  EXPECT_FALSE(refused("{").empty());
  EXPECT_FALSE(refused("{\"model_type\": \"ll").empty());
  EXPECT_FALSE(refused(std::string("{\"a\": \xFF}")).empty());
  EXPECT_FALSE(refused(std::string(100000, '[')).empty());
  // What Python's json writes and reads, and JSON has not; what no integer of 64 bits holds (2^64 and more);
  // what some editors write before it.
  EXPECT_EQ(
      refused(R"({"a": 1, "vocab_size": 1)" + std::string(30, '0') + "}"),
      "config.json: byte 23: \"vocab_size\": 1000000000000000000000000000000 is beyond 64 bits; correct it "
      "in the file");
  EXPECT_THAT(refused(R"({"a": [1, 18446744073709551616]})"),
              testing::HasSubstr("byte 10: \"a\": 18446744073709551616 is beyond 64 bits"));
  EXPECT_THAT(refused(R"({"a": 1e999})"), testing::HasSubstr("byte 6: \"a\": 1e999 is beyond the range"));
  for (const char* const word : {"NaN", "Infinity", "-Infinity"}) {
    EXPECT_EQ(refused(R"({"rope_theta": )" + std::string{word} + "}"),
              "config.json: byte 15: \"rope_theta\": " + std::string{word} +
                  " is no number of JSON; correct it in the file");
  }
  for (const char* const word : {"01", "1.", "-", "1.2.3", "1e"}) {
    EXPECT_THAT(refused(R"({"rope_theta": )" + std::string{word} + "}"),
                testing::HasSubstr("\"rope_theta\": " + std::string{word} + " is no number"));
  }
  for (const char* const mark : {"\xEF\xBB\xBF{}", "\xFF\xFE{\1", "\xFE\xFF\1{"}) {
    EXPECT_EQ(
        refused(mark),
        "config.json: byte 0: a byte-order mark stands before the JSON; save the file as UTF-8 without one");
  }
  EXPECT_EQ(refused("[1]"), "config.json: is JSON but no config.json: it must be an object");
  EXPECT_FALSE(refused("{" + tiny_llama + R"(, "quantization_config": {"quant_method": "awq",
      "modules_to_not_convert": [1]}})")
                   .empty());
  const std::string missing = path("none.json");
  EXPECT_FALSE(error_of([&] { static_cast<void>(varve::read_model(missing)); }).empty());
}

TEST(quantised_modules, are_named_by_steps_of_their_path) {
  using varve::model_file::names_module;
  const std::string module = "model.layers.1.self_attn.q_proj";
  EXPECT_TRUE(names_module("model.layers.1.self_attn", module));
  EXPECT_TRUE(names_module("self_attn", module));
  EXPECT_TRUE(names_module("model.layers.*.self_attn", module));
  EXPECT_TRUE(names_module("*q_proj", module));
  EXPECT_TRUE(names_module("model.layers.1*", "model.layers.12.mlp"));
  EXPECT_FALSE(names_module("model.layers.1", "model.layers.12.mlp"));
  EXPECT_FALSE(names_module("gate", "model.layers.1.mlp.gate_proj"));
  EXPECT_FALSE(names_module("proj", module));
  EXPECT_FALSE(names_module("", module));
  EXPECT_FALSE(names_module("*a*b*c*d", std::string(500, 'a')));
}

}  // namespace
