// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Small traces of engines' passes with the answer worked out by hand: marked, nested, inferred, steady.
#include "formats/kineto_events.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;
using varve::pass_inference;

class passes : public kineto_events {
 protected:
  varve::report report(const varve::analyze_options& options = {}) { return varve::analyze(read(), options); }

  /// "decode / layer": phase and path of rows in which launches were made, with their number.
  static std::vector<std::string> rows(const varve::report& r) {
    std::vector<std::string> out;
    for (const varve::row& row : r.layers) {
      if (row.exclusive.launches > 0) {
        out.push_back(row.phase + ": " + row.path + " × " + std::to_string(row.exclusive.launches));
      }
    }
    return out;
  }
};

// --- Marked -----------------------------------------------------------------------------------------------

TEST_F(passes, vllm_0_13_with_new_and_cached_requests) {
  annotation("execute_new_2_cached_0", 0, 10);
  launch(2, 3, 8);
  annotation("execute_new_0_cached_2", 20, 30);
  launch(22, 23, 35);  // the device is done at 35: the pass lasts 15
  annotation("execute_new_1_cached_2", 40, 50);
  launch(42, 43, 48);
  EXPECT_THAT(phases(report()), ElementsAre("prefill: 1 passes, 2 sequences, 0 + 0 tokens, 10 us",
                                            "cached: 1 passes, 0 sequences, 0 + 0 tokens, 15 us",
                                            "new and cached: 1 passes, 0 sequences, 0 + 0 tokens, 10 us"));
}

TEST_F(passes, vllm_0_14_to_0_25) {
  annotation("execute_context_2(700)_generation_0(0)", 0, 10);
  launch(2, 3, 9);
  annotation("execute_context_0(0)_generation_2(2)", 10, 20);
  launch(12, 13, 19);
  annotation("execute_context_1(100)_generation_2(2)", 20, 30);
  launch(22, 23, 29);
  annotation("execute_context_0(0)_generation_3(3)", 30, 40);
  launch(32, 33, 39);
  const varve::report r = report();
  EXPECT_THAT(phases(r), ElementsAre("prefill: 1 passes, 2 sequences, 700 + 0 tokens, 10 us",
                                     "decode: 2 passes, 5 sequences, 0 + 5 tokens, 20 us",
                                     "mixed: 1 passes, 3 sequences, 100 + 2 tokens, 10 us"));
  EXPECT_EQ(r.quality.inferred_passes, pass_inference::not_inferred);
  EXPECT_FALSE(r.quality.implicit_pass);
}

TEST_F(passes, vllm_0_26_with_lengths) {
  annotation("execute_3_context_1(sq2sk2sqsq4sqsk4)_generation_1(sq1sk9sqsq1sqsk9)", 0, 10);
  launch(2, 3, 9);
  EXPECT_THAT(phases(report()), ElementsAre("mixed: 1 passes, 2 sequences, 2 + 1 tokens, 10 us"));
}

TEST_F(passes, sglang_of_april_2026) {
  annotation("step[prefill bs=1 toks=100]", 0, 10);
  launch(2, 3, 9);
  annotation("step[decode bs=4]", 10, 20);
  launch(12, 13, 19);
  EXPECT_THAT(phases(report()), ElementsAre("extend: 1 passes, 0 sequences, 0 + 0 tokens, 10 us",
                                            "decode: 1 passes, 4 sequences, 0 + 4 tokens, 10 us"));
}

TEST_F(passes, sglang_from_may_2026_with_speculative_decoding) {
  annotation("scheduler.run_batch", 0, 20);
  annotation("step[EXTEND bs=1 toks=100]", 1, 10);
  launch(2, 3, 9);
  annotation("draft_extend", 10, 20);  // the draft model's prefill
  annotation("step[EXTEND bs=1 toks=100]", 11, 19);
  launch(12, 13, 18);
  annotation("step[DRAFT_LOOP raw_bs=3 bs=4 topk=1]", 20, 30);
  launch(22, 23, 29);
  annotation("step[TARGET_VERIFY bs=3 g_sq=12 g_sqsq=48 g_sqsk=1200 g_sk=300]", 30, 40);
  launch(32, 33, 39);
  annotation("step[DRAFT_EXTEND_V2 bs=3]", 40, 50);
  launch(42, 43, 49);
  EXPECT_THAT(phases(report()), ElementsAre("prefill: 1 passes, 1 sequences, 100 + 0 tokens, 9 us",
                                            "draft: 3 passes, 7 sequences, 100 + 0 tokens, 28 us",
                                            "verify: 1 passes, 3 sequences, 0 + 12 tokens, 10 us"));
}

