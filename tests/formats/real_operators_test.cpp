// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The operator table of traces that other people recorded, against the same table computed in another way:
// straight from the JSON, with parents found by a stack of intervals, calls that fold into their callers by a
// representative, and memory by prefix sums. The numbers of some rows are written out too; they were computed
// by running the code of PyTorch's own key_averages() on the events. Then matrix products against TraceLens'
// table.
#include "formats/real_traces.hpp"

#include <varve/io.hpp>
#include <varve/report.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using nlohmann::json;

/// calls, CPU total and self, GPU total and self, CPU memory and self, GPU memory and self
using sums = std::array<std::int64_t, 9>;
/// name, on a device, annotation, shapes
using key = std::tuple<std::string, bool, bool, std::string>;
using table = std::map<key, sums>;

std::string unpacked(const std::string& path) {
  std::string out;
  gzFile file = gzopen(path.c_str(), "rb");
  std::vector<char> part(1 << 20);
  for (int n = 0; file != nullptr && (n = gzread(file, part.data(), 1 << 20)) > 0;) {
    out.append(part.data(), static_cast<std::size_t>(n));
  }
  gzclose(file);
  return out;
}

/// Microseconds in nanoseconds. A double of 1.5e12 µs is off by at most 0.12 ns.
std::int64_t nanoseconds(const json& number) {
  return number.is_number_integer() ? number.get<std::int64_t>() * 1000
                                    : std::llround(number.get<double>() * 1000);
}

struct record {
  std::string cat;
  std::string name;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::string thread;
  std::uint64_t id = 0;
  std::uint64_t correlation = 0;
  std::int64_t order = 0;
  std::string shapes;
  [[nodiscard]] bool is_op() const { return cat == "cpu_op"; }
  [[nodiscard]] bool is_call() const { return cat == "cuda_runtime" || cat == "cuda_driver"; }
  [[nodiscard]] bool is_activity() const {
    return cat == "kernel" || cat == "gpu_memcpy" || cat == "gpu_memset";
  }
  [[nodiscard]] bool is_host() const {
    return is_op() || is_call() || cat == "user_annotation" || cat == "overhead";
  }
};

struct memory_record {
  std::int64_t at = 0;
  std::int64_t bytes = 0;
  bool device = false;
};

class reference {
 public:
  explicit reference(const std::string& path) {
    const json document = json::parse(unpacked(path));
    for (const json& e : document.at("traceEvents")) {
      if (e.contains("cat") && e.contains("ts")) {
        read(e);
      }
    }
    std::stable_sort(memory_.begin(), memory_.end(),
                     [](const memory_record& a, const memory_record& b) { return a.at < b.at; });
    link();
  }

