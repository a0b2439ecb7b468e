// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cli/run.hpp"

#include "cli/calibrate_layers.hpp"
#include "cli/engine.hpp"
#include "cli/images.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "inject/counters_text.hpp"
#include "inject/device_text.hpp"
#include "inject/model_text.hpp"
#include "inject/variables.hpp"

#include <varve/io.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace varve::cli {

namespace {

namespace fs = std::filesystem;

/// A folder of our own that is gone at the end, but for what is kept.
class run_folder {
 public:
  run_folder() {
    std::string name = (fs::temp_directory_path() / "varve-run-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw error{name + ": cannot be made: " + std::generic_category().message(errno)};
    }
    path_ = name;
  }
  run_folder(const run_folder&) = delete;
  run_folder& operator=(const run_folder&) = delete;
  ~run_folder() {
    std::error_code ignored;
    if (kept_.empty()) {
      fs::remove_all(path_, ignored);
    }
    for (fs::directory_iterator i{path_, ignored}; i != fs::directory_iterator{}; i.increment(ignored)) {
      if (kept_.count(i->path()) == 0) {
        fs::remove_all(i->path(), ignored);
      }
    }
  }
  [[nodiscard]] const fs::path& path() const noexcept { return path_; }
  /// A file in it, if it is there (still). Says so, once.
  void keep(const fs::path& file) {
    std::error_code failed;
    if (fs::exists(file, failed) && kept_.insert(file).second) {
      complain(file.string() + " is kept");
    }
  }

 private:
  fs::path path_;
  std::set<fs::path> kept_;
};

/// A library to inject: beside the tool in a build, in the library folder of an installation.
std::optional<fs::path> find_library(const char* name) {
  std::error_code failed;
  const fs::path tool = fs::read_symlink("/proc/self/exe", failed).parent_path();
  for (const char* const place : {VARVE_INJECT_FOLDERS}) {
    if (const fs::path found = fs::weakly_canonical(tool / place / name, failed);
        fs::is_regular_file(found, failed)) {
      return found;
    }
  }
  return std::nullopt;
}

std::string rules_text(const std::vector<naming_rule>& rules) {
  std::string out;
  for (const naming_rule& rule : rules) {
    out += rule.as == naming_rule::kind::phase ? 'p' : rule.as == naming_rule::kind::layer ? 'l' : 'i';
    out += rule.pattern + inject::field_end + rule.name + inject::rule_end;
  }
  return out;
}

/// What the engine's programs load first: what they do without us, then what sees their products. Nothing
/// where the latter cannot be, or need not.
std::string preloaded(const run_arguments& asked) {
  const auto library = asked.no_cublas ? std::nullopt : find_library(inject::cublas_library_name);
  if (!library) {
    return {};
  }
  if (library->string().find_first_of(" :") != std::string::npos) {
    complain("products of cuBLAS are not seen: LD_PRELOAD takes no path with a space or colon, such as " +
             library->string());
    return {};
  }
  const char* const others = std::getenv("LD_PRELOAD");
  return (others != nullptr && *others != '\0' ? std::string{others} + ':' : std::string{}) +
         library->string();
}

/// The engine's environment: ours, with what makes NVTX and the CUDA driver load the library.
std::vector<std::string> environment(const run_arguments& asked, const fs::path& folder) {
  std::vector<std::pair<std::string, std::string>> set{
      {inject::folder_variable, folder.string()},
      {inject::rules_variable, rules_text(asked.report.rules)},
      {inject::log_variable, asked.verbose ? "info" : "warning"}};
  const analyze_options& analysis = asked.report.analysis;
  set.emplace_back(inject::analysis_variable,
                   std::string{analysis.by_batch ? "by-batch," : ""} + (analysis.steady ? "steady" : ""));
  set.emplace_back(inject::device_variable, analysis.ceilings ? inject::device_text(*analysis.ceilings) : "");
  set.emplace_back(inject::clock_variable, analysis.clock > 0 ? inject::clock_text(analysis.clock) : "");
  set.emplace_back(inject::counters_variable, asked.counters ? inject::counters_text(*asked.counters) : "");
  set.emplace_back(inject::trace_variable, asked.trace.empty() ? "" : "1");
  if (asked.memory) {
    set.emplace_back(inject::memory_variable, std::to_string(*asked.memory));
  }
  if (asked.snapshots_ms) {
    set.emplace_back(inject::interval_variable, std::to_string(*asked.snapshots_ms));
  }
  if (const auto library = find_library(inject::library_name)) {
    if (std::string first = preloaded(asked); !first.empty()) {
      set.emplace_back("LD_PRELOAD", std::move(first));
    }
    for (const auto& [name, what] : {std::pair{"NVTX_INJECTION64_PATH", "NVTX ranges are"},
                                     {"CUDA_INJECTION64_PATH", "programs without NVTX ranges are"}}) {
      const char* const taken = std::getenv(name);
      if (taken != nullptr && *taken != '\0' && fs::path{taken}.filename() != inject::library_name) {
        complain(std::string{name} + " is set to " + taken + ", another tool: " + what +
                 " not recorded; unset it to have them");
      } else {
        set.emplace_back(name, library->string());
      }
    }
  } else {
    complain(std::string{"cannot find "} + inject::library_name +
             ", which records: install it beside the tool's other libraries; the engine runs without it");
  }
  std::vector<std::string> out;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text{*variable};
    const std::string_view name = text.substr(0, text.find('='));
    if (std::none_of(set.begin(), set.end(), [&](const auto& s) { return s.first == name; })) {
      out.emplace_back(text);
    }
  }
  for (const auto& [name, value] : set) {
    out.push_back(name + '=' + value);
  }
  return out;
}

