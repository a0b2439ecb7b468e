// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cli/report.hpp"

#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "formats/table/text.hpp"

#include <varve/io.hpp>

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <new>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace varve::cli {

namespace {

report analyze_file(const std::string& path, const read_options& options, const report_arguments& asked) {
  trace t = read_pytorch(path, options);
  if (asked.model.description) {
    describe(t, *asked.model.description, asked.model.options);
  }
  return analyze(t, asked.analysis);
}

bool is_comparison(const std::string& path) {
  constexpr std::string_view begin = "{\"varve_comparison\"";
  std::string found(begin.size(), '\0');
  std::ifstream{path, std::ios::binary}.read(found.data(), static_cast<std::streamsize>(found.size()));
  return found == begin;
}

}  // namespace

report read(const std::string& path, const report_arguments& asked) {
  if (!asked.counters.empty()) {
    report_arguments alone = asked;
    alone.counters.clear();
    report r = read(path, alone);
    if (identify(asked.counters) == file_kind::report_json) {  // options of how to read traces aren't for it
      alone = {};
      alone.most_bytes = asked.most_bytes;
    }
    add_counted(r, read(asked.counters, alone));
    return r;
  }
  const analyze_options& analysis = asked.analysis;
  progress shown{path};
  read_options options;
  options.progress = std::ref(shown);
  options.rules = asked.rules;
  options.captures = asked.captures;
  options.layers = asked.layer_count;
  options.max_unpacked = asked.most_bytes.value_or(options.max_unpacked);
  switch (identify(path)) {
    case file_kind::pytorch:
      return analyze_file(path, options, asked);
    case file_kind::report_json: {
      for (const auto& [given, option] :
           {std::pair{analysis.by_batch, "--by-batch"},
            {analysis.steady, "--steady"},
            {!asked.rules.empty(), "--phase-rule, --layer-rule or --ignore-rule"},
            {!asked.captures.empty(), "--captures"},
            {asked.layer_count != 0, "--layers-count"},
            {asked.model.description.has_value(), "--model"},
            {analysis.ceilings.has_value(), "--device"},
            {analysis.clock > 0, "--clock"}}) {
        if (given) {
          complain(path + ": is a report already, so " + option + " changes nothing");
        }
      }
      report r = read_report(path, options);
      if (analysis.unprofiled_wall) {
        r.unprofiled_wall = analysis.unprofiled_wall;
      }
      return r;
    }
    case file_kind::unknown:
      break;
  }
  if (is_comparison(path)) {
    throw error{path + ": is a comparison, as varve diff writes it, and no report; give what it was made of"};
  }
  const int first = std::ifstream{path, std::ios::binary}.get();
  if (first == std::ifstream::traits_type::eof() ||
      std::string_view{"{[ \t\r\n\xEF\x1F"}.find(static_cast<char>(first)) != std::string_view::npos) {
    return analyze_file(path, options, asked);  // which says what is wrong with it, and where
  }
  throw error{path +
              ": is neither a PyTorch profiler trace nor a report that varve report --json wrote; export "
              "a trace with torch.profiler's export_chrome_trace()"};
}

table_options table_of(const report_arguments& asked, int stream) {
  table_options options = asked.table;
  const bool to_file = !asked.output.empty();
  options.width = asked.width ? *asked.width : to_file ? 0 : terminal_width(stream);
  options.colour = asked.colour == when::always ||
                   (asked.colour == when::automatic && !to_file && terminal_colours(stream));
  return options;
}

namespace {

/// Whether `work` on a file succeeded; where it did not, says why.
template <class Work>
bool attempt(const std::string& path, Work&& work) {
  try {
    work();
    return true;
  } catch (const error& e) {
    complain(e.what());
  } catch (const std::bad_alloc&) {
    complain(path + ": needs more memory than there is");
  }
  return false;
}

/// A line each.
void write_lines(output& to, const std::vector<report>& reports) {
  std::ostream out{&to};
  out.exceptions(std::ios::badbit);
  for (const report& r : reports) {
    write_json(out, r);
    out.put('\n');
  }
}

/// Of one file after the other, so that memory is one report's; a file's output waits until all inputs are
/// read, since it may be one of them.
int run_json(const report_arguments& asked) {
  const bool to_file = !asked.output.empty();
  int code = success;
  std::vector<report> read_so_far;
  output standard;
  for (const std::string& path : asked.files) {
    if (!attempt(path, [&] { read_so_far.push_back(read(path, asked)); })) {
      code = unreadable;
    }
    if (!to_file) {
      write_lines(standard, read_so_far);
      read_so_far.clear();
    }
  }
  if (!read_so_far.empty()) {
    output file{asked.output};
    write_lines(file, read_so_far);
    file.close();
  }
  return code;
}

}  // namespace

void complain(std::string_view text) { std::fprintf(stderr, "varve: %s\n", table::printable(text).c_str()); }

int run(const report_arguments& asked) {
  if (asked.json) {
    return run_json(asked);
  }
  const table_options options = table_of(asked, STDOUT_FILENO);
  const bool several = asked.files.size() > 1;
  int code = success;
  bool first = true;
  std::vector<report> ranks;
  std::string collected;  // a file's output waits until all inputs are read: it may be one of them
  for (const std::string& path : asked.files) {
    std::string text;
    const bool done = attempt(path, [&] {
      report r = read(path, asked);
      const bool named = !several || r.source == path;
      text = (first ? "" : "\n") + (named ? "" : table::printable(path) + ":\n") + to_table(r, options);
      if (several && asked.table.header) {
        ranks.push_back(std::move(r));
      }
      first = false;
    });
    code = done ? code : unreadable;
    if (asked.output.empty()) {
      write_standard_output(text);
    } else {
      collected += text;
    }
  }
  if (const std::string together = to_ranks_table(ranks, options); !together.empty()) {
    if (asked.output.empty()) {
      write_standard_output('\n' + together);
    } else {
      collected += '\n' + together;
    }
  }
  if (!collected.empty()) {
    write_file(asked.output, collected);
  }
  return code;
}

}  // namespace varve::cli