  [[nodiscard]] table rows(bool by_shape) const {
    table out;
    std::unordered_map<std::uint64_t, std::int64_t> launched;
    for (const record& r : records_) {
      if (r.is_activity() || r.cat == "gpu_user_annotation") {
        sums& s = out[{short_name(r.name), true, r.cat == "gpu_user_annotation", ""}];
        s[0] += 1;
        s[3] += r.end - r.begin;
        s[4] += r.end - r.begin;
        launched[r.is_activity() ? op_of(r) : 0] += r.end - r.begin;
      }
    }
    const std::vector<const record*> host = host_records();
    const std::size_t n = host.size();
    constexpr std::size_t nobody = ~std::size_t{0};
    std::vector<std::size_t> parent(n, nobody);
    std::vector<std::size_t> children(n, 0);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == 0 || thread_of(*host[i]) != thread_of(*host[i - 1])) {
        open.clear();
      }
      while (!open.empty() &&
             !(host[i]->begin < host[open.back()]->end && host[i]->end <= host[open.back()]->end)) {
        open.pop_back();
      }
      if (!open.empty()) {
        parent[i] = open.back();
        ++children[open.back()];
      }
      open.push_back(i);
    }
    // An only child of its parent's name becomes one with it; parents come first.
    std::vector<std::size_t> one(n);
    std::vector<std::int64_t> own(n);
    for (std::size_t i = 0; i < n; ++i) {
      one[i] = i;
      const auto found = host[i]->is_op() ? launched.find(host[i]->id) : launched.end();
      own[i] = found != launched.end() ? found->second : 0;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t p = parent[i] == nobody ? nobody : one[parent[i]];
      if (p != nobody && children[p] == 1 && short_name(host[p]->name) == short_name(host[i]->name)) {
        one[i] = p;
        children[p] = children[i];
        own[p] = own[i];
      }
    }
    std::vector<std::array<std::int64_t, 4>> inner(n);  // CPU, GPU, memory of the host, of devices
    std::vector<bool> covered(memory_.size(), false);
    for (std::size_t i = n; i-- > 0;) {
      if (one[i] != i) {
        continue;
      }
      const record& r = *host[i];
      std::int64_t memory[2] = {0, 0};
      const auto first = std::lower_bound(memory_.begin(), memory_.end(), r.begin,
                                          [](const memory_record& m, std::int64_t t) { return m.at < t; });
      for (auto m = first; m != memory_.end() && m->at <= r.end; ++m) {
        memory[m->device ? 1 : 0] += m->bytes;
        covered[static_cast<std::size_t>(m - memory_.begin())] = true;
      }
      const std::int64_t lasted = r.end - r.begin;
      const std::int64_t gpu = own[i] + inner[i][1];
      if (parent[i] != nobody) {
        auto& up = inner[one[parent[i]]];
        up[0] += lasted;
        up[1] += gpu;
        up[2] += memory[0];
        up[3] += memory[1];
      }
      sums& s = out[{short_name(r.name), false, r.cat == "user_annotation",
                     by_shape && !r.is_call() ? r.shapes : ""}];
      const std::array<std::int64_t, 9> one_call{1,
                                                 lasted,
                                                 lasted - inner[i][0],
                                                 gpu,
                                                 own[i],
                                                 memory[0],
                                                 memory[0] - inner[i][2],
                                                 memory[1],
                                                 memory[1] - inner[i][3]};
      for (std::size_t k = 0; k < one_call.size(); ++k) {
        s[k] += one_call[k];
      }
    }
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      if (!covered[i]) {
        sums& s = out[{"[memory]", false, false, ""}];
        const std::size_t at = memory_[i].device ? 7 : 5;
        s[0] += 1;
        s[at] += memory_[i].bytes;
        s[at + 1] += memory_[i].bytes;
      }
    }
    return out;
  }

 private:
  static std::string short_name(const std::string& name) {
    return name.rfind("ProfilerStep#", 0) == 0 ? "ProfilerStep*" : name;
  }

  /// As Python prints lists, a list of tensors as [].
  static std::string shapes_of(const json& dims) {
    std::string out;
    for (const json& d : dims) {
      out += out.empty() ? "[" : ", ";
      std::string sizes;
      for (const json& size : d) {
        sizes += size.is_array() ? "" : (sizes.empty() ? "" : ", ") + size.dump();
      }
      out += '[' + sizes + ']';
    }
    return out.empty() ? out : out + ']';
  }

  void read(const json& e) {
    const json args = e.value("args", json::object());
    record r;
    r.cat = e.at("cat").get<std::string>();
    std::transform(r.cat.begin(), r.cat.end(), r.cat.begin(),
                   [](char c) { return static_cast<char>(std::tolower(c)); });
    r.name = e.value("name", "");
    r.begin = nanoseconds(e.at("ts"));
    if (r.name == "[memory]") {
      memory_.push_back({r.begin, args.at("Bytes").get<std::int64_t>(), args.at("Device Type") == 1});
      return;
    }
    if (e.at("ph") != "X" || !(r.is_host() || r.is_activity() || r.cat == "gpu_user_annotation")) {
      return;
    }
    r.end = r.begin + nanoseconds(e.at("dur"));
    r.thread = e.at("tid").dump();
    r.id = args.value("External id", std::uint64_t{0});
    r.correlation = args.value("correlation", std::uint64_t{0});
    r.order = r.is_op() || r.cat == "user_annotation"
                  ? args.value("Ev Idx", args.value("Profiler Event Index", std::int64_t{0}))
                  : static_cast<std::int64_t>(records_.size());
    r.shapes = shapes_of(args.value("Input Dims", json::array()));
    linked_ |= (r.is_activity() || r.is_call()) && r.id != 0 && r.id != r.correlation;
    records_.push_back(std::move(r));
  }

  void link() {
    for (const record& r : records_) {
      if (r.is_op()) {
        thread_of_op_[r.id] = r.thread;
      }
    }
    // Without ids: the op with the latest begin of those around the middle of the call; of equal ones the
    // shorter, then the later.
    std::map<std::string, std::vector<const record*>> ops;
    for (const record& r : records_) {
      if (!linked_ && r.is_op()) {
        ops[r.thread].push_back(&r);
      }
    }
    for (auto& [thread, all] : ops) {
      std::stable_sort(all.begin(), all.end(), [](const record* a, const record* b) {
        return std::tuple{a->begin, -a->end, a->order} < std::tuple{b->begin, -b->end, b->order};
      });
    }
    for (const record& r : records_) {
      if (linked_ || !r.is_call()) {
        continue;
      }
      const std::vector<const record*>& all = ops[r.thread];
      const std::int64_t middle = r.begin + r.end;  // twice
      auto after = std::upper_bound(all.begin(), all.end(), middle,
                                    [](std::int64_t t, const record* op) { return t < 2 * op->begin; });
      op_of_correlation_[r.correlation] = 0;
      while (after != all.begin()) {
        const record& op = **--after;
        if (2 * op.end > middle || (2 * op.end == middle && 2 * op.begin == middle)) {
          op_of_correlation_[r.correlation] = op.id;
          break;
        }
      }
    }
    std::map<std::string, std::int64_t> steps;
    std::map<std::string, std::int64_t> marks;
    for (const record& r : records_) {
      if (r.is_op() || r.cat == "user_annotation") {
        ++marks[r.thread];
        steps[r.thread] += r.cat == "user_annotation" && r.name.rfind("ProfilerStep#", 0) == 0 ? 1 : 0;
      }
    }
    for (const auto& [thread, count] : marks) {
      if (main_.empty() || std::pair{steps[thread], count} > std::pair{steps[main_], marks[main_]}) {
        main_ = thread;
      }
    }
  }

  [[nodiscard]] std::uint64_t op_of(const record& r) const {
    if (linked_) {
      return r.id != r.correlation && thread_of_op_.count(r.id) != 0 ? r.id : 0;
    }
    const auto found = op_of_correlation_.find(r.correlation);
    return found != op_of_correlation_.end() ? found->second : 0;
  }

  [[nodiscard]] std::string thread_of(const record& r) const {
    if (r.is_op() || r.cat == "user_annotation") {
      return r.thread;
    }
    const auto found = r.is_call() ? thread_of_op_.find(op_of(r)) : thread_of_op_.end();
    return found != thread_of_op_.end() ? found->second : main_;
  }

  [[nodiscard]] std::vector<const record*> host_records() const {
    static const std::set<std::string> unlisted{"profiler::_record_function_enter",
                                                "profiler::_record_function_enter_new",
                                                "profiler::_record_function_exit",
                                                "aten::is_leaf",
                                                "aten::output_nr",
                                                "aten::_version"};
    std::vector<const record*> out;
    for (const record& r : records_) {
      if (r.is_host() && unlisted.count(r.name) == 0) {
        out.push_back(&r);
      }
    }
    std::stable_sort(out.begin(), out.end(), [&](const record* a, const record* b) {
      const auto place = [&](const record& r) {
        return std::tuple{thread_of(r), r.begin, -r.end, r.is_op() || r.cat == "user_annotation" ? 0 : 1,
                          r.order};
      };
      return place(*a) < place(*b);
    });
    return out;
  }

  std::vector<record> records_;
  std::vector<memory_record> memory_;
  std::unordered_map<std::uint64_t, std::string> thread_of_op_;
  std::unordered_map<std::uint64_t, std::uint64_t> op_of_correlation_;
  std::string main_;
  bool linked_ = false;
};