TEST_F(passes, atom_keeps_dummies_apart) {
  annotation("dummy_prefill[bs=1 tok=512 ctx=512]", 0, 10);
  launch(2, 3, 9);
  annotation("decode[bs=3/4 tok=3 d=3]", 10, 20);
  launch(12, 13, 19);
  EXPECT_THAT(phases(report()), ElementsAre("warm-up: 1 passes, 0 sequences, 0 + 0 tokens, 10 us",
                                            "decode: 1 passes, 3 sequences, 0 + 3 tokens, 10 us"));
}

TEST_F(passes, what_is_not_understood_is_an_op_and_counted_once_each) {
  annotation("execute_context_1(2)_generation_0(0)", 0, 10);
  annotation("execute_context_1(2)_generation_0(0)!", 10, 20);
  annotation("execute_context_1(2)_generation_0(0)!", 20, 30);
  launch(22, 23, 29);
  const varve::trace t = read();
  EXPECT_THAT(losses(t),
              UnorderedElementsAre(Pair(HasSubstr("look like a pass of vLLM, but whose numbers"), 2U)));
  EXPECT_THAT(rows(varve::analyze(t)), ElementsAre(": execute_context_1(2)_generation_0(0)! × 1"));
}

// --- One in another ---------------------------------------------------------------------------------------

TEST_F(passes, a_profiler_step_around_passes_is_an_op) {
  annotation("ProfilerStep#3", 0, 30);
  launch(1, 2, 4);
  annotation("execute_context_0(0)_generation_2(2)", 5, 15);
  module("Layer_0", 6, 14);
  launch(7, 8, 14);
  annotation("ProfilerStep#4", 30, 40);  // also where it holds none: nothing is counted twice
  launch(32, 33, 36);
  const varve::report r = report();
  EXPECT_THAT(phases(r), ElementsAre("decode: 1 passes, 2 sequences, 0 + 2 tokens, 10 us"));
  EXPECT_THAT(rows(r), UnorderedElementsAre(": ProfilerStep × 2", "decode: Layer 0 × 1"));
}

TEST_F(passes, profiler_steps_alone_are_passes) {
  annotation("ProfilerStep#3", 0, 10);
  launch(2, 3, 9);
  annotation("ProfilerStep#4", 10, 20);
  launch(12, 13, 19);
  const varve::report r = report();
  EXPECT_THAT(phases(r), ElementsAre("ProfilerStep: 2 passes, 0 sequences, 0 + 0 tokens, 20 us"));
  EXPECT_EQ(r.quality.inferred_passes, pass_inference::not_inferred);
}

TEST_F(passes, of_two_engine_passes_in_one_another_the_inner_one_gets_its_work) {
  annotation("decode[bs=2 tok=2 d=2]", 0, 30);
  launch(2, 3, 5);
  annotation("draft[0/1 bs=2]", 10, 20);
  launch(12, 13, 15);
  launch(14, 15, 17);
  EXPECT_THAT(rows(report()), UnorderedElementsAre("decode:  × 1", "draft:  × 2"));
}

// --- Inferred ---------------------------------------------------------------------------------------------

