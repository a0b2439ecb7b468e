// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/report.hpp>

#include <gtest/gtest.h>

namespace {

struct example {
  const char* name;
  const char* category;
};

void expect_categories(const std::vector<example>& examples) {
  for (const example& e : examples) {
    EXPECT_EQ(varve::kernel_category(e.name), e.category) << e.name;
  }
}

TEST(category, knows_the_products_of_every_engine) {
  expect_categories({
      {"sm90_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize256x128x64_cublas", "linear"},
      {"ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_f2f_stages_64x5_tn", "linear"},
      {"nvjet_hsh_128x64_64x8_1x2_h_bz_coopA_TNT", "linear"},
      {"void cublasLt::splitKreduce_kernel<32, 16, int, float, __half>(float const*)", "linear"},
      {"void gemvx::kernel<int, int, float, float, float, float, false, true>(x)", "linear"},
      {"void cutlass::Kernel2<cutlass_80_wmma_tensorop_f16_s161616_64x64_nt>(Params)", "linear"},
      {"void marlin::Marlin<__half, 256, 1, 8, 8, 4, 8>(int4 const*)", "linear"},
      {"void mul_mat_vec_q<(ggml_type)12, 1>(void const*, void const*, float*)", "linear"},
      {"void mul_mat_q<(ggml_type)8, 64, false>(char const*, int const*)", "linear"},
      {"void quantize_q8_1(float const*, void*, long, long)", "linear"},
      {"fused_moe_kernel", "linear"},
      {"bmm_E4m3_E4m3E4m3_Fp32_t128x8x512_swiGlu_dynBatch_sm100f", "linear"},
      {"void deep_gemm::fp8_gemm_kernel<4096u, 7168u, 64u, 128u>(float*)", "linear"},
      {"triton_tem_fused_mm_relu_3", "linear"},
      {"void tensorrt_llm::kernels::cutlass_kernels::MoeFCGemm<cutlass::half_t>(P)", "linear"},
      {"Cijk_Alik_Bljk_HHS_BH_Bias_HAS_SAV_UserArgs_MT256x256x64_MI16x16x1", "linear"},
      {"Custom_Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_NTD_UserArgs_shortname0_gfx950", "linear"},
      {"aiter::fmoe_bf16_blockscaleFp8_g1u1_vs_silu_1tg_32x256", "linear"},
      {"void cudnn::cnn::conv2d_grouped_direct_kernel<false, true, false>(float const*)", "linear"},
  });
}

TEST(category, tells_attention_from_the_cache_that_it_reads) {
  expect_categories({
      {"void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4>>(Flash_fwd_params)",
       "attention"},
      {"void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<cutlass::half_t>>>(P)",
       "attention"},
      {"void flashinfer::BatchDecodeWithPagedKVCacheKernel<(PosEncodingMode)0, 2u, 8u>(Params)", "attention"},
      {"void flashinfer::BatchPrefillWithPagedKVCacheKernel<KernelTraits<1u, 128u>>(Params)", "attention"},
      {"void flashinfer::AppendPagedKVCacheKernel<128u, 8u, __half, int>(paged_kv_t)", "kv cache"},
      {"void vllm::reshape_and_cache_flash_kernel<__half, __half>(__half const*)", "kv cache"},
      {"void vllm::concat_and_cache_mla_kernel<__half, unsigned char>(__half const*)", "kv cache"},
      {"void vllm::paged_attention_v2_kernel<unsigned short, 128, 16, 128>(float*)", "attention"},
      {"void mmha::masked_multihead_attention_kernel<unsigned short, 128>(Params)", "attention"},
      {"void k_set_rows<float, __half>(float const*, long const*, __half*)", "kv cache"},
      {"kernel_unified_attention_2d", "attention"},
      {"void flash_attn_tile_ext_f16<128, 8, false>(char const*)", "attention"},
      {"void soft_max_f32<true, 1024, 1024, float>(float const*)", "attention"},
      {"_fwd_kernel", "attention"},
  });
}

TEST(category, is_not_misled_by_words_inside_other_words) {
  expect_categories({
      // rotary embedding and rope_norm belong to attention, not to embedding or normalisation
      {"void vllm::rotary_embedding_kernel<__half, true>(long const*, __half*)", "attention"},
      {"void rope_norm<true, false, float>(float const*, float*)", "attention"},
      // a norm in flashinfer's namespace, with cutlass's types
      {"void flashinfer::norm::FusedAddRMSNormKernel<8u, cutlass::half_t>(cutlass::half_t*)",
       "normalisation"},
      {"void flashinfer::sampling::TopKTopPSamplingFromProbKernel<1024u>(float*)", "sampling"},
      {"void moe::dev::routing::routingRenormalize::routingIndicesClusterKernel<P>(P)", "router"},
      {"void vllm::moe::topkGatingSoftmax<8, 128, 4, 16, 32, int>(float const*)", "router"},
      {"void at::native::sbtopk::gatherTopK<float, unsigned int, 2, false>(T)", "sampling"},
      {"void allreduce_fusion_kernel_oneshot_lamport<RMSNorm, 8>(Params)", "collective"},
      {"void fbgemm_gpu::permute_2D_sparse_data_kernel<true, long, int>(int)", "copy"},
      {"_layer_norm_fwd_kernel", "normalisation"},
      {"_fwd_kernel_step_scatter", "attention"},  // not ep_scatter
      {"set_property_table", "other"},            // neither rope
      {"set_address_table", "other"},             // nor add
  });
}

TEST(category, knows_the_rest_of_a_transformer) {
  expect_categories({
      {"void vllm::fused_add_rms_norm_kernel<c10::Half, 8>(c10::Half*)", "normalisation"},
      {"void rms_norm_f32<1024, true>(float const*, float*, int, float)", "normalisation"},
      {"triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_0", "normalisation"},
      {"void vllm::act_and_mul_kernel<c10::Half, &vllm::silu_kernel<c10::Half>, true>(x)", "activation"},
      {"void unary_gated_op_kernel<&(op_silu(float)), float>(float const*)", "activation"},
      {"void k_bin_bcast<&(op_add(float, float)), float, float, float>(float const*)", "activation"},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)",
       "activation"},
      {"triton_poi_fused_add_mul_7", "activation"},
      {"void at::native::(anonymous namespace)::indexSelectSmallIndex<float, long>(T)", "embedding"},
      {"void k_get_rows_float<float, float>(float const*, int const*)", "embedding"},
      {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, ArgMaxOps<float>>>(R)",
       "sampling"},
      {"void vllm::moe::moe_align_block_size_kernel<int>(int*)", "router"},
      {"_fwd_kernel_ep_scatter_2", "router"},
      {"_fwd_kernel_ep_gather", "router"},
  });
}