table rows_of(const std::vector<varve::operator_row>& rows) {
  table out;
  for (const varve::operator_row& r : rows) {
    const bool added = out.emplace(key{r.name, r.on_device, r.annotation, r.shapes},
                                   sums{r.calls, r.cpu_total, r.cpu_self, r.gpu_total, r.gpu_self,
                                        r.cpu_memory, r.cpu_memory_self, r.gpu_memory, r.gpu_memory_self})
                           .second;
    EXPECT_TRUE(added) << "two rows " << r.name << ' ' << r.shapes;
  }
  return out;
}

void expect_equal(const table& found, const table& expected) {
  for (const auto& [k, s] : expected) {
    const auto row = found.find(k);
    EXPECT_TRUE(row != found.end() && row->second == s)
        << std::get<0>(k) << ' ' << std::get<3>(k) << ": expected " << testing::PrintToString(s) << ", found "
        << (row == found.end() ? "no such row" : testing::PrintToString(row->second));
  }
  EXPECT_EQ(found.size(), expected.size());
}

struct expectation {
  const char* file;
  std::size_t rows;
  std::size_t rows_by_shape;
  std::int64_t self_cpu;  ///< of all rows of the host
  std::int64_t self_gpu;
};

class real_operators : public real_traces, public testing::WithParamInterface<expectation> {};
using real_operator_rows = real_traces;
using real_operator_work = real_traces;