TEST_F(passes, are_calls_of_the_model_that_repeats_with_what_follows_it) {
  for (const int at : {0, 100}) {
    module("Model_0", at, at + 40);
    module("Block_0", at + 1, at + 20);
    launch(at + 2, at + 3, at + 5);
    module("Block_1", at + 20, at + 39);
    launch(at + 22, at + 23, at + 25);
    module("LogitsProcessor_0", at + 42, at + 50);
    launch(at + 43, at + 44, at + 46);
    module("Sampler_0", at + 50, at + 60);
    launch(at + 51, at + 52, at + 55);
    launch(at + 70, at + 71, at + 75);  // after the last module: in no pass
  }
  const varve::report r = report();
  // [0, 60) and [100, 160).
  EXPECT_THAT(phases(r), ElementsAre("forward: 2 passes, 0 sequences, 0 + 0 tokens, 120 us"));
  EXPECT_EQ(r.quality.inferred_passes, pass_inference::module_calls);
  EXPECT_FALSE(r.quality.implicit_pass);
  EXPECT_THAT(rows(r),
              UnorderedElementsAre("forward: Model 0 / Block 0 × 2", "forward: Model 0 / Block 1 × 2",
                                   "forward: LogitsProcessor 0 × 2", "forward: Sampler 0 × 2", ":  × 2"));
  EXPECT_THAT(varve::to_table(r), HasSubstr("inferred from the calls of the outermost module"));
}

TEST_F(passes, do_not_take_in_what_may_open_the_next_one) {
  module("Vision_0", 0, 10);  // seen before the model: then the one after it may belong to the next pass
  module("Model_0", 10, 40);
  module("Block_0", 11, 20);
  module("Block_1", 20, 39);
  launch(12, 13, 15);
  module("Sampler_0", 40, 50);
  module("Vision_0", 50, 60);
  module("Sampler_0", 60, 70);  // behind it: where it belongs is not known either
  const varve::report r = report();
  EXPECT_THAT(phases(r), ElementsAre("forward: 1 passes, 0 sequences, 0 + 0 tokens, 40 us"));  // [10, 50)
}

TEST_F(passes, are_inferred_from_one_call_only_if_it_holds_blocks_that_repeat) {
  module("Model_0", 0, 40);
  module("Block_0", 1, 20);
  launch(2, 3, 5);
  module("Head_0", 20, 39);
  EXPECT_EQ(report().quality.inferred_passes, pass_inference::not_inferred);
  module("Model_0", 0, 40);
  module("Block_0", 1, 20);
  launch(2, 3, 5);
  module("Block_1", 20, 39);
  EXPECT_EQ(report().quality.inferred_passes, pass_inference::module_calls);
  module("Dropout_0", 0, 10);  // a module without others inside is no model, however often it is called
  launch(2, 3, 5);
  module("Dropout_0", 10, 20);
  module("Dropout_0", 20, 30);
  EXPECT_EQ(report().quality.inferred_passes, pass_inference::not_inferred);
}

TEST_F(passes, are_of_the_threads_that_call_the_largest_model) {
  const auto call = [&](const std::string& model, int thread) {
    for (const int at : {0, 100}) {
      module(model, at, at + 40, thread);
      module("Block_0", at + 1, at + 20, thread);
      launch(at + 2, at + 3, at + 5, thread);
      if (model != "Compose_0") {
        module("Block_1", at + 20, at + 39, thread);
      }
    }
  };
  call("Compose_0", 50);  // prepares data
  call("Model_0", 51);
  call("Model_1", 52);  // a replica
  EXPECT_THAT(phases(report()), ElementsAre("forward: 4 passes, 0 sequences, 0 + 0 tokens, 160 us"));
}

TEST_F(passes, stay_inside_the_annotation_around_the_model) {
  annotation("all", 0, 200);
  for (const int at : {0, 100}) {
    annotation("stage", at + 1, at + 50);
    module("Model_0", at + 2, at + 40);
    module("Part_0", at + 3, at + 20);
    launch(at + 4, at + 5, at + 7);
    module("Sampler_0", at + 60, at + 70);
  }
  const varve::report r = report();  // [2, 40) and [102, 140)
  EXPECT_THAT(phases(r), ElementsAre("forward: 2 passes, 0 sequences, 0 + 0 tokens, 76 us"));
  EXPECT_THAT(rows(r), ElementsAre("forward: Model 0 / Part 0 × 2"));
}

