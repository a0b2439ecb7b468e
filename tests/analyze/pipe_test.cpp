// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Names are of public traces and listings; long ones are cut where nothing follows that tells more.
#include <varve/report.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace {

using varve::math_pipe;

void expect(math_pipe pipe, const std::vector<const char*>& names) {
  for (const char* name : names) {
    EXPECT_EQ(static_cast<int>(varve::pipe_of_kernel(name)), static_cast<int>(pipe)) << name;
  }
}

TEST(pipe_of_kernel, tells_the_accumulator_by_the_letter_before_the_instruction) {
  expect(math_pipe::fp16_tensor_fp16,
         {"volta_h884gemm_128x256_ldg8_nn", "ampere_h16816gemm_256x64_ldg8_stages_32x6_tn",
          "trt_ampere_h16816gemm_128x64_ldg8_nn_v1",
          "void cutlass::Kernel<cutlass_70_tensorop_h884gemm_128x128_tn_align8>(Params)",
          "volta_h884cudnn_256x64_ldg8_relu_exp_interior_nhwc_tn_v1"});
  expect(math_pipe::fp16_tensor,
         {"volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn", "volta_s884gemm_fp16_64x128_ldg8_f2f_nn",
          "volta_fp16_s884gemm_256x128_ldg8", "turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn",
          "turing_s1688gemm_128x128_ldg8_nn", "ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_f2f_tn",
          "void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm_relu_f16_256x64_32x4_tn_align8>(P)",
          "void cutlass::Kernel2<cutlass_80_wmma_tensorop_f16_s161616gemm_f16_32x32_128x2_tn_align2>(P)",
          "cutlass_70_tensorop_f16_s884gemm_relu_f16_128x128_tn_align8",
          "turing_fp16_s1688cudnn_fp16_128x128_ldg8_relu_f2f_exp_small_nhwc2nchw_tn_v1"});
}

TEST(pipe_of_kernel, tells_the_factors_beside_the_instruction) {
  expect(math_pipe::bf16_tensor,
         {"ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn", "ampere_s16816gemm_bf16_128x64_tn",
          "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align8>(P)",
          "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8>(P)",
          "cutlass_tensorop_s1688bf16gemm_128x128_32x3_tn_align4"});
  expect(math_pipe::tf32_tensor,
         {"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x64_16x6_tn_align4>(P)",
          "cutlass_tensorop_s1688tf32gemm_256x128_16x3_nn_align4", "ampere_s1688gemm_128x128_tn",
          "cutlass_tensorop_s1688fprop_optimized_tf32_64x64_16x10_nhwc_align4",
          "cutlass3x_sm90_tensorop_s64x128x8gemm_f32_f32_f32_f32_f32_128x128x32_tnn"});
  expect(math_pipe::int8_tensor,
         {"volta_int8_i8816gemm_int8_256x128_ldg16_relu_mods_nt",
          "void cutlass::Kernel2<cutlass_75_tensorop_i8816gemm_s8_128x128_tn_align16>(P)",
          "cutlass_tensorop_s8_i16832gemm_s8_256x128_64x3_tn_align16"});
  expect(math_pipe::fp64_tensor, {"cutlass_80_tensorop_d884gemm_128x64_16x3_nn_align1"});
  // 4 bits, single bits, complex numbers, FP32 of several products: no rate is known of them.
  expect(math_pipe::unknown,
         {"cutlass_tensorop_i8832gemm_s4_256x128_128x2_tn_align32",
          "cutlass_tensorop_i88128xorgemm_b1_256x128", "cutlass_tensorop_c1688gemm_64x64_16x4_nn_align1",
          "cutlass_tensorop_s1688f32gemm_128x64_16x4", "ampere_s16816gemm_128x64_tn"});
}