TEST_P(real_operators, are_tabulated_as_by_key_averages) {
  const expectation& e = GetParam();
  const varve::report report = varve::analyze(read(e.file));
  const reference expected{path(e.file)};
  const table by_name = rows_of(report.operators.by_name);
  EXPECT_EQ(by_name.size(), e.rows);
  EXPECT_EQ(report.operators.by_shape.size(), e.rows_by_shape);
  std::int64_t cpu = 0;
  std::int64_t gpu = 0;
  for (const auto& [k, s] : by_name) {
    cpu += std::get<1>(k) ? 0 : s[2];
    gpu += std::get<1>(k) ? 0 : s[4];
  }
  EXPECT_EQ(cpu, e.self_cpu);
  EXPECT_EQ(gpu, e.self_gpu);
  expect_equal(by_name, expected.rows(false));
  expect_equal(rows_of(report.operators.by_shape), expected.rows(true));
}

INSTANTIATE_TEST_SUITE_P(
    files, real_operators,
    testing::Values(expectation{"h100-transformer-block", 53, 83, 2'826'000, 390'000},
                    expectation{"h100-qwen1.5-0.5b", 86, 154, 49'318'674, 31'905'473},
                    expectation{"b200-vllm-prefill", 114, 204, 87'412'863, 11'660'672},
                    expectation{"two-ranks.rank0", 397, 1053, 1'295'510'000, 607'225'000},
                    expectation{"two-ranks.rank1", 374, 1031, 1'300'859'000, 666'878'000},
                    expectation{"v100-cuda-graphs", 295, 1478, 932'613'000, 894'964'000}));

const varve::operator_row& row_named(const varve::report& r, const std::string& name) {
  static const varve::operator_row nothing;
  for (const varve::operator_row& row : r.operators.by_name) {
    if (row.name == name && !row.on_device) {
      return row;
    }
  }
  ADD_FAILURE() << "no row " << name;
  return nothing;
}

TEST_F(real_operator_rows, of_a_block_are_those_of_pytorch) {
  const varve::report r = varve::analyze(read("h100-transformer-block"));
  const varve::operator_row& attention = row_named(r, "aten::_native_multi_head_attention");
  EXPECT_EQ(attention.calls, 3);
  EXPECT_EQ(attention.cpu_total, 1'022'000);
  EXPECT_EQ(attention.cpu_self, 132'000);
  EXPECT_EQ(attention.gpu_total, 186'000);
  EXPECT_EQ(attention.gpu_self, 0);
  EXPECT_EQ(attention.gpu_memory, 18'874'368);
  EXPECT_EQ(attention.gpu_memory_self, -96'468'992);
  const varve::operator_row& step = row_named(r, "ProfilerStep*");
  EXPECT_EQ(step.calls, 3);
  EXPECT_EQ(step.cpu_total, 2'810'000);
  EXPECT_EQ(step.cpu_self, 91'000);
  EXPECT_EQ(step.gpu_total, 390'000);
  // div_ calls div_ and nothing else: three calls, not six.
  EXPECT_EQ(row_named(r, "aten::div_").calls, 3);
}

// --- Matrix products against TraceLens
// ----------------------------------------------------------------------

std::vector<std::string> fields(std::string line) {
  line.erase(std::remove(line.begin(), line.end(), '\r'), line.end());
  std::vector<std::string> out;
  std::istringstream in{line};
  for (std::string field; std::getline(in, field, ',');) {
    out.push_back(field);
  }
  return out;
}

/// The inputs of a product as the profiler shows them.
std::string shapes_of(const std::string& op, const std::string& batch, const std::string& m,
                      const std::string& n, const std::string& k) {
  const std::string a = m + ", " + k + "]";
  const std::string b = k + ", " + n + "]";
  if (op == "aten::bmm") {
    return "[[" + batch + ", " + a + ", [" + batch + ", " + b + "]";
  }
  return op == "aten::addmm" ? "[[" + n + "], [" + a + ", [" + b + ", [], []]" : "[[" + a + ", [" + b + "]";
}

TEST_F(real_operator_work, of_matrix_products_is_what_tracelens_says) {
  std::ifstream csv{file("h100-qwen1.5-0.5b.gemm.csv")};
  ASSERT_TRUE(csv);
  const varve::report r = varve::analyze(read("h100-qwen1.5-0.5b"));
  std::string line;
  std::getline(csv, line);
  ASSERT_EQ(fields(line), fields("op,batch,m,n,k,bias,dtype,gflop,moved_mib,flop_per_byte,tflops_mean,"
                                 "tbytes_s_mean,kernel_us_mean,kernel_us_sum,calls"));
  std::size_t rows = 0;
  while (std::getline(csv, line)) {
    const std::vector<std::string> f = fields(line);
    ASSERT_EQ(f.size(), 15U) << line;
    const std::string shapes = shapes_of(f[0], f[1], f[2], f[3], f[4]);
    const auto found = std::find_if(
        r.operators.by_shape.begin(), r.operators.by_shape.end(),
        [&](const varve::operator_row& row) { return row.name == f[0] && row.shapes == shapes; });
    ASSERT_NE(found, r.operators.by_shape.end()) << f[0] << ' ' << shapes;
    const varve::operator_row& row = *found;
    const double calls = std::stod(f[14]);
    const auto near = [](double value, const std::string& expected) {
      return std::fabs(value - std::stod(expected)) <= 1e-3 * std::stod(expected);
    };
    EXPECT_EQ(static_cast<double>(row.calls), calls) << line;
    EXPECT_EQ(row.calls_with_work, row.calls) << line;
    // By sm90_xmma_gemm_bf16bf16_bf16f32_f32_…, and by cutlass_80_simt_sgemm_….
    EXPECT_EQ(row.declared.pipe, f[6] == "float" ? varve::math_pipe::fp32 : varve::math_pipe::bf16_tensor)
        << line;
    const double flops = static_cast<double>(row.declared.flops) / calls;
    const double bytes = static_cast<double>(row.declared.bytes()) / calls;
    const double time = static_cast<double>(row.gpu_total);  // kernels, and the set of cuBLAS' workspace
    EXPECT_PRED2(near, flops / 1e9, f[7]) << line;
    EXPECT_PRED2(near, bytes / 1048576, f[8]) << line;
    EXPECT_PRED2(near, flops / bytes, f[9]) << line;
    EXPECT_PRED2(near, time / calls / 1e3, f[12]) << line;
    EXPECT_PRED2(near, time / 1e3, f[13]) << line;
    // TraceLens prints the mean of the calls' rates, which is a little more than the rate over all calls.
    EXPECT_PRED2(near, flops * calls / time / 1e3, f[10]) << line;
    EXPECT_PRED2(near, bytes * calls / time / 1e3, f[11]) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 5U);
}

TEST_F(real_operator_work, in_fp32_runs_where_kernels_names_say) {
  // sm90_xmma_gemm_f32f32_tf32f32_f32_… and cutlass_80_tensorop_s1688gemm_…. Three times mm 3,221,225,472,
  // two of bmm 268,435,456 each, addmm 1,073,741,824 + 2 · 4,294,967,296: 3 · 13,421,772,800.
  const varve::trace t = read("h100-transformer-block");
  std::int64_t flops = 0;
  for (const varve::range_work& w : t.works) {
    EXPECT_EQ(w.source, varve::work_source::shapes);
    if (w.declared.pipe == varve::math_pipe::tf32_tensor) {
      flops += w.declared.flops;
    } else {
      EXPECT_EQ(w.declared.flops, 0);
    }
  }
  EXPECT_EQ(flops, 40'265'318'400);
}

TEST_F(real_operator_work, adds_up_in_layers) {
  const varve::report r = varve::analyze(read("h100-qwen1.5-0.5b"));
  // All products: 48 · 51,581,550,592 + 72 · 18,756,927,488 + 24 · 51,581,550,592 + 24 · 18,756,927,488 of
  // linear layers, each counted once although linear calls addmm or matmul, which calls mm.
  EXPECT_EQ(row_named(r, "aten::linear").declared.flops, 5'514'536'681'472);
  std::int64_t in_linear_layers = 0;
  for (const varve::row& layer : r.layers) {
    in_linear_layers += layer.label == "Linear" ? layer.exclusive.declared.flops : 0;
  }
  EXPECT_EQ(in_linear_layers, 5'514'536'681'472);
}

}  // namespace