TEST_F(passes, are_the_annotations_around_each_call_of_the_model) {
  for (const int at : {0, 100}) {
    annotation("My Forward", at, at + 60);
    module("Model_0", at + 2, at + 40);
    module("Part_0", at + 3, at + 20);
    launch(at + 4, at + 5, at + 7);
  }
  const varve::report r = report();
  EXPECT_THAT(phases(r), ElementsAre("My Forward: 2 passes, 0 sequences, 0 + 0 tokens, 120 us"));
  EXPECT_EQ(r.quality.inferred_passes, pass_inference::module_calls);
}

TEST_F(passes, are_annotations_that_repeat_and_hold_most_launches) {
  for (const int at : {0, 100, 200}) {
    annotation("step", at, at + 50);
    annotation("part", at + 10, at + 20);
    launch(at + 12, at + 13, at + 15);
    launch(at + 22, at + 23, at + 25);
    annotation("other", at + 60, at + 70);
    launch(at + 62, at + 63, at + 65);
  }
  const varve::report r = report();  // 6 of 9 launches
  EXPECT_THAT(phases(r), ElementsAre("step: 3 passes, 0 sequences, 0 + 0 tokens, 150 us"));
  EXPECT_EQ(r.quality.inferred_passes, pass_inference::repeated_annotations);
  EXPECT_THAT(rows(r), UnorderedElementsAre("step: part × 3", "step:  × 3", ": other × 3"));
  EXPECT_THAT(varve::to_table(r), HasSubstr("an annotation that repeats and holds most launches"));
}

TEST_F(passes, are_not_inferred_from_less) {
  const auto inferred = [&](const std::string& name, int times, int launches_outside) {
    for (int i = 0; i < times; ++i) {
      annotation(name, 100 * i, 100 * i + 50);
      launch(100 * i + 10, 100 * i + 11, 100 * i + 20);
    }
    for (int i = 0; i < launches_outside; ++i) {
      launch(1000 + 10 * i, 1001 + 10 * i, 1002 + 10 * i);
    }
    const varve::report r = report();
    EXPECT_NE(r.quality.implicit_pass, r.quality.inferred_passes != pass_inference::not_inferred);
    return r.quality.inferred_passes;
  };
  EXPECT_EQ(inferred("step", 3, 2), pass_inference::repeated_annotations);  // 3 of 5 launches
  EXPECT_EQ(inferred("step", 3, 3), pass_inference::not_inferred);          // 3 of 6: no more than half
  EXPECT_EQ(inferred("step", 2, 0), pass_inference::not_inferred);          // twice
  EXPECT_EQ(inferred("## Call CompiledFxGraph f123 ##", 5, 0), pass_inference::not_inferred);
  EXPECT_EQ(inferred("nccl:all_reduce", 5, 0), pass_inference::not_inferred);
}

TEST_F(passes, are_inferred_where_times_are_far_from_zero_too) {
  const std::string base = R"("baseTimeNanoseconds": 1751410836000000000, "traceEvents": [)";
  std::string events;
  for (int i = 0; i < 3; ++i) {
    const std::string at = std::to_string(100 * i);
    const std::string inside = std::to_string(100 * i + 10);
    events +=
        (i == 0 ? "" : ",") +
        (R"({"ph": "X", "cat": "user_annotation", "name": "step", "pid": 5, "tid": 5, "ts": )" + at) +
        R"(.5, "dur": 50}, {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": )" +
        inside + R"(, "dur": 1})";
  }
  const varve::trace t = varve::read_pytorch(write("far.json", "{" + base + events + "]}"));
  EXPECT_EQ(t.inferred_passes, pass_inference::repeated_annotations);
}

// Hugging Face's generate(): a prefill, then a token a pass. What is launched between them is its own.
class generates : public passes {
 protected:
  void model(int at) {
    module("Llama_0", at, at + 40);
    module("Block_0", at + 1, at + 20);
    launch(at + 2, at + 3, at + 5);
    module("Block_1", at + 20, at + 39);
    launch(at + 22, at + 23, at + 25);
  }
  void three_calls(int at) {
    for (const int call : {at + 5, at + 55, at + 105}) {
      model(call);
      launch(call + 41, call + 42, call + 44);  // the next token's choice
    }
  }
};

