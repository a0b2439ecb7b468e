// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "ceilings/measure.hpp"
#include "ceilings/streams.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace varve::ceilings_of_gpu {

namespace {

struct product_type {
  const char* name;
  math_pipe pipe;
  element factors;
  element result;
  cudaDataType_t factor_type;
  cudaDataType_t result_type;
  cublasComputeType_t compute;
  std::int64_t factor_bytes;
};

constexpr product_type types[] = {
    {"FP16 tensor", math_pipe::fp16_tensor, element::f16, element::f16, CUDA_R_16F, CUDA_R_16F,
     CUBLAS_COMPUTE_32F, 2},
    {"BF16 tensor", math_pipe::bf16_tensor, element::bf16, element::bf16, CUDA_R_16BF, CUDA_R_16BF,
     CUBLAS_COMPUTE_32F, 2},
    {"TF32 tensor", math_pipe::tf32_tensor, element::f32, element::f32, CUDA_R_32F, CUDA_R_32F,
     CUBLAS_COMPUTE_32F_FAST_TF32, 4},
    {"FP32", math_pipe::fp32, element::f32, element::f32, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 4},
    {"FP8 tensor", math_pipe::fp8_tensor, element::fp8, element::bf16, CUDA_R_8F_E4M3, CUDA_R_16BF,
     CUBLAS_COMPUTE_32F, 1},
};

using library = owner<cublasLtHandle_t, &cublasLtDestroy>;
using description = owner<cublasLtMatmulDesc_t, &cublasLtMatmulDescDestroy>;
using layout = owner<cublasLtMatrixLayout_t, &cublasLtMatrixLayoutDestroy>;
using preference = owner<cublasLtMatmulPreference_t, &cublasLtMatmulPreferenceDestroy>;

constexpr std::int64_t workspace_bytes = std::int64_t{64} << 20U;

layout square(cudaDataType_t type, std::int64_t order) {
  cublasLtMatrixLayout_t made = nullptr;
  check(cublasLtMatrixLayoutCreate(&made, type, static_cast<std::uint64_t>(order),
                                   static_cast<std::uint64_t>(order), order),
        "cublasLtMatrixLayoutCreate");
  return layout{made};
}

/// result = leftᵀ · right, by columns: both factors are read along their columns, as engines lay out weights.
class product {
 public:
  product(const gpu& device, cublasLtHandle_t lt, const product_type& type, std::int64_t order)
      : device_{device},
        lt_{lt},
        type_{type},
        order_{order},
        factor_{square(type.factor_type, order)},
        result_{square(type.result_type, order)},
        left_{allocate(order * order * type.factor_bytes)},
        right_{allocate(order * order * type.factor_bytes)},
        out_{allocate(order * order * static_cast<std::int64_t>(sizeof(float)))},
        workspace_{allocate(workspace_bytes)} {
    cublasLtMatmulDesc_t made = nullptr;
    check(cublasLtMatmulDescCreate(&made, type.compute, CUDA_R_32F), "cublasLtMatmulDescCreate");
    how_.reset(made);
    const cublasOperation_t transposed = CUBLAS_OP_T;
    check(cublasLtMatmulDescSetAttribute(made, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed),
          "cublasLtMatmulDescSetAttribute");
    if (type.factors == element::fp8) {
      const std::int8_t fast =
          1;  // sums as the tensor cores make them; else some are brought to FP32 between
      check(cublasLtMatmulDescSetAttribute(made, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast),
            "cublasLtMatmulDescSetAttribute");
    }
    const int all = device.about().multiprocessors;
    check(launch_noise(left_.get(), type.factors, order * order, 1, all, device.stream()),
          "the kernel for noise");
    check(launch_noise(right_.get(), type.factors, order * order, 2, all, device.stream()),
          "the kernel for noise");
  }

