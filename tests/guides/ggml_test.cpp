// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A graph of two layers for docs/guides/ggml.md, built anew for each pass as llama.cpp does it, with a node
// more in the prefill.
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "device.hpp"
#include "ggml_guide.hpp"

struct ggml_backend_cuda_context {};

const char* fails = "";

bool ggml_cuda_compute_forward(ggml_backend_cuda_context& /*ctx*/, ggml_tensor* dst) {
  if (std::strcmp(dst->name, fails) == 0) {
    return false;
  }
  launch(std::strstr(dst->name, "norm") != nullptr ? "rms_norm_f32" : "mul_mat_vec_q");
  return true;
}

extern "C" std::int32_t llama_decode(llama_context* /*ctx*/, llama_batch batch) {
  std::vector<std::string> names{"inp_embd"};
  for (const char* layer : {"0", "1"}) {
    if (batch.n_tokens > 1) {
      names.push_back(std::string{"KQ_mask-"} + layer);
    }
    names.push_back(std::string{"attn_norm-"} + layer);
    names.push_back(std::string{"ffn_out-"} + layer);
  }
  names.emplace_back("result_output");
  std::vector<ggml_tensor> tensors(names.size());
  std::vector<ggml_tensor*> nodes;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::strncpy(tensors[i].name, names[i].c_str(), sizeof(tensors[i].name) - 1);
    nodes.push_back(&tensors[i]);
  }
  static node_marks marks;
  ggml_backend_cuda_context ctx;
  return evaluate(marks, ctx, {static_cast<int>(nodes.size()), nodes.data()}) ? 0 : 1;
}

int main() {
  varve::session session;
  std::int32_t failed = decode(nullptr, {7}, 1);
  for (int i = 0; i < 3; ++i) {
    failed += decode(nullptr, {1}, 1);
  }
  const varve::report report = varve::analyze(session.stop());

  // A pass that fails in a layer leaves nothing open: no later range lies in that layer.
  varve::session failing;
  fails = "attn_norm-1";
  const bool told = decode(nullptr, {1}, 1) != 0;
  { const varve::phase after{varve::verify}; }
  const varve::trace trace = failing.stop();
  bool closed = false;
  for (const varve::range& r : trace.ranges) {
    closed = closed || (varve::label_text(trace, r.label) == "verify" && r.parent == varve::none);
  }
  varve::table_options options;
  options.depth = 0;
  options.fold_below = 0;
  options.sort = varve::sort_key::order;
  std::cout << to_table(report, options);
  // Each node is a row below its layer, once a pass; what belongs to no layer stands beside the layers.
  const varve::row* mask = report.find({"KQ_mask", {}, varve::decode});
  const varve::row* out = report.find({"ffn_out", {}, varve::decode});
  const varve::row* head = report.find({"result_output", {}, varve::decode});
  const bool right = mask == nullptr && out != nullptr && out->inclusive.calls == 3 &&
                     out->inclusive.launches == 3 && out->path.rfind("layer ", 0) == 0 && head != nullptr &&
                     head->inclusive.calls == 3 && head->path.find("layer") == std::string::npos;
  return failed == 0 && right && told && closed ? 0 : 1;
}
