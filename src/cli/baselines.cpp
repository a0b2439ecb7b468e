// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cli/baselines.hpp"

#include "cli/output.hpp"
#include "cli/report.hpp"

#include <varve/io.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <system_error>

namespace varve::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_runs = 256;

std::string absolute(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value == '/' ? value : "";
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Names in a folder that `keeps`, sorted; of more than `most` the first that the system gives.
template <class Keeps>
std::vector<std::string> names_in(const std::string& folder, std::size_t most, Keeps keeps) {
  std::vector<std::string> out;
  std::error_code wrong;
  for (fs::directory_iterator at{folder, wrong}, end; !wrong && at != end && out.size() < most;
       at.increment(wrong)) {
    if (keeps(*at)) {
      out.push_back(at->path().filename().string());
    }
  }
  if (wrong) {
    throw error{folder + ": " + wrong.message()};
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> baselines_in(const std::string& folder) {
  std::error_code wrong;
  if (!fs::is_directory(folder, wrong)) {
    return {};
  }
  constexpr std::size_t most = 10'000;
  return names_in(folder, most, [](const fs::directory_entry& e) {
    std::error_code failed;
    return e.is_directory(failed) && is_baseline_name(e.path().filename().string());
  });
}

std::string number(std::size_t i) {
  const std::string digits = std::to_string(i);
  return std::string(digits.size() < 3 ? 3 - digits.size() : 0, '0') + digits;
}

int save(const baseline_arguments& asked) {
  const std::string folder = baselines_folder(asked.folder) + '/' + asked.name;
  std::error_code wrong;
  const bool replaces = fs::exists(folder, wrong);
  if (replaces && !asked.force) {
    complain(folder + ": there is such a baseline already; --force replaces it");
    return usage;
  }
  std::vector<std::string> reports;  // before anything is replaced
  for (const std::string& path : asked.report.files) {
    try {
      for (const std::string& file : runs_in(path)) {
        reports.push_back(to_json(read(file, asked.report)) + '\n');
      }
    } catch (const error& e) {
      complain(e.what());
      return unreadable;
    }
  }
  if (reports.size() > most_runs) {
    complain("a baseline has at most " + std::to_string(most_runs) + " runs");
    return usage;
  }
  fs::create_directories(folder, wrong);
  if (wrong) {
    throw output_error{folder + ": " + wrong.message()};
  }
  for (std::size_t i = 0; i < reports.size(); ++i) {
    write_file(folder + "/run-" + number(i + 1) + ".json", reports[i]);
  }
  for (std::size_t i = reports.size(); replaces && i < most_runs; ++i) {  // what the one before had more
    fs::remove(folder + "/run-" + number(i + 1) + ".json", wrong);
  }
  return success;
}

}  // namespace

bool is_baseline_name(std::string_view name) noexcept {
  constexpr std::size_t longest = 100;
  return !name.empty() && name.size() <= longest && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return (c < 0x80 && std::isalnum(c) != 0) || c == '-' || c == '_' || c == '.';
         });
}

std::string baselines_folder(const std::string& given) {
  if (!given.empty()) {
    return given;
  }
  if (const std::string data = absolute("XDG_DATA_HOME"); !data.empty()) {
    return data + "/varve/baselines";
  }
  const std::string home = absolute("HOME");
  if (home.empty()) {
    throw error{"neither $XDG_DATA_HOME nor $HOME says where baselines are: name a folder with --baselines"};
  }
  return home + "/.local/share/varve/baselines";
}

std::string baseline_named(const std::string& name, const std::string& folder) {
  std::error_code wrong;
  std::string path = folder + '/' + name;
  if (is_baseline_name(name) && fs::is_directory(path, wrong)) {
    return path;
  }
  std::string others;
  for (const std::string& other : baselines_in(folder)) {
    others += (others.empty() ? "" : ", ") + other;
  }
  throw error{folder + ": there is no baseline \"" + name + "\"" +
              (others.empty() ? "; varve baseline save NAME FILE makes one" : "; there are " + others)};
}

std::vector<std::string> runs_in(const std::string& path) {
  std::error_code wrong;
  if (!fs::is_directory(path, wrong)) {
    return {path};
  }
  std::vector<std::string> out = names_in(path, most_runs + 1, [](const fs::directory_entry& e) {
    std::error_code failed;
    const std::string name = e.path().filename().string();
    return name.front() != '.' && (ends_with(name, ".json") || ends_with(name, ".json.gz")) &&
           e.is_regular_file(failed);
  });
  if (out.empty() || out.size() > most_runs) {
    throw error{path + (out.empty() ? ": has no runs, which are files that end in .json or .json.gz"
                                    : ": has more than " + std::to_string(most_runs) + " runs")};
  }
  for (std::string& name : out) {
    name = path + '/' + name;
  }
  return out;
}

int run(const baseline_arguments& asked) {
  try {
    if (!asked.name.empty()) {
      return save(asked);
    }
    std::string text;
    for (const std::string& name : baselines_in(baselines_folder(asked.folder))) {
      text += name + '\n';
    }
    write_standard_output(text);
    return success;
  } catch (const error& e) {
    complain(e.what());
  } catch (const std::bad_alloc&) {
    complain("needs more memory than there is");
  }
  return unreadable;
}

}  // namespace varve::cli