/// Made when the engine ended: tells the time as the other files do.
fs::path end_file(const fs::path& folder) { return folder / "end"; }

/// What is missing of an image that ended without notice, or that could not write.
void tell_missing(const image& i, const engine_end& engine, bool last) {
  const result& best = i.best();
  if (best.whole) {
    return;
  }
  if (best.file.empty()) {
    complain(i.title + (i.failed ? " could not write what it recorded" : " left no records"));
    return;
  }
  std::string when = "its last snapshot";
  std::error_code failed;
  const auto written = fs::last_write_time(best.file, failed);
  const auto ended = fs::last_write_time(end_file(best.file.parent_path()), failed);
  if (last && i.process == engine.process && !failed) {
    const auto before = std::chrono::duration_cast<std::chrono::milliseconds>(ended - written);
    when += ", " + std::to_string(std::max<std::int64_t>(before.count(), 0)) + " ms before its end";
  }
  complain(i.title +
           (i.failed ? " could not write all that it recorded"
                     : " ended without notice (SIGKILL, perhaps, or it still runs)") +
           ": what it did after " + when + ", is missing");
}

/// "trace.json" for the first, "trace.1234.json" for the others.
fs::path trace_path(const std::string& asked, const image& i, bool first) {
  fs::path out{asked};
  if (!first) {
    out.replace_filename(out.stem().string() + '.' + std::to_string(i.process) +
                         (i.number != 0 ? '.' + std::to_string(i.number) : "") + out.extension().string());
  }
  return out;
}

/// Does something for the user. Where that fails, says what went wrong, and that is the code unless something
/// did before.
template <class Step>
bool attempt(int& code, Step step) {
  int failed = success;
  try {
    step();
  } catch (const output_error& e) {
    if (*e.what() != '\0') {
      complain(e.what());
    }
    failed = unwritable;
  } catch (const std::exception& e) {
    complain(e.what());
    failed = unreadable;
  }
  code = code != success ? code : failed;
  return failed == success;
}

/// Into a pipe or a device, which are nobody's to replace or to protect.
void pour(const fs::path& from, const fs::path& to) {
  std::ifstream in{from, std::ios::binary};
  errno = 0;
  std::ofstream out{to, std::ios::binary};
  if (!(out << in.rdbuf()) || !out.flush()) {
    throw output_error{to.string() +
                       ": cannot be written: " + std::generic_category().message(errno != 0 ? errno : EIO)};
  }
}

/// Moves a file, or copies it where the target is on another disk, a link or a device.
void hand_over(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  if (const fs::file_status at_end = fs::status(to, failed); fs::exists(at_end) && fs::is_other(at_end)) {
    pour(from, to);
    return;
  }
  const fs::file_type there = fs::symlink_status(to, failed).type();
  if (there == fs::file_type::not_found || there == fs::file_type::regular) {
    fs::rename(from, to, failed);
    if (!failed) {
      return;
    }
  }
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, failed);
  if (!failed) {
    fs::permissions(to, fs::perms::owner_read | fs::perms::owner_write, failed);
  }
  if (failed) {
    throw output_error{to.string() + ": cannot be written: " + failed.message()};
  }
}

