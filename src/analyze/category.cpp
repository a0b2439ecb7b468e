// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/report.hpp>

#include <algorithm>
#include <array>

namespace varve {
inline namespace v0 {

namespace {

constexpr std::string_view attention = "attention";
constexpr std::string_view linear = "linear";
constexpr std::string_view normalisation = "normalisation";
constexpr std::string_view activation = "activation";
constexpr std::string_view kv_cache = "kv cache";
constexpr std::string_view router = "router";
constexpr std::string_view embedding = "embedding";
constexpr std::string_view sampling = "sampling";
constexpr std::string_view collective = "collective";
constexpr std::string_view copying = "copy";

/// A kernel whose name holds both texts, whatever their case, belongs to the category.
struct rule {
  std::string_view category;
  std::string_view text;  ///< in lower case
  std::string_view also{};
  bool word = false;  ///< no letter stands before or after `text`
};

// The first rule that fits decides, so what is specific stands before what is general. Names carry
// template arguments and parameter types: a text must not be one that types bring along ("cutlass" alone
// is in cutlass::half_t, "flash" alone in the namespace flashinfer).
constexpr std::array rules{
    rule{copying, "memcpy"},
    rule{copying, "memset"},

    // Before normalisation: all-reduces fused with the norm that follows wait for their peers all the same.
    rule{collective, "nccl"},
    rule{collective, "rccl"},
    rule{collective, "allreduce"},
    rule{collective, "all_reduce"},
    rule{collective, "allgather"},
    rule{collective, "all_gather"},
    rule{collective, "reducescatter"},
    rule{collective, "reduce_scatter"},
    rule{collective, "alltoall"},
    rule{collective, "all_to_all"},
    rule{collective, "cross_device_reduce"},
    rule{collective, "multimem_"},
    rule{collective, "nvshmem"},
    rule{collective, "deep_ep::"},
    rule{collective, "lamport"},
    rule{collective, "msccl"},
    rule{collective, "quickreduce"},
    rule{collective, "quick_reduce"},

    // Expert products are linear; what picks experts and moves tokens to and from them is the router.
    rule{linear, "fused_moe_kernel"},
    rule{linear, "fmoe_"},
    rule{linear, "moe", "gemm"},
    rule{router, "routing"},
    rule{router, "router"},
    rule{router, "gating"},
    rule{router, "topk_softmax"},
    rule{router, "topk_sigmoid"},
    rule{router, "grouped_topk"},
    rule{router, "topk_moe"},
    rule{router, "moe_align"},
    rule{router, "moe_sum"},
    rule{router, "moe_permute"},
    rule{router, "moe_unpermute"},
    rule{router, "moe", "finalize"},
    rule{router, "expandinputrows"},
    rule{router, "expert_tokens"},
    rule{router, "mm_ids"},
    rule{router, "ep_scatter", {}, true},
    rule{router, "ep_gather", {}, true},

    rule{sampling, "sampling"},
    rule{sampling, "top_p"},
    rule{sampling, "topp"},
    rule{sampling, "argmax"},
    rule{sampling, "multinomial"},
    rule{sampling, "penalt"},
    rule{sampling, "ngram"},
    rule{sampling, "topk"},
    rule{sampling, "top_k"},
    rule{sampling, "rejection_"},
    rule{sampling, "distribution_elementwise"},
    rule{sampling, "distribution_nullary"},

    // FlashInfer's attention has the cache in its name.
    rule{attention, "prefillwith", "kvcache"},
    rule{attention, "decodewith", "kvcache"},
    rule{kv_cache, "_and_cache"},
    rule{kv_cache, "kvcache"},
    rule{kv_cache, "kv_cache"},
    rule{kv_cache, "kv_buffer"},
    rule{kv_cache, "store_kv"},
    rule{kv_cache, "write_kv"},
    rule{kv_cache, "append_paged"},
    rule{kv_cache, "copy_blocks"},
    rule{kv_cache, "swap_blocks"},
    rule{kv_cache, "gather_cache"},
    rule{kv_cache, "page_indices"},
    rule{kv_cache, "slot_mapping"},
    rule{kv_cache, "k_set_rows"},  // llama.cpp writes the cache with it

    rule{normalisation, "attn_norm"},
    rule{attention, "attention"},
    rule{attention, "attn"},
    rule{attention, "fmha"},
    rule{attention, "mmha"},
    rule{attention, "kernel_mha"},
    rule{attention, "flash_fwd"},
    rule{attention, "flash_bwd"},
    rule{attention, "flash::"},
    rule{attention, "mla_"},
    rule{attention, "_mla"},
    rule{attention, "mqa_logits"},
    rule{attention, "mergestate"},
    rule{attention, "merge_state"},
    rule{attention, "softmax"},
    rule{attention, "soft_max"},
    rule{attention, "_qkv"},
    // Before embedding: rotary_embedding. "rope" as a word: "property".
    rule{attention, "rotary"},
    rule{attention, "rope", {}, true},
    rule{attention, "ropekernel"},
    // State-space mixers stand where attention would.
    rule{attention, "selective_scan"},
    rule{attention, "chunk_scan"},
    rule{attention, "causal_conv1d"},
    rule{attention, "gated_delta"},

    // FBGEMM's name holds "gemm", its GPU kernels are mostly none.
    rule{embedding, "fbgemm_gpu", "embedding"},
    rule{copying, "fbgemm_gpu", "permute"},
    rule{linear, "fbgemm_gpu", "fp8"},
    rule{"other", "fbgemm_gpu"},

    rule{linear, "gemm"},
    rule{linear, "gemv"},
    rule{linear, "gemk1"},
    rule{linear, "nvjet"},
    rule{linear, "cutlass::kernel"},
    rule{linear, "cutlass::device_kernel"},
    rule{linear, "cutlass_"},
    rule{linear, "cublas"},
    rule{linear, "splitk"},
    rule{linear, "bmm_"},
    rule{linear, "matmul"},
    rule{linear, "mul_mat"},
    rule{linear, "marlin"},
    rule{linear, "machete"},
    rule{linear, "triton_", "_mm"},
    rule{linear, "triton_", "_bmm"},
    rule{linear, "cijk_"},  // Tensile and hipBLASLt name products by their indices
    rule{linear, "convolve"},
    rule{linear, "grouped_direct_kernel"},
    rule{linear, "im2col"},

    // The parts of a norm that runs unfused: x², mean, 1 ÷ √.
    rule{normalisation, "norm"},
    rule{normalisation, "rsqrt"},
    rule{normalisation, "meanops"},
    rule{normalisation, "pow_tensor_scalar"},
    rule{normalisation, "welford"},
    rule{normalisation, "gammabeta"},
    rule{normalisation, "rowwisemoments"},

    // Triton's attention kernels often have no better name; those of norms are caught above.
    rule{attention, "_fwd_kernel"},
    rule{attention, "_fwd_grouped_kernel"},

    rule{embedding, "embedding"},
    rule{embedding, "_embs"},
    rule{embedding, "lookup_kernel"},
    rule{embedding, "get_rows"},
    rule{embedding, "indexselect"},
    rule{embedding, "vectorized_gather"},

    rule{activation, "silu"},
    rule{activation, "gelu"},
    rule{activation, "relu"},
    rule{activation, "swiglu"},
    rule{activation, "geglu"},
    rule{activation, "swish"},
    rule{activation, "sigmoid"},
    rule{activation, "tanh"},
    rule{activation, "softplus"},
    rule{activation, "act_and_mul"},
    rule{activation, "doactivation"},
    rule{activation, "gated_op"},

    // Converting operands is a cost of low-precision products.
    rule{linear, "quant"},

    rule{sampling, "sort"},

    rule{copying, "copy_kernel"},
    rule{copying, "copy_async"},
    rule{copying, "batchedcopy"},
    rule{copying, "fillfunctor"},
    rule{copying, "index_kernel"},
    rule{copying, "cpy_"},
    rule{copying, "concat"},
    rule{copying, "transpose"},
    rule{copying, "permute"},
    rule{copying, "triton_poi_fused_cat"},
    rule{copying, "triton_poi_fused_clone"},

    // Residual additions, gates, masks: arithmetic on activations, element by element.
    rule{activation, "elementwise"},
    rule{activation, "triton_poi_"},
    rule{activation, "bin_bcast"},
    rule{activation, "unary_op"},
    rule{activation, "scale_f32"},
    rule{activation, "add", {}, true},

    // Operators of a model's description, as predictions name them (model.hpp).
    rule{linear, "_proj"},
    rule{linear, "project_"},
    rule{linear, "lm_head"},
    rule{linear, "_absorb"},
    rule{linear, "fc1", {}, true},
    rule{linear, "fc2", {}, true},
    rule{linear, "experts_gate_up"},
    rule{linear, "experts_down"},
    rule{linear, "shared_gate"},
    rule{linear, "shared_down"},
    rule{router, "combine", {}, true},
    rule{embedding, "embed", {}, true},
    rule{activation, "act", {}, true},
    rule{activation, "residual"},
};

constexpr char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool holds(std::string_view name, std::string_view text, bool word) noexcept {
  const auto is_letter = [](char c) { return lower(c) >= 'a' && lower(c) <= 'z'; };
  for (const auto* from = name.begin();; ++from) {
    from =
        std::search(from, name.end(), text.begin(), text.end(), [](char a, char b) { return lower(a) == b; });
    if (from == name.end()) {
      return text.empty();
    }
    const auto* const to = from + text.size();
    if (!word || ((from == name.begin() || !is_letter(from[-1])) && (to == name.end() || !is_letter(*to)))) {
      return true;
    }
  }
}

}  // namespace

std::string_view kernel_category(std::string_view kernel_name) noexcept {
  const auto* found = std::find_if(rules.begin(), rules.end(), [&](const rule& r) {
    return holds(kernel_name, r.text, r.word) && holds(kernel_name, r.also, false);
  });
  return found != rules.end() ? found->category : "other";
}

}  // namespace v0
}  // namespace varve