TEST_F(generates, a_prefill_and_then_decodes_in_each_annotation_of_that_name) {
  annotation("generate", 0, 160);
  three_calls(0);
  annotation("generate", 200, 360);
  three_calls(200);
  model(400);  // not in it
  const varve::trace t = read();
  EXPECT_EQ(t.inferred_prefills, 2U);
  const varve::report r = varve::analyze(t);
  EXPECT_THAT(phases(r), ElementsAre("prefill: 2 passes, 0 sequences, 0 + 0 tokens, 80 us",
                                     "decode: 4 passes, 0 sequences, 0 + 0 tokens, 160 us",
                                     "forward: 1 passes, 0 sequences, 0 + 0 tokens, 40 us"));
  EXPECT_THAT(rows(r), UnorderedElementsAre(": generate × 6", "prefill: Llama 0 / Block 0 × 2",
                                            "prefill: Llama 0 / Block 1 × 2", "decode: Llama 0 / Block 0 × 4",
                                            "decode: Llama 0 / Block 1 × 4", "forward: Llama 0 / Block 0 × 1",
                                            "forward: Llama 0 / Block 1 × 1"));
  EXPECT_EQ(r.quality.inferred_passes, pass_inference::module_calls);
  EXPECT_EQ(r.quality.inferred_prefills, 2);
  EXPECT_THAT(varve::to_table(r), HasSubstr("the first call of the model is taken as the prefill"));
}

TEST_F(generates, is_found_by_its_frame_too_and_in_one_another_counts_once) {
  annotation("generate", 0, 360);
  for (const int at : {1, 181}) {  // both frames are in the one annotation
    frame("torch/utils/_contextlib.py(115): decorate_context", at, at + 171);
    frame("/usr/lib/python3/site-packages/transformers/generation/utils.py(2215): generate", at + 1,
          at + 170);
    three_calls(at + 5);
  }
  EXPECT_THAT(phases(report()), ElementsAre("prefill: 1 passes, 0 sequences, 0 + 0 tokens, 40 us",
                                            "decode: 5 passes, 0 sequences, 0 + 0 tokens, 200 us"));
  frame("torch/profiler/profiler.py(770): __enter__", 0, 0);
  frame("transformers/generation/utils.py(2215): generate", 0, 160);
  three_calls(0);
  const varve::report r = report();
  EXPECT_THAT(phases(r), ElementsAre("prefill: 1 passes, 0 sequences, 0 + 0 tokens, 40 us",
                                     "decode: 2 passes, 0 sequences, 0 + 0 tokens, 80 us"));
  EXPECT_THAT(rows(r), testing::Contains(": generate × 3"));
  EXPECT_TRUE(r.operators.by_name.empty());  // a frame is none
}

TEST_F(generates, that_were_running_when_recording_began_have_no_prefill) {
  // Open frames are recorded as beginning then; of the second call the first pass is seen.
  frame("server.py(1): handle", 0, 400);
  frame("transformers/generation/utils.py(2215): generate", 1, 160);
  frame("torch/profiler/profiler.py(770): start", 2, 4);
  three_calls(0);
  frame("transformers/generation/utils.py(2215): generate", 200, 360);
  three_calls(200);
  const varve::trace t = read();
  EXPECT_EQ(t.inferred_prefills, 1U);
  const varve::report r = varve::analyze(t);
  EXPECT_THAT(phases(r), ElementsAre("decode: 5 passes, 0 sequences, 0 + 0 tokens, 200 us",
                                     "prefill: 1 passes, 0 sequences, 0 + 0 tokens, 40 us"));
  EXPECT_EQ(r.quality.clipped_ranges, 1);
  // One that begins in an annotation, or after a frame has ended, began while it was recorded.
  annotation("ProfilerStep#0", 0, 170);
  frame("transformers/generation/utils.py(2215): generate", 1, 160);
  three_calls(0);
  EXPECT_EQ(read().inferred_prefills, 1U);
}