/// The traces of all that left one.
void hand_over_traces(const run_arguments& asked, const std::vector<image>& images, run_folder& folder,
                      int& code) {
  bool first = true;
  for (const image& i : images) {
    if (i.best().whole && !i.trace.whole) {
      complain(i.title + (i.trace.file.empty() ? " could not write its trace"
                                               : " could not write the end of its trace"));
      code = code != success ? code : unwritable;
    }
    const fs::path to = trace_path(asked.trace, i, first);
    first = first && i.best().file.empty();
    if (!i.trace.file.empty() && !attempt(code, [&] { hand_over(i.trace.file, to); })) {
      folder.keep(i.trace.file);
    }
  }
}

int report_images(const run_arguments& asked, const std::vector<image>& images, const engine_end& engine,
                  run_folder& folder) {
  report_arguments how = asked.report;
  how.rules.clear();                                           // they have named what is in the files
  how.most_bytes = std::numeric_limits<std::uint64_t>::max();  // they are our own
  report_arguments analysed = how;                             // so were reports, as asked
  analysed.analysis.by_batch = analysed.analysis.steady = false;
  analysed.analysis.ceilings.reset();
  analysed.analysis.clock = 0;
  analysed.model.description.reset();
  const table_options options = table_of(how, STDERR_FILENO);
  std::string tables;
  std::string json;
  std::vector<fs::path> to_keep;
  int code = success;
  for (std::size_t n = 0; n < images.size(); ++n) {
    const image& i = images[n];
    tell_missing(i, engine, n + 1 == images.size() || images[n + 1].process != i.process);
    const fs::path& file = i.best().file;
    if (!file.empty() && !attempt(code, [&] {
          report r = read(file, &i.best() == &i.report ? analysed : how);
          r.source = i.title;
          tables += (tables.empty() ? "" : "\n") + to_table(r, options);
          json += asked.json.empty() ? "" : to_json(r) + '\n';
        })) {
      to_keep.push_back(file);
    }
  }
  bool written = true;
  if (how.output.empty()) {
    attempt(code, [&] { write_standard_error(tables); });
  } else {
    written = attempt(code, [&] { write_file(how.output, tables); });
  }
  if (!asked.json.empty()) {
    written = attempt(code, [&] { write_file(asked.json, json); }) && written;
  }
  if (!asked.trace.empty()) {
    hand_over_traces(asked, images, folder, code);
  }
  for (const image& i : images) {
    if (!written) {
      to_keep.push_back(i.best().file);
    }
  }
  for (const fs::path& file : to_keep) {
    folder.keep(file);
  }
  return code;
}

/// The traces of all that counted.
int hand_over_counts(const run_arguments& asked, const std::vector<image>& images, const engine_end& engine,
                     run_folder& folder) {
  int code = success;
  std::vector<std::string> written;
  for (const image& i : images) {
    tell_missing(i, engine, &i == &images.back() || (&i + 1)->process != i.process);
    const fs::path to = trace_path(asked.trace, i, written.empty());
    if (i.trace.file.empty() || !attempt(code, [&] {
          const counts_found found = counts_in(i.trace.file, *asked.counters);
          complain(i.title + ": " + (found.counted.empty() ? found.missing : found.counted));
          for (const std::string& loss : found.losses) {
            complain(i.title + ": " + loss);
          }
          if (!found.counted.empty()) {
            hand_over(i.trace.file, to);
            written.push_back(to.string());
          }
        })) {
      folder.keep(i.trace.file);
    }
  }
  for (const std::string& file : written) {
    complain(next_step(file));
  }
  return code != success || !written.empty() ? code : unreadable;
}

}  // namespace

int run(const run_arguments& asked) {
  run_folder folder;
  if (const model_arguments& m = asked.report.model; m.description) {
    write_file(folder.path() / inject::model_file, inject::model_text(*m.description, m.options));
  }
  const engine_end engine = run_engine(asked.command, environment(asked, folder.path()));
  if (engine.start_error != 0) {
    complain(asked.command[0] +
             ": cannot be started: " + std::generic_category().message(engine.start_error));
    return engine.code;
  }
  const std::ofstream ended{end_file(folder.path())};
  ::signal(SIGPIPE, SIG_IGN);  // the folder is to be gone whoever reads
  if (engine.signal != 0) {
    complain(asked.command[0] + " was ended by signal " + std::to_string(engine.signal) + " (" +
             ::strsignal(engine.signal) + ')');
  }
  const std::vector<image> images = find_images(folder.path(), engine.process);
  if (images.empty()) {
    complain("nothing was recorded: the engine made no NVTX range and no CUDA call");
  }
  const int code = asked.counters ? hand_over_counts(asked, images, engine, folder)
                                  : report_images(asked, images, engine, folder);
  return engine.code != 0 ? engine.code : code;
}

}  // namespace varve::cli
