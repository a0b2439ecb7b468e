// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The description of a decoder, and what follows from it: parameters, bytes of weights and of the KV cache,
// the work of each operator of a pass. Conventions: docs/work.md. read_model() of io.hpp makes a description
// of a Hugging Face config.json; it can also be filled by hand.
//
// All are values; the functions are pure and may run concurrently.
#ifndef VARVE_MODEL_HPP
#define VARVE_MODEL_HPP

#include <varve/device.hpp>
#include <varve/trace.hpp>
#include <varve/work.hpp>
#include <varve/work_formulas.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace varve {
inline namespace v0 {

enum class norm_kind : std::uint8_t { rms, layer };  ///< with a scale, or with a scale and a bias

/// Attention of one layer.
struct attention_layer {
  attention_heads heads;
  std::int64_t window = 0;  ///< keys that a token attends to at most, itself among them; 0: all
  /// Latent attention (DeepSeek): width of what is cached of keys and values together; 0: none.
  std::int64_t latent = 0;
  std::int64_t rotary = 0;        ///< likewise: the part of a key that all heads share, cached beside it
  std::int64_t query_latent = 0;  ///< likewise: queries are projected through this width; 0: directly
  bool query_key_norm = false;    ///< a norm over each head of queries and keys
  bool bias = false;              ///< of the projections to queries, keys and values
  bool output_bias = false;
  bool sinks = false;      ///< a learned score a head (gpt-oss)
  weight_format in{};      ///< of the projections to queries, keys and values
  weight_format output{};  ///< of the projection back
  /// Where they are others than `in`: of the projections to keys and to values, in latent attention of those
  /// down to the latents (kv_a_proj) and up from them (kv_b_proj); there also of queries from theirs
  /// (q_b_proj).
  std::optional<weight_format> keys{};
  std::optional<weight_format> values{};
  std::optional<weight_format> queries_up{};
};

/// A dense feed-forward block.
struct mlp_layer {
  std::int64_t width = 0;  ///< 0: there is none
  bool gated = true;       ///< three matrices (SwiGLU), not two
  bool bias = false;
  weight_format weights{};
  std::optional<weight_format> down{};  ///< of the matrix back, where it is another
  std::optional<weight_format> up{};    ///< of the matrix beside the gate, likewise
};

/// A mixture of experts in place of a dense block.
struct expert_layer {
  std::int64_t count = 0;   ///< 0: there is none
  std::int64_t chosen = 0;  ///< a token
  std::int64_t width = 0;   ///< of one expert, gated
  bool bias = false;        ///< of the experts
  bool router_bias = false;
  std::int64_t shared_width = 0;  ///< of what each token passes besides: all shared experts together
  bool shared_gate = false;       ///< the shared part is scaled by a product of its own
  weight_format weights{};
  weight_format shared{};
  std::optional<weight_format> down{};  ///< of experts' matrices back, where it is another
  std::optional<weight_format> shared_down{};
  std::optional<weight_format> up{};  ///< of experts' matrices beside the gate, likewise
  std::optional<weight_format> shared_up{};
};

struct model_layer {
  attention_layer attention;
  mlp_layer mlp;
  expert_layer experts;
  bool parallel = false;  ///< attention and feed-forward read the same input
  /// Norms before attention and before the feed-forward block: 1 when a parallel layer has one for both.
  std::int32_t norms = 2;
  bool post_norms = false;  ///< and one after each (Gemma 2 and 3)
};

struct model {
  std::string name;  ///< "llama": the family, as config.json calls it
  std::int64_t width = 0;
  std::int64_t vocabulary = 0;
  std::int64_t embedding_width = 0;  ///< of the table of tokens, where it is not `width` (OPT); 0: it is
  std::int64_t positions = 0;        ///< rows of a learned table of positions
  bool tied = false;                 ///< the table of tokens is the head's matrix too
  bool head_bias = false;
  bool final_norm = true;
  norm_kind norms = norm_kind::rms;
  dtype type = dtype::bf16;     ///< of activations and of what is not quantised
  dtype cache = dtype::bf16;    ///< of keys and values
  dtype factors = dtype::bf16;  ///< what activations are multiplied as where weights are quantised
  std::string quantisation;     ///< how, in words; empty: not at all
  std::int64_t ranks = 1;       ///< that share the model: it is the part of one (tensor_parallel())
  std::vector<model_layer> layers;
  /// Of the head's matrix where that is quantised: it is stored beside the table of tokens, tied or not.
  std::optional<weight_format> head{};
};

/// The same model with nothing quantised and all elements of one type.
[[nodiscard]] VARVE_API model unquantised(model m, dtype type = dtype::bf16);

/// The part of `m` that each of `ranks` devices runs under tensor parallelism as Megatron-LM has it: its
/// share of the heads, of the width of feed-forward blocks and of each expert, and of the vocabulary (rounded
/// up); norms, routers, tables of positions and what latent attention projects to are on all. Where there are
/// fewer key-value heads than ranks each is on several. docs/work.md has what follows. Throws
/// std::invalid_argument, which names what `ranks` does not divide, and where `m` is a part already.
[[nodiscard]] VARVE_API model tensor_parallel(const model& m, std::int64_t ranks);

/// Parameters by what they belong to. A tied matrix counts once, as embedding.
struct parameter_counts {
  std::int64_t embedding = 0;
  std::int64_t positions = 0;
  std::int64_t projections = 0;  ///< between the width of the table and the model's
  std::int64_t head = 0;
  std::int64_t head_bias = 0;
  std::int64_t final_norm = 0;
  std::int64_t qkv = 0;
  std::int64_t output = 0;
  std::int64_t gate = 0;  ///< of dense blocks, as `up` and `down`
  std::int64_t up = 0;
  std::int64_t down = 0;
  std::int64_t router = 0;
  std::int64_t experts = 0;  ///< all of them
  std::int64_t shared = 0;
  std::int64_t qkv_bias = 0;
  std::int64_t output_bias = 0;
  std::int64_t mlp_bias = 0;
  std::int64_t router_bias = 0;
  std::int64_t expert_bias = 0;
  std::int64_t norms = 0;  ///< of layers
  std::int64_t sinks = 0;
  std::int64_t layers = 0;  ///< all from qkv to sinks
  std::int64_t total = 0;
  std::int64_t active = 0;           ///< used for a token: chosen experts alone, the head, no tables
  std::int64_t active_matrices = 0;  ///< of these the matrices of layers
};
[[nodiscard]] VARVE_API parameter_counts count_parameters(const model& m);

/// Bytes of all weights as they are stored, with scales and zero points; a tied matrix once.
[[nodiscard]] VARVE_API std::int64_t weight_bytes(const model& m);
/// Bytes that one token adds to the cache while no window is full.
[[nodiscard]] VARVE_API std::int64_t kv_bytes_per_token(const model& m);
/// Bytes of the cache of one sequence of `context` tokens; layers with a window keep no more than that.
[[nodiscard]] VARVE_API std::int64_t kv_bytes(const model& m, std::int64_t context);

/// Tokens of one sequence in a pass.
struct pass_sequence {
  std::int64_t tokens = 1;   ///< new ones
  std::int64_t context = 1;  ///< keys that the newest attends to, itself among them
  bool decode = true;
};

/// How work_of_pass() counts.
struct work_options {
  /// Tokens for which logits are made; negative: all of decoding sequences and one of each other.
  std::int64_t logits = -1;
  bool all_logits = false;
  /// Count attention as tokens · context, masked or not, in layers with a window too.
  bool full_square = false;
  enum class latent_form : std::uint8_t { by_phase, absorbed, expanded };
  /// By phase: absorbed where a sequence decodes, expanded where it is prefilled.
  latent_form latent = latent_form::by_phase;
  /// For work::bytes_below: a token's odds of an expert at least, as a share of even odds
  /// (least_experts()). 0 where nothing is known: they reach down to the experts of one token.
  double rarest_expert = varve::rarest_expert;
};

/// One operator of one layer in one pass.
struct operator_work {
  std::int32_t layer = no_index;  ///< none for the embedding, the last norm and the head
  std::string_view block;  ///< "embedding", "attention", "mlp", "moe", "norm", "residual", "head": a literal
  std::string_view name;   ///< "qkv_proj", "attn_score", "o_proj", "gate_proj", …: a literal
  work declared;
  std::int64_t written_kv = 0;           ///< part of declared.kv_bytes
  std::int64_t written_activations = 0;  ///< part of declared.activation_bytes
  /// FLOPs that go element by element, estimated, in no total: RMSNorm 4, LayerNorm 7, softmax 5 a score,
  /// gated activation 5, plain one 4, sum 1 an element, experts' weighted sum 2.
  std::int64_t elementwise_flops = 0;
  /// Runs in one kernel with the operator before it: their FLOPs and bytes add up before a roof is taken.
  bool with_previous = false;
};

/// The work of each operator of one forward pass over `sequences`, in the order in which they run. Sequences
/// without tokens, or with fewer keys than tokens, are left out.
[[nodiscard]] VARVE_API std::vector<operator_work> work_of_pass(const model& m,
                                                                const std::vector<pass_sequence>& sequences,
                                                                const work_options& options = {});

/// A pass that nothing ran: a trace in which each operator takes what the device's ceilings allow at best,
/// one after the other, and launching takes no time. analyze() with the same ceilings gives the table of it.
/// Where the device has no rate for a pipe, FLOPs count on one that it has (docs/work.md), which the trace's
/// collector says, as it says which pipe weights count on that are widened before they are multiplied. Throws
/// std::invalid_argument, which names what the ceilings lack, where there is none, or no bandwidth, and
/// std::overflow_error where FLOPs, bytes or nanoseconds of the pass are 2^63 or more.
[[nodiscard]] VARVE_API trace roof_trace(const model& m, const std::vector<pass_sequence>& sequences,
                                         const ceilings& device, const work_options& options = {});

/// What the label of a range stands for in a model.
struct label_rule {
  /// Fits the whole name of a label's step; "*" stands for any text. Case and all but letters and digits are
  /// ignored: "qkvproj" fits "qkv_proj" and "QKV proj".
  std::string pattern;
  /// "attention", "attention/o_proj", or several with commas between them: blocks and names of operators as
  /// operator_work has them; "layer": a layer, whose index says which; "linear": products with weights.
  std::string parts;
  /// Several such ranges side by side stand for one operator each, in order; where their number is another
  /// than the operators', the range around stands for all.
  bool one_each = false;
};

struct describe_options {
  /// Looked at before varve's own (docs/work.md). The first that fits and whose parts lie in the range around
  /// decides.
  std::vector<label_rule> rules;
  /// Only passes of this model (trace::models) are described; empty: all.
  std::string model_name;
  /// Of passes that do not say how many tokens they have; empty: these are not described. Those of kind
  /// decode take prompts for one token of each sequence, with `context` keys.
  std::vector<pass_sequence> batch;
  /// Keys that each decoding sequence attends to in passes that do not say it; 0: these are not described.
  std::int64_t context = 0;
  work_options pass;
};

/// Throws std::invalid_argument, which says what is wrong with it, for a rule that can't fit anything.
VARVE_API void check(const label_rule& rule);

/// Tells the work of each pass of `t` whose tokens are known, as work_source::description: that of each
/// operator in the innermost range that stands for it, else in the pass; for replayed graphs in
/// trace::path_works. What an earlier description told is replaced. Passes of kinds load and capture run
/// nothing; those of kind draft are another model's. What can't be described or matched is counted in
/// trace::losses. Where sequences are known by their sums alone, they are taken to be of even length. Throws
/// as check() does.
VARVE_API void describe(trace& t, const model& m, const describe_options& options = {});

}  // namespace v0
}  // namespace varve

#endif  // VARVE_MODEL_HPP