  /// Chooses the fastest of the ways that cuBLAS proposes. False where it has none.
  bool choose() {
    cublasLtMatmulPreference_t made = nullptr;
    check(cublasLtMatmulPreferenceCreate(&made), "cublasLtMatmulPreferenceCreate");
    const preference wanted{made};
    const auto bytes = static_cast<std::uint64_t>(workspace_bytes);
    check(cublasLtMatmulPreferenceSetAttribute(made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
                                               sizeof bytes),
          "cublasLtMatmulPreferenceSetAttribute");
    std::array<cublasLtMatmulHeuristicResult_t, 8> proposed{};
    int count = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        lt_, how_.get(), factor_.get(), factor_.get(), result_.get(), result_.get(), made,
        static_cast<int>(proposed.size()), proposed.data(), &count);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_ARCH_MISMATCH) {
      return false;
    }
    check(status, "cublasLtMatmulAlgoGetHeuristic");
    constexpr double together = 1;  // second, of slow devices; the first proposed is cuBLAS's favourite
    double best = std::numeric_limits<double>::infinity();
    double spent = 0;
    for (int i = 0; i < count && spent < together; ++i) {
      const cublasLtMatmulAlgo_t& algorithm = proposed[static_cast<std::size_t>(i)].algo;
      if (proposed[static_cast<std::size_t>(i)].state != CUBLAS_STATUS_SUCCESS ||
          multiply(algorithm) != CUBLAS_STATUS_SUCCESS) {
        continue;
      }
      const auto once = [&] { check(multiply(algorithm), "cublasLtMatmul"); };
      if (!chosen_) {
        device_.settle(once);  // else the first would lose by its clock
      }
      const double time = device_.seconds(2, once);
      spent += 1.5 * time;  // with the one before
      if (time < best) {
        best = time;
        chosen_ = algorithm;
      }
    }
    return chosen_.has_value();
  }

  void run() const { check(multiply(*chosen_), "cublasLtMatmul"); }

  /// Four elements against double. The noise makes them about sqrt(order) / 3 in size, and no two are alike:
  /// a tenth of that is more than any of the types is wrong by.
  [[nodiscard]] bool is_right() const {
    const auto n = static_cast<std::size_t>(order_);
    for (const std::int64_t i : {std::int64_t{0}, order_ - 1}) {
      const std::vector<float> a = fetch(left_.get(), type_.factors, i * order_, n);
      for (const std::int64_t j : {std::int64_t{0}, order_ - 1}) {
        const std::vector<float> b = fetch(right_.get(), type_.factors, j * order_, n);
        double sum = 0;
        for (std::size_t k = 0; k < n; ++k) {
          sum += static_cast<double>(a[k]) * static_cast<double>(b[k]);
        }
        const double found = static_cast<double>(fetch(out_.get(), type_.result, i + j * order_, 1).front());
        if (!(std::abs(found - sum) <= std::sqrt(static_cast<double>(order_)) / 3 / 10)) {
          return false;
        }
      }
    }
    return true;
  }

 private:
  cublasStatus_t multiply(const cublasLtMatmulAlgo_t& algorithm) const {
    const float one = 1;
    const float zero = 0;
    return cublasLtMatmul(lt_, how_.get(), &one, left_.get(), factor_.get(), right_.get(), factor_.get(),
                          &zero, out_.get(), result_.get(), out_.get(), result_.get(), &algorithm,
                          workspace_.get(), static_cast<std::size_t>(workspace_bytes), device_.stream());
  }

  [[nodiscard]] static std::int64_t bytes_of(element type) {
    return type == element::f32 ? 4 : type == element::fp8 ? 1 : 2;
  }

  /// `count` elements from the one at `from` on.
  [[nodiscard]] std::vector<float> fetch(const void* matrix, element type, std::int64_t from,
                                         std::size_t count) const {
    const device_memory there = allocate(static_cast<std::int64_t>(count * sizeof(float)));
    check(launch_widen(static_cast<float*>(there.get()),
                       static_cast<const char*>(matrix) + from * bytes_of(type), type,
                       static_cast<std::int64_t>(count), device_.about().multiprocessors, device_.stream()),
          "the kernel that widens");
    std::vector<float> out(count);
    check(cudaMemcpyAsync(out.data(), there.get(), count * sizeof(float), cudaMemcpyDeviceToHost,
                          device_.stream()),
          "cudaMemcpyAsync");
    check(cudaStreamSynchronize(device_.stream()), "cudaStreamSynchronize");
    return out;
  }

  const gpu& device_;
  cublasLtHandle_t lt_;
  const product_type& type_;
  std::int64_t order_;
  layout factor_;
  layout result_;
  description how_;
  device_memory left_;
  device_memory right_;
  device_memory out_;
  device_memory workspace_;
  std::optional<cublasLtMatmulAlgo_t> chosen_;
};

}  // namespace

std::vector<measurement> measure_products(const gpu& device, std::int64_t order, int samples,
                                          std::string& notes) {
  cublasLtHandle_t made = nullptr;
  check(cublasLtCreate(&made), "cublasLtCreate");
  const library lt{made};
  std::vector<measurement> out;
  for (const product_type& type : types) {
    product p{device, made, type, order};
    if (!p.choose()) {
      notes += std::string{type.name} + ": cuBLAS has no such product on this device\n";
      continue;
    }
    measurement m = device.measure(type.name, type.pipe, product_flops(order), samples, [&] { p.run(); });
    if (!p.is_right()) {
      throw std::runtime_error{std::string{type.name} + ": cuBLAS multiplies wrong, so nothing is measured"};
    }
    out.push_back(std::move(m));
  }
  return out;
}

}  // namespace varve::ceilings_of_gpu