TEST_F(generates, and_other_loops_are_found_in_steps_of_the_profiler) {
  annotation("ProfilerStep#0", 0, 190);
  annotation("generate", 1, 180);
  three_calls(5);
  annotation("ProfilerStep#1", 200, 390);
  three_calls(205);
  const varve::trace t = read();
  EXPECT_EQ(t.inferred_passes, pass_inference::module_calls);
  EXPECT_THAT(phases(varve::analyze(t)), ElementsAre("prefill: 1 passes, 0 sequences, 0 + 0 tokens, 40 us",
                                                     "decode: 2 passes, 0 sequences, 0 + 0 tokens, 80 us",
                                                     "forward: 3 passes, 0 sequences, 0 + 0 tokens, 120 us"));
  EXPECT_THAT(t.collectors.at(0).detail,
              HasSubstr("steps of the profiler, taken as ops around the inferred passes 2"));
  // One call of the model a step, or steps of training: the steps are the passes.
  for (const bool trains : {false, true}) {
    annotation("ProfilerStep#0", 0, 190);
    model(5);
    if (trains) {
      model(50);
      annotation("Optimizer.step#SGD.step", 150, 160);
    }
    annotation("ProfilerStep#1", 200, 390);
    model(205);
    EXPECT_THAT(phases(report()), ElementsAre("ProfilerStep: 2 passes, 0 sequences, 0 + 0 tokens, 380 us"));
  }
}

TEST_F(generates, of_one_token_have_a_prefill_alone) {
  annotation("generate", 0, 50);
  model(5);
  annotation("generate", 100, 150);
  model(105);
  EXPECT_THAT(phases(report()), ElementsAre("prefill: 2 passes, 0 sequences, 0 + 0 tokens, 80 us"));
}

TEST_F(generates, is_no_other_frame) {
  for (const char* name : {"transformers/generation/utils.py(2215): _sample", "my/utils.py(1): generate",
                           "mytransformers/generation/utils.py(1): generate", "): generate",
                           "transformers/generation/utils.py(x): generate"}) {
    frame(name, 0, 160);
    three_calls(0);
    const varve::report r = report();
    EXPECT_THAT(phases(r), ElementsAre("forward: 3 passes, 0 sequences, 0 + 0 tokens, 120 us")) << name;
    EXPECT_EQ(r.quality.inferred_prefills, 0);
  }
}

// --- Steady -----------------------------------------------------------------------------------------------

class steady : public passes {
 protected:
  varve::report of(const std::vector<std::string>& texts) {
    int at = 0;
    for (const std::string& text : texts) {
      annotation(text, at, at + 10);
      launch(at + 2, at + 3, at + 9);
      at += 10;
    }
    varve::analyze_options options;
    options.steady = true;
    return report(options);
  }
  static std::string decode(int sequences) {
    const std::string n = std::to_string(sequences);
    return "execute_context_0(0)_generation_" + n + "(" + n + ")";
  }
};

TEST_F(steady, sets_apart_other_batches_and_the_first_pass_after_a_change) {
  // Usual: 4, five times. Steady are those whose predecessor in decode had 4 too: the 3rd, 4th and 7th, with
  // 12 sequences. The ramp: 2, the first 4, 3, and the 4 after it: 13. A prefill between is no change.
  const varve::report r = of({decode(2), decode(4), decode(4), "execute_context_1(9)_generation_0(0)",
                              decode(4), decode(3), decode(4), decode(4)});
  EXPECT_THAT(phases(r), UnorderedElementsAre("decode: 3 passes, 12 sequences, 0 + 12 tokens, 30 us",
                                              "decode (ramp): 4 passes, 13 sequences, 0 + 13 tokens, 40 us",
                                              "prefill: 1 passes, 1 sequences, 9 + 0 tokens, 10 us"));
  EXPECT_TRUE(r.quality.steady);
  EXPECT_EQ(r.quality.ramp_passes, 4);
  EXPECT_EQ(r.quality.unsized_kinds, 1);  // one prefill alone
  const std::string table = varve::to_table(r);
  EXPECT_THAT(table, HasSubstr("Steady view: 4 passes are apart as \"(ramp)\""));
  EXPECT_THAT(table, HasSubstr("1 kind of pass (prefill) carries no batch that repeats: "));
}

