// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "make_trace.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace varve_bench {

namespace {

/// An operator of a layer that launches one kernel.
struct step {
  const char* module;  // whose call holds it
  const char* frame;   // the Python frame between
  const char* outer;   // the operator as the engine calls it
  const char* inner;   // the one that launches
  const char* inputs;  // what both say about their inputs
  const char* kernel;
  const char* shape;
  int microseconds;
};

constexpr const char* linear_inputs =
    R"("Concrete Inputs": ["", "", ""], "Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16"], )"
    R"("Input Strides": [[4096, 1], [1, 4096], [1]], "Input Dims": [[16, 4096], [4096, 4096], [4096]])";
constexpr const char* norm_inputs =
    R"("Concrete Inputs": ["", "", "", "1.0000000000000001e-05"], "Input type": ["c10::BFloat16", )"
    R"("c10::BFloat16", "c10::BFloat16", "Scalar"], "Input Strides": [[4096, 1], [4096, 1], [1], []], )"
    R"("Input Dims": [[16, 4096], [16, 4096], [4096], []])";
constexpr const char* attention_inputs =
    R"("Concrete Inputs": ["", "", "", "", ""], "Input type": ["c10::BFloat16", "c10::BFloat16", )"
    R"("c10::BFloat16", "c10::BFloat16", "int"], "Input Strides": [[4096, 128, 1], [1024, 128, 1], )"
    R"([1024, 128, 1], [4096, 128, 1], [1]], "Input Dims": [[16, 32, 128], [16, 8, 128], [16, 8, 128], )"
    R"([16, 32, 128], [16]])";

constexpr const char* gemm =
    "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8>("
    "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8::Params)";
constexpr const char* norm =
    "void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, c10::BFloat16*, "
    "c10::BFloat16 const*, float, int, int)";
constexpr const char* elementwise =
    "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<c10::BFloat16, "
    "c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> "
    ">(int, at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, "
    "at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul>)";
constexpr const char* flash =
    "void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4, false, false, "
    "cutlass::bfloat16_t>, false, false, false, false, true, true, false>(Flash_fwd_params)";

constexpr const char* small_shape =
    R"("registers per thread": 32, "shared memory": 0, "blocks per SM": 0.121212, "warps per SM": 3.878788, )"
    R"("grid": [16, 1, 1], "block": [1024, 1, 1], "est. achieved occupancy %": 6)";
constexpr const char* gemm_shape =
    R"("registers per thread": 168, "shared memory": 98304, "blocks per SM": 0.484848, "warps per SM": )"
    R"(1.939394, "grid": [64, 1, 1], "block": [128, 1, 1], "est. achieved occupancy %": 3)";

constexpr std::array<step, 10> layer{{
    {"RMSNorm", "vllm/model_executor/layers/layernorm.py(88): forward_cuda", "_C::fused_add_rms_norm",
     "_C::fused_add_rms_norm", norm_inputs, norm, small_shape, 3},
    {"QKVParallelLinear", "vllm/model_executor/layers/linear.py(474): forward", "aten::linear", "aten::addmm",
     linear_inputs, gemm, gemm_shape, 14},
    {"RotaryEmbedding", "vllm/model_executor/layers/rotary_embedding.py(141): forward_cuda",
     "_C::rotary_embedding", "_C::rotary_embedding", attention_inputs, elementwise, small_shape, 3},
    {"Attention", "vllm/attention/layer.py(201): forward", "vllm::unified_attention_with_output",
     "_C_cache_ops::reshape_and_cache_flash", attention_inputs, elementwise, small_shape, 3},
    {"Attention", "vllm/attention/backends/flash_attn.py(654): forward",
     "vllm::unified_attention_with_output", "_vllm_fa2_C::varlen_fwd", attention_inputs, flash, gemm_shape,
     12},
    {"RowParallelLinear", "vllm/model_executor/layers/linear.py(1196): forward", "aten::linear",
     "aten::addmm", linear_inputs, gemm, gemm_shape, 11},
    {"RMSNorm", "vllm/model_executor/layers/layernorm.py(88): forward_cuda", "_C::fused_add_rms_norm",
     "_C::fused_add_rms_norm", norm_inputs, norm, small_shape, 3},
    {"MergedColumnParallelLinear", "vllm/model_executor/layers/linear.py(474): forward", "aten::linear",
     "aten::addmm", linear_inputs, gemm, gemm_shape, 40},
    {"SiluAndMul", "vllm/model_executor/layers/activation.py(68): forward_cuda", "_C::silu_and_mul",
     "_C::silu_and_mul", norm_inputs, elementwise, small_shape, 4},
    {"RowParallelLinear", "vllm/model_executor/layers/linear.py(1196): forward", "aten::linear",
     "aten::addmm", linear_inputs, gemm, gemm_shape, 22},
}};
constexpr int layers = 32;

constexpr std::string_view head = R"({
  "schemaVersion": 1,
  "deviceProperties": [
    {
      "id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85017755648,
      "computeMajor": 9, "computeMinor": 0, "numSms": 132
    }
  ],
  "cupti_version": 22,
  "record_shapes": 1,
  "with_stack": 1,
  "cuda_runtime_version": 12040,
  "cuda_driver_version": 12040,
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1751410836000000000,
  "traceEvents": [
  {
    "name": "process_name", "ph": "M", "ts": 1000000000.000, "pid": 4200, "tid": 0,
    "args": {
      "name": "python3"
    }
  })";
constexpr std::string_view tail = R"(
  ],
  "traceName": "made.pt.trace.json"
}
)";