TEST(pipe_of_kernel, knows_products_on_the_cores) {
  expect(math_pipe::fp32,
         {"ampere_sgemm_128x64_nn", "volta_sgemm_32x128_tn", "maxwell_fp16_sgemm_fp16_128x64_nn",
          "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(P)",
          "void sgemm_largek_lds64<true, true, 6, 3, 4, 5, 2, 66>(float*, float const*, float const*)",
          "void magma_sgemmEx_kernel<float, float, float, true, false, 6, 4, 6, 3, 4>(int, int, int)",
          "volta_scudnn_128x64_relu_interior_nn_v1",
          "void implicit_convolve_sgemm<float, float, 1024, 5, 5, 3, 3, 3, 1, true>(int, int, int)",
          "cutlass3x_sm100_simt_sgemm_f32_f32_f32_f32_f32_64x64x16_1x1x1_3_tnn_align1_bias_f32_relu",
          "void gemv2T_kernel_val<int, int, __half, __half, __half, float, 128, 16, 4, 4, false>(P)",
          "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, __nv_bfloat16, float>(P)",
          "void cublasLt::splitKreduce_kernel<32, 16, int, float, __half, float, __half>(P)"});
  expect(math_pipe::fp16, {"volta_hgemm_128x64_nn", "cutlass_simt_hgemm_256x128_8x2_nn_align1"});
  expect(math_pipe::fp64, {"volta_dgemm_64x64_nn", "void gemv2N_kernel<int, int, double, double>(P)"});
}