TEST_F(steady, names_the_first_eight_kinds_in_which_it_cannot_tell) {
  std::vector<std::string> dummies{"execute_new_0_cached_4", "execute_new_1_cached_4"};
  EXPECT_THAT(varve::to_table(of(dummies)),
              HasSubstr("2 kinds of pass (cached, new and cached) carry no batch that repeats: "));
  varve::analyze_options options;
  options.steady = true;
  varve::read_options rules;
  rules.rules.emplace_back();
  rules.rules.back().pattern = "^kind (\\w+)$";
  for (int i = 0; i < 9; ++i) {
    annotation("kind " + std::string(1, static_cast<char>('a' + i)), 10 * i, 10 * i + 10);
  }
  const varve::report r = varve::analyze(read(rules), options);
  EXPECT_EQ(r.quality.unsized_kinds, 9);
  EXPECT_THAT(r.quality.unsized_names, ElementsAre("a", "b", "c", "d", "e", "f", "g", "h"));
  EXPECT_THAT(varve::to_table(r), HasSubstr("9 kinds of pass (a, b, c, d, e, f, g, h, …) carry no batch"));
}

TEST_F(steady, changes_nothing_where_it_cannot_tell) {
  // Three of 4 sequences, but never two in a row.
  EXPECT_THAT(phases(of({decode(4), decode(2), decode(4), decode(3), decode(4)})),
              ElementsAre("decode: 5 passes, 17 sequences, 0 + 17 tokens, 50 us"));
  const varve::report without =
      of({"execute_new_0_cached_4", "execute_new_0_cached_4", "execute_new_0_cached_4"});
  EXPECT_THAT(phases(without), ElementsAre("cached: 3 passes, 0 sequences, 0 + 0 tokens, 30 us"));
  EXPECT_EQ(without.quality.ramp_passes, 0);
  EXPECT_EQ(without.quality.unsized_kinds, 1);
  const varve::report unmarked = of({"no pass"});
  EXPECT_TRUE(unmarked.quality.implicit_pass);
  EXPECT_EQ(unmarked.quality.unsized_kinds, 1);
  EXPECT_THAT(unmarked.quality.unsized_names, ElementsAre("(trace)"));
}

TEST_F(steady, of_batches_that_are_as_common_the_larger_is_the_usual_one) {
  EXPECT_THAT(phases(of({decode(2), decode(2), decode(2), decode(4), decode(4), decode(4)})),
              UnorderedElementsAre("decode: 2 passes, 8 sequences, 0 + 8 tokens, 20 us",
                                   "decode (ramp): 4 passes, 10 sequences, 0 + 10 tokens, 40 us"));
}

TEST_F(steady, drafts_that_were_accepted_do_not_make_a_ramp) {
  EXPECT_THAT(phases(of({"execute_context_0(0)_generation_2(4)", "execute_context_0(0)_generation_2(6)",
                         "execute_context_0(0)_generation_2(8)"})),
              UnorderedElementsAre("decode: 2 passes, 4 sequences, 0 + 14 tokens, 20 us",
                                   "decode (ramp): 1 passes, 2 sequences, 0 + 4 tokens, 10 us"));
}

TEST_F(steady, leaves_warm_up_and_capture_as_they_are) {
  const varve::report r = of({"capture_8_FULL", "capture_4_FULL", "dummy_decode[bs=1]"});
  EXPECT_THAT(phases(r), UnorderedElementsAre("capture: 2 passes, 0 sequences, 0 + 0 tokens, 20 us",
                                              "warm-up: 1 passes, 0 sequences, 0 + 0 tokens, 10 us"));
  EXPECT_EQ(r.quality.unsized_kinds, 0);
}

TEST_F(steady, is_no_business_of_a_report_without_it) {
  for (int i = 0; i < 4; ++i) {
    annotation(decode(4), 10 * i, 10 * i + 10);
    launch(10 * i + 2, 10 * i + 3, 10 * i + 9);
  }
  const varve::report r = report();
  EXPECT_EQ(r.phases.size(), 1U);
  EXPECT_FALSE(r.quality.steady);
}

}  // namespace