class maker {
 public:
  made run(std::uint64_t bytes, const std::function<void(std::string_view)>& write) {
    text_ = head;
    for (int pass = 0; out_.bytes + text_.size() + tail.size() < bytes; ++pass) {
      one_pass(pass);
      out_.bytes += text_.size();
      write(text_);
      text_.clear();
    }
    text_ += tail;
    out_.bytes += text_.size();
    write(text_);
    return out_;
  }

 private:
  void number(std::int64_t value) { text_ += std::to_string(value); }

  /// Nanoseconds as microseconds with three decimals.
  void time(std::int64_t ns) {
    number(ns / 1000);
    const std::string rest = std::to_string(1000 + ns % 1000);
    text_ += '.';
    text_.append(rest, 1, 3);
  }

  void begin_event(const char* cat, std::string_view name, int process, int thread, std::int64_t begin,
                   std::int64_t duration) {
    ++out_.events;
    text_ += ",\n  {\n    \"ph\": \"X\", \"cat\": \"";
    text_.append(cat).append("\", \"name\": \"").append(name).append("\", \"pid\": ");
    number(process);
    text_ += ", \"tid\": ";
    number(thread);
    text_ += ",\n    \"ts\": ";
    time(begin);
    text_ += ", \"dur\": ";
    time(duration);
    text_ += ",\n    \"args\": {\n      ";
  }
  void end_event() { text_ += "\n    }\n  }"; }

  void argument(const char* key, std::int64_t value, const char* after = ", ") {
    text_.append("\"").append(key).append("\": ");
    number(value);
    text_ += after;
  }

  void frame(std::string_view name, std::int64_t begin, std::int64_t duration, int module = -1) {
    begin_event("python_function", name, 4200, 4200, begin, duration);
    argument("Python parent id", python_id_);
    argument("Python id", ++python_id_);
    if (module >= 0) {
      argument("Python module id", module);
    }
    argument("Ev Idx", ++index_, "");
    end_event();
  }

  void annotation(const std::string& name, std::int64_t begin, std::int64_t duration) {
    begin_event("user_annotation", name, 4200, 4200, begin, duration);
    argument("External id", ++external_);
    argument("Record function id", 0);
    argument("Ev Idx", ++index_, "");
    end_event();
  }

  void operation(const char* name, const char* inputs, std::int64_t begin, std::int64_t duration) {
    begin_event("cpu_op", name, 4200, 4200, begin, duration);
    argument("External id", ++external_);
    argument("Record function id", 0);
    text_.append(inputs).append(", ");
    argument("Ev Idx", ++index_, "");
    end_event();
  }

