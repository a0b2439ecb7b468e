// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What reading a PyTorch trace costs against a walk of simdjson's on-demand parser over the same file that
// takes name, category, times, process, thread and correlation of each event and keeps nothing (goal 7), and
// how time and memory grow with the file. Files are in memory. Rates are of the process's own CPU time, so
// that other programs on the machine matter less.
#include <varve/io.hpp>

#include <benchmark/benchmark.h>
#include <simdjson.h>

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "goals.hpp"
#include "make_trace.hpp"

namespace {

/// A made trace as a file in memory.
class trace_file {
 public:
  explicit trace_file(std::uint64_t bytes) : file_{::memfd_create("trace.json", 0)} {
    made_ = varve_bench::make_trace(bytes, [this](std::string_view text) {
      while (!text.empty()) {
        const ssize_t done = ::write(file_, text.data(), text.size());
        if (done <= 0) {
          std::abort();
        }
        text.remove_prefix(static_cast<std::size_t>(done));
      }
    });
  }
  trace_file(const trace_file&) = delete;
  trace_file& operator=(const trace_file&) = delete;
  ~trace_file() { ::close(file_); }

  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }
  [[nodiscard]] const varve_bench::made& about() const { return made_; }

 private:
  int file_;
  varve_bench::made made_;
};

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// A line of /proc/self/status in bytes.
double memory(std::string_view what) {
  std::ifstream status{"/proc/self/status"};
  for (std::string line; std::getline(status, line);) {
    if (line.compare(0, what.size(), what) == 0) {
      return std::strtod(line.c_str() + what.size() + 1, nullptr) * 1024;
    }
  }
  return 0;
}

/// From here on VmHWM is the peak of what follows.
void reset_peak() {
  ::malloc_trim(0);
  std::ofstream{"/proc/self/clear_refs"} << "5";
}

/// What one event gives; all of it is used, so that nothing can be left out.
struct sums {
  std::size_t text = 0;
  double time = 0;
  std::uint64_t id = 0;
};

void walk(const simdjson::padded_string& text) {
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document = parser.iterate(text);
  sums s;
  for (simdjson::ondemand::object event : document["traceEvents"].get_array()) {
    for (auto field : event) {
      const std::string_view key = field.unescaped_key();
      std::string_view string;
      double number = 0;
      std::uint64_t id = 0;
      if (key == "name" || key == "cat") {
        s.text += field.value().get(string) == simdjson::SUCCESS ? string.size() : 0;
      } else if (key == "ts" || key == "dur") {
        s.time += field.value().get(number) == simdjson::SUCCESS ? number : 0;
      } else if (key == "pid" || key == "tid") {
        s.id += field.value().get(id) == simdjson::SUCCESS ? id : 0;
      } else if (key == "args") {
        s.id += field.value()["correlation"].get(id) == simdjson::SUCCESS ? id : 0;
      }
    }
  }
  benchmark::DoNotOptimize(s);
}

enum class what { walk, import };

void add(const std::string& name, std::uint64_t bytes, int rounds, what work) {
  const auto run = [=](benchmark::State& state) {
    const trace_file file{bytes};
    const auto size = static_cast<double>(file.about().bytes);
    // Parsing only: the text is there. An import reads the file too.
    simdjson::padded_string text;
    if (work == what::walk) {
      text = simdjson::padded_string::load(file.path());
    }
    std::vector<double> times;
    reset_peak();
    const double before = memory("VmRSS:");
    for (auto _ : state) {
      const double begin = cpu_seconds();
      if (work == what::walk) {
        walk(text);
      } else {
        benchmark::DoNotOptimize(varve::read_pytorch(file.path()));
      }
      times.push_back(cpu_seconds() - begin);
    }
    std::sort(times.begin(), times.end());
    const double median = times[times.size() / 2];
    state.counters["MB/s"] = size / median / 1e6;
    state.counters["ns/byte"] = median * 1e9 / size;
    state.counters["events"] = static_cast<double>(file.about().events);
    state.counters["memory/byte"] = (memory("VmHWM:") - before) / size;
  };
  benchmark::RegisterBenchmark(name.c_str(), run)
      ->Iterations(rounds)
      ->Repetitions(3)
      ->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
  // Memory of each round is fresh, whatever its size: else small files would find theirs warm.
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20U);
  constexpr std::uint64_t megabyte = 1'000'000;
  add("walk 10 MB", 10 * megabyte, 9, what::walk);
  add("import 10 MB", 10 * megabyte, 9, what::import);
  add("walk 100 MB", 100 * megabyte, 3, what::walk);
  add("import 100 MB", 100 * megabyte, 3, what::import);
  add("walk 1 GB", 1000 * megabyte, 1, what::walk);
  add("import 1 GB", 1000 * megabyte, 1, what::import);
  return varve_bench::run(
      argc, argv,
      {{"7 import against walk, 10 MB (MB/s)", "import 10 MB", "walk 10 MB", "MB/s", 0.5, true},
       {"7 import against walk, 100 MB (MB/s)", "import 100 MB", "walk 100 MB", "MB/s", 0.5, true},
       {"7 import against walk, 1 GB (MB/s)", "import 1 GB", "walk 1 GB", "MB/s", 0.5, true},
       {"  import: time a byte, 100 MB against 10 MB", "import 100 MB", "import 10 MB", "ns/byte", 1.25},
       {"  import: time a byte, 1 GB against 10 MB", "import 1 GB", "import 10 MB", "ns/byte", 1.25},
       {"  import: bytes of memory a byte, 100 MB", "import 100 MB", "", "memory/byte", 0.5},
       {"  import: bytes of memory a byte, 1 GB", "import 1 GB", "", "memory/byte", 0.5}});
}