TEST(category, knows_collectives_and_copies) {
  expect_categories({
      {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "collective"},
      {"void vllm::cross_device_reduce_1stage<__half, 8>(vllm::RankData*)", "collective"},
      {"void tensorrt_llm::kernels::twoShotAllReduceKernel<__half, 8, false>(P)", "collective"},
      {"void deep_ep::internode_ll::dispatch<false, 7168>(void*)", "collective"},
      {"Memcpy HtoD (Pinned -> Device)", "copy"},
      {"[CUDA memset]", "copy"},
      {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 2>(float*)", "copy"},
      {"void cpy_f32_f16<&cpy_1_f32_f16>(char const*, char*, int)", "copy"},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>>(int)", "copy"},
  });
}

TEST(category, knows_the_collectives_that_engines_make_themselves) {
  expect_categories({
      {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)", "collective"},
      {"ncclSymDevKernel_AllGather_LL(ncclSymDevArgs)", "collective"},
      {"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)",
       "collective"},
      {"void (anonymous namespace)::multimem_all_gather_kernel<16>(void*)", "collective"},
      {"void (anonymous namespace)::two_shot_all_reduce_kernel_inplace<c10::Half, 16, 8>(c10::Half**)",
       "collective"},
      {"void all_reduce_one_shot_kernel<__nv_bfloat16, 8>(AllReduceData)", "collective"},
      {"void sglang::cross_device_reduce_2stage<__nv_bfloat16, 4>(sglang::RankData*)", "collective"},
      {"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<"
       "(AllReduceFusionPattern)1, __half, 8>(P)",
       "collective"},
      {"void moereduce_allreduce_fusion_kernel_oneshot_lamport<__half, 8>(P)", "collective"},
      {"void quickreduce::allreduce_prototype_twoshot<AllReduceTwoshot<__half, CodecQ4<8>>, __half>(P)",
       "collective"},
      {"void deep_ep::intranode::combine<__nv_bfloat16, 8, 768>(__nv_bfloat16*)", "collective"},
      // reductions and gathers of one device alone
      {"void at::native::_scatter_gather_elementwise_kernel<128, 4>(int)", "activation"},
      {"void cub::DeviceReduceKernel<cub::Policy600, float const*, float*, int>(float const*)", "other"},
      {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, MeanOps<float>>>(R)",
       "normalisation"},
  });
}

TEST(category, knows_kernels_that_have_no_name_but_what_they_do) {
  expect_categories({{"rope", "attention"},
                     {"attention", "attention"},
                     {"add", "activation"},
                     {"sgemm", "linear"},
                     {"argmax", "sampling"},
                     {"store_kv", "kv cache"},
                     {"embedding", "embedding"}});
}

TEST(category, calls_what_it_does_not_know_other) {
  expect_categories(
      {{"", "other"}, {"step", "other"}, {"void advance(int*)", "other"}, {"\xff\x1b[31m", "other"}});
}

TEST(category, does_not_care_about_case) {
  expect_categories({{"MY_SGEMM", "linear"}, {"RmsNorm", "normalisation"}});
}

}  // namespace