  void flow(const char* ph, int process, int thread, std::int64_t when) {
    ++out_.events;
    text_.append(",\n  {\n    \"ph\": \"").append(ph).append("\", \"id\": ");
    number(correlation_);
    text_ += ", \"pid\": ";
    number(process);
    text_ += ", \"tid\": ";
    number(thread);
    text_ += ", \"ts\": ";
    time(when);
    text_ += ",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"";
    text_ += *ph == 'f' ? ", \"bp\": \"e\"\n  }" : "\n  }";
  }

  void launch(const step& s, std::int64_t begin) {
    ++correlation_;
    begin_event("cuda_runtime", "cudaLaunchKernel", 4200, 4200, begin, 4321);
    argument("External id", external_);
    argument("cbid", 211);
    argument("correlation", correlation_, "");
    end_event();
    flow("s", 4200, 4200, begin);
    device_ = std::max(device_ + 800, begin + 6000);
    const std::int64_t duration = std::int64_t{1000} * s.microseconds + correlation_ % 64 * 32;
    begin_event("kernel", s.kernel, 0, 7, device_, duration);
    argument("External id", external_);
    argument("queued", 0);
    argument("device", 0);
    argument("context", 1);
    argument("stream", 7);
    argument("correlation", correlation_);
    text_ += s.shape;
    end_event();
    flow("f", 0, 7, device_);
    device_ += duration;
    ++out_.kernels;
  }

  void one_step(const step& s, int instance, std::int64_t begin) {
    frame(std::string{"nn.Module: "} + s.module + "_" + std::to_string(instance), begin, 38'500, instance);
    frame("torch/nn/modules/module.py(1743): _call_impl", begin + 400, 37'700);
    frame("vllm/model_executor/custom_op.py(24): forward", begin + 900, 36'800);
    frame(s.frame, begin + 1500, 35'900);
    operation(s.outer, s.inputs, begin + 4000, 30'000);
    frame("<built-in method _get_tracing_state of PyCapsule object at 0x7fe1b8d5c9f0>", begin + 2000, 113);
    frame("torch/_ops.py(1116): __call__", begin + 3000, 32'000);
    operation(s.inner, s.inputs, begin + 6000, 26'000);
    launch(s, begin + 20'000);
    operation("aten::empty",
              R"("Concrete Inputs": ["[16, 4096]", "15", "", "", "False", ""], "Input type": )"
              R"(["ScalarList", "Scalar", "", "", "Scalar", ""], "Input Strides": [[], [], [], [], [], []], )"
              R"("Input Dims": [[], [], [], [], [], []])",
              begin + 8000, 2500);
  }

  void one_pass(int pass) {
    constexpr std::int64_t step_ns = 40'000;
    constexpr auto layer_ns = static_cast<std::int64_t>(layer.size()) * step_ns + 5000;
    constexpr std::int64_t pass_ns = layers * layer_ns + 60'000;
    annotation("ProfilerStep#" + std::to_string(pass), host_, pass_ns + 30'000);
    annotation("execute_context_0(0)_generation_16(16)", host_ + 5000, pass_ns);
    frame("nn.Module: LlamaForCausalLM_0", host_ + 10'000, pass_ns - 20'000, 0);
    for (int i = 0; i < layers; ++i) {
      const std::int64_t begin = host_ + 20'000 + i * layer_ns;
      frame("nn.Module: LlamaDecoderLayer_" + std::to_string(i), begin, layer_ns - 1000, i);
      for (std::size_t k = 0; k < layer.size(); ++k) {
        one_step(layer[k], 2 * i + (k >= 5 ? 1 : 0), begin + 1000 + static_cast<std::int64_t>(k) * step_ns);
      }
    }
    ++correlation_;
    begin_event("cuda_runtime", "cudaStreamSynchronize", 4200, 4200, host_ + pass_ns, 20'000);
    argument("cbid", 131);
    argument("correlation", correlation_, "");
    end_event();
    host_ += pass_ns + 40'000;
  }

  std::string text_;
  made out_;
  std::int64_t host_ = 1'428'625'731'896'179;
  std::int64_t device_ = 0;
  std::int64_t correlation_ = 0;
  std::int64_t external_ = 0;
  std::int64_t python_id_ = 0;
  std::int64_t index_ = 0;
};

}  // namespace

made make_trace(std::uint64_t bytes, const std::function<void(std::string_view)>& write) {
  return maker{}.run(bytes, write);
}

}  // namespace varve_bench