TEST(pipe_of_kernel, reads_xmma_as_a_and_c_then_b_and_the_accumulator) {
  expect(math_pipe::bf16_tensor,
         {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_cublas",
          "sm80_xmma_gemm_bf16f32_bf16f32_f32_nt_n_tilesize128x128x32"});
  expect(math_pipe::fp16_tensor, {"sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize96x128x32_cublas",
                                  "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc"});
  expect(math_pipe::fp16_tensor_fp16,
         {"sm80_xmma_gemm_f16f16_f16f16_f16_tn_n_tilesize32x32x64_stage6_warpsize2x2x1_tensor16x8x16",
          "sm75_xmma_gemm_f16f16_f16f16_f16_nn_n_tilesize128x128x32_stage1_tensor16x8x8_kernel_trt"});
  expect(math_pipe::tf32_tensor,
         {"sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x64x32_warpgroupsize1x1x1_cublas",
          "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16"});
  expect(math_pipe::fp32, {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_ffma_aligna4"});
  expect(math_pipe::int8_tensor,
         {"sm80_xmma_gemm_i8i8_i8i32_f32_tn_n_tilesize64x64x64_stage4_warpsize2x2x1_tensor16x8x32",
          "sm80_xmma_gemm_i8f32_i8i32_f32_tn_n_tilesize128x128x64"});
  expect(math_pipe::fp8_tensor, {"sm89_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize128x128x64_stage3"});
  expect(math_pipe::fp64_tensor,
         {"sm80_xmma_gemm_f64f64_f64f64_f64_nn_n_tilesize64x64x16_stage4_tensor8x8x4_cublas"});
  expect(math_pipe::unknown, {"sm80_xmma_gemm_f16f16", "sm80_xmma_", "xmma"});
}

TEST(pipe_of_kernel, reads_the_letters_of_nvjet) {
  expect(math_pipe::bf16_tensor,
         {"nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT", "nvjet_sm100_tst_256x128_64x5_2x2_2cta_h_bz_TNT",
          "nvjet_sm120_tst_mma_64x64x128_3_32x32x128_tmaAB_alignCD4_bz_TNNN"});
  expect(math_pipe::fp16_tensor, {"nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NNT", "nvjet_sm90_hss_320x128"});
  expect(math_pipe::fp8_tensor, {"nvjet_qqtst_128x256_128x6_2x2_2cta_h_bz_Avec32UE8M0_Bvec32UE8M0_TNT"});
  expect(math_pipe::fp4_tensor, {"nvjet_sm100_ootst_128x128_256x7_4x1_2cta_v_bx_Avec16UE4M3_Bvec16UE4M3",
                                 "nvjet_sm100_oosss_128x256_256x5_2x1_2cta_v_bz_Avec16UE4M3_TNT"});
  expect(math_pipe::tf32_tensor, {"nvjet_sss_tf32_128x256_TNT"});
  expect(math_pipe::unknown, {"nvjet_sss_128x256_TNT", "nvjet", "nvjet_sm90"});
}

TEST(pipe_of_kernel, knows_cutlass_3) {
  expect(math_pipe::fp16_tensor,
         {"cutlass3x_sm90_tensorop_s64x128x16gemm_f16_f16_f32_f16_f16_128x128x64_2x1x1_0_ttt_align8",
          "cutlass3x_sm90_tensorop_gemm_f16_f16_f32_f16_f32_128x128x64_2x1x1_0_ntn_align8"});
  expect(math_pipe::fp16_tensor_fp16,
         {"cutlass3x_sm90_tensorop_h64x128x16gemm_f16_f16_f16_void_f16_128x128x64_2x1x1_0_ttn_align8",
          "cutlass3x_sm90_tensorop_gemm_f16_f16_f16_f16_f16_128x256x64_1x2x1_0_tnn_align8"});
  expect(math_pipe::fp8_tensor,
         {"cutlass3x_sm90_tensorop_s64x128x32gemm_e4m3_e4m3_f32_bf16_bf16_64x128x128_2x1x1_0_tnt",
          "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int, int>, "
          "CollectiveMma<MainloopSm90, cutlass::float_e4m3_t, cute::TiledMMA<cute::MMA_Atom<"
          "cute::SM90_64x128x32_F32E4M3E4M3_SS_TN<1, 1>>>, cutlass::bfloat16_t>>>(P)"});
  expect(math_pipe::fp4_tensor,
         {"cutlass3x_sm100_bstensorop_s128x256x64gemm_block_scaled_ue4m3xe2m1_ue4m3xe2m1_f32_f16_f16_128"});
  expect(math_pipe::bf16_tensor,
         {"void cutlass::device_kernel<GemmUniversal<cute::tuple<int>, cutlass::bfloat16_t, "
          "cute::SM90_64x256x16_F32BF16BF16_SS<(cute::GMMA::Major)0>>>(P)"});
}

TEST(pipe_of_kernel, knows_attention_by_its_element_type) {
  expect(
      math_pipe::bf16_tensor,
      {"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, false, "
       "false, cutlass::bfloat16_t, pytorch_flash::Flash_kernel_traits<64>>, false>(Flash_fwd_params)",
       "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<"
       "flash::CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1>>, 128, cutlass::bfloat16_t, float>>>>(P)",
       "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<P>)",
       "void "
       "flashinfer::BatchPrefillWithPagedKVCacheKernel<flashinfer::KernelTraits<(flashinfer::MaskMode)1, "
       "128, __nv_bfloat16, __nv_fp8_e4m3, __nv_bfloat16, float, int>>(P)"});
  expect(
      math_pipe::fp16_tensor,
      {"void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4, cutlass::half_t>>(P)",
       "fmha_cutlassF_f16_aligned_64x128_rf_sm80(PyTorchMemEffAttention::AttentionKernel<P>)"});
  expect(math_pipe::fp8_tensor,
         {"void cutlass::device_kernel<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2, "
          "cutlass::float_e4m3_t, float>, flash::CollectiveEpilogueFwd<cutlass::bfloat16_t>>>(P)",
          "fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext",
          "fmhaSm100aKernel_QE4m3KvE2m1OE4m3H128PagedKvDenseP16VarSeqQ8Kv128PersistentSwapsAbForGen"});
  expect(math_pipe::fp32,
         {"void flashinfer::BatchDecodeWithPagedKVCacheKernel<(flashinfer::PosEncodingMode)0, 2, 8>(P)",
          "void vllm::paged_attention_v1_kernel<unsigned short, unsigned short, 128, 16>(float*)",
          "void flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<128, cutlass::half_t>>(P)"});
  // In FP32, tensor cores may or may not be used; cuDNN says f16 of every 16 bits.
  expect(math_pipe::unknown,
         {"fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float>)",
          "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_3_64x128x128_4x1x1_kernel0_0"});
}

TEST(pipe_of_kernel, knows_products_of_narrow_weights_by_what_they_are_widened_to) {
  expect(math_pipe::fp16_tensor,
         {"void marlin::Marlin<256, 1, 8, 8, 4, -1>(int4 const*, int4 const*, int4*, int4 const*)",
          "void marlin::Marlin<__half, 256, 1, 8, 8, 4, 8>(int4 const*)",
          "void marlin_moe_wna16::Marlin<1125899906910725l, 562949953487106l, 128, 4, 8, 4>(int4 const*)",
          "void vllm::awq::gemm_forward_4bit_cuda_m16nXk32<128>(int, int, __half*, int*, __half*)"});
  expect(math_pipe::bf16_tensor,
         {"void marlin_moe_wna16::Marlin<1125899906909960l, 562949953487106l, 1125899906909960l, 128>(int4*)",
          "void marlin_moe_wna16::Marlin<(long)1125899906909960, (long)562949953487106, (int)128>(int4*)",
          "bmm_Bfloat16_MxE2m1Bfloat16_Fp32_t128x8x256u2_s3_et128x8_m128x8x16"});
  expect(math_pipe::fp8_tensor,
         {"bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_cga1x1x1_16dp256b_rM_TN",
          "bmm_Bfloat16_E4m3E4m3_Fp32_t128x8x128u2_s8_et64x8_m64x8x32_c1x1x1_rM_TN_transOut",
          "void deep_gemm::fp8_gemm_kernel<4096u, 7168u, 64u, 128u>(float*)",
          "void deep_gemm::sm90_fp8_gemm_1d2d_impl<0u, 2112u, 7168u, 1u>(float*)"});
  expect(math_pipe::fp4_tensor, {"bmm_E2m1_E2m1E2m1_Fp32_bA16_t128x8x512_s6_et128x8_m128x8x64"});
  expect(math_pipe::fp16, {"void vllm::gptq::gemm_half_q_half_gptq_4bit_kernel<true, 4>(__half const*)"});
  expect(math_pipe::int8_dp4a, {"void mul_mat_vec_q<(ggml_type)12, 7, false>(void const*, void const*)"});
  expect(math_pipe::int8_tensor, {"void mul_mat_q<(ggml_type)8, 128, false>(char const*, int const*)"});
}

TEST(pipe_of_kernel, says_fp32_of_what_goes_element_by_element) {
  expect(math_pipe::fp32,
         {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::Half>>(int)",
          "void (anonymous namespace)::softmax_warp_forward<float, float, float, 7, false, false>(float*)",
          "void vllm::rms_norm_kernel<c10::BFloat16, 8, 2>(c10::BFloat16*, c10::BFloat16 const*)",
          "void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel<c10::BFloat16>, true>(P)",
          "triton_poi_fused_add_mul_0", "triton_red_fused_mean_pow_3"});
  expect(math_pipe::fp64, {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<double>>(P)"});
}

TEST(pipe_of_kernel, is_unknown_where_a_name_says_nothing) {
  expect(math_pipe::unknown,
         {"", "_", "gemm", "bmm_", "fused_moe_kernel", "triton_tem_fused_mm_relu_3", "matmul_kernel",
          "triton_mm_silu", "Cijk_Alik_Bljk_HHS_BH_MT256x256x64", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
          "Memcpy HtoD (Pageable -> Device)", "\xff\xfe", "s884", "h100", "i8"});
  std::string far(std::size_t{1} << 16, '_');
  far += "ampere_sgemm_1";
  expect(math_pipe::fp32, {far.c_str()});
}

}  // namespace
