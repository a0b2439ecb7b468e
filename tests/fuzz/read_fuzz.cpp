// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Any bytes as a file: a clear error, or a trace or report that can be analysed and printed.
#include <varve/budget.hpp>
#include <varve/compare.hpp>
#include <varve/io.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void require(bool holds, int line = __builtin_LINE()) {
  if (!holds) {
    std::fprintf(stderr, "read_fuzz.cpp:%d: does not hold\n", line);
    __builtin_trap();
  }
}

bool fits(std::uint32_t index, std::size_t size) { return index == varve::none || index < size; }

/// Of a thread or stream: the last two numbers mean none, and one beyond the table.
bool names(std::uint16_t index, std::size_t size) { return index < size || index >= varve::narrow_none - 1; }

/// What analyze() and the writers rely on. What varve wrote itself is read as it was, `own`, and repaired by
/// analyze().
void check(const varve::trace& t, bool own) {
  for (std::size_t i = 0; i < t.ranges.size(); ++i) {
    const varve::range& r = t.ranges[i];
    require(own ? fits(r.label, t.labels.size()) : r.begin <= r.end && r.label < t.labels.size());
    require(r.parent == varve::none || r.parent < i);
    require(names(r.thread, t.threads.size()));
  }
  for (std::size_t i = 0; i < t.calls.size(); ++i) {
    require((own || t.calls.begin[i] <= t.calls.end[i]) && fits(t.calls.range[i], t.ranges.size()));
    require(names(t.calls.thread[i], t.threads.size()));
  }
  for (std::size_t i = 0; i < t.activities.size(); ++i) {
    const bool kernel = t.activities.kind[i] == varve::activity_kind::kernel;
    require(own || t.activities.begin[i] <= t.activities.end[i]);
    const std::uint32_t name = t.activities.name[i];
    require((own ? fits(name, t.strings.size()) : name < t.strings.size()) &&
            names(t.activities.stream[i], t.streams.size()));
    require(fits(t.activities.node[i], t.graph_nodes.size()));
    require(fits(t.activities.detail[i], kernel ? t.shapes.size() : t.bytes.size()));
  }
  const varve::operator_columns& o = t.operators;
  require(o.end.size() == o.size() && o.kind.size() == o.size() && o.parent.size() == o.size() &&
          o.range.size() == o.size() && o.thread.size() == o.size());
  for (std::size_t i = 0; i < o.size(); ++i) {
    require(o.kind[i] < t.operator_kinds.size());
    require(o.parent[i] == varve::none || o.parent[i] < i);
    require(fits(o.range[i], t.ranges.size()));
  }
  require(own || t.operator_of_call.size() == (o.size() != 0 ? t.calls.size() : 0));
  require(own || t.operator_of_activity.size() == (o.size() != 0 ? t.activities.size() : 0));
  for (const std::uint32_t op : t.operator_of_activity) {
    require(fits(op, o.size()));
  }
  for (const varve::loss& l : t.losses) {
    require(own || (!l.what.empty() && l.count > 0));
  }
}

/// What is made of a report, whatever it says.
void use(const varve::report& r) {
  static_cast<void>(varve::to_table(r));
  varve::compare_options quick;
  quick.resamples = 99;
  const varve::comparison same = varve::compare(r, r, quick);
  static_cast<void>(varve::to_table(same));
  static_cast<void>(varve::to_markdown(same));
  static_cast<void>(varve::to_json(same));
  const varve::budget draft = varve::draft_budget(r);
  static_cast<void>(varve::to_json(draft));
  const varve::budget_result kept = varve::check(r, draft, &r);
  require(kept.entries.size() == draft.entries.size());
  std::ostringstream out;
  varve::write_junit(out, kept, draft.source);
}

template <class Read>
void try_to(Read&& read) {
  try {
    read();
  } catch (const varve::error& e) {
    // What a reader may answer; whatever the parser refuses, its place is found.
    require(std::string{e.what()}.find("is not valid JSON;") == std::string::npos);
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer looks for
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int file = ::memfd_create("fuzz.json", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) {
    std::abort();
  }
  varve::read_options options;
  options.max_unpacked = std::uint64_t{1} << 26U;
  try_to([&] { static_cast<void>(varve::identify(path)); });
  try_to([&] {
    const varve::trace t = varve::read_pytorch(path, options);
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    check(t, text.find("\"varve\"") != std::string_view::npos);
    const varve::report report = varve::analyze(t);
    use(report);
    varve::table_options operators;
    operators.by = varve::view::operators;
    operators.by_shape = true;
    static_cast<void>(varve::to_table(report, operators));
    static_cast<void>(varve::to_json(report));
    varve::analyze_options steady;
    steady.steady = true;
    static_cast<void>(varve::analyze(t, steady));
  });
  try_to([&] { use(varve::read_report(path, options)); });
  return 0;
}
