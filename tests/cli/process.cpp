// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cli/process.hpp"

#include <fcntl.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace testing_support {

namespace {

[[noreturn]] void fail(const char* what) { throw std::runtime_error{what}; }

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    fail("pipe");
  }
  return ends;
}

std::array<int, 2> make_terminal() {
  std::array<int, 2> ends{};
  winsize size{};
  size.ws_col = 100;
  size.ws_row = 25;
  if (::openpty(&ends[0], &ends[1], nullptr, nullptr, &size) != 0) {
    fail("openpty");
  }
  return ends;
}

std::string read_all(int file) {
  std::string out;
  std::array<char, 4096> buffer{};
  ssize_t n = 0;
  while ((n = ::read(file, buffer.data(), buffer.size())) > 0) {  // a terminal's other end gone is EIO
    out.append(buffer.data(), static_cast<std::size_t>(n));
  }
  ::close(file);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) {
    out.push_back(text.data());
  }
  out.push_back(nullptr);
  return out;
}

}  // namespace

outcome run(const std::vector<std::string>& arguments, const surroundings& around) {
  std::vector<std::string> words{around.tool.empty() ? VARVE_TOOL_PATH : around.tool};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = around.variables;  // of two of one name the first counts
  variables.emplace_back("PATH=/usr/bin:/bin");
  const auto argv = pointers(words);
  const auto envp = pointers(variables);

  auto out = around.terminal ? make_terminal() : make_pipe();
  const auto err = make_pipe();
  if (!around.output_file.empty()) {
    ::close(out[1]);
    out[1] = ::open(around.output_file.c_str(), O_WRONLY | O_CLOEXEC);
  }
  if (around.reader_gone) {
    ::close(out[0]);
  }
  const pid_t child = ::fork();
  if (child < 0) {
    fail("fork");
  }
  if (child == 0) {
    ::signal(SIGPIPE, around.ignore_sigpipe ? SIG_IGN : SIG_DFL);
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(around.terminal ? out[1] : err[1], STDERR_FILENO);
    ::execve(argv[0], argv.data(), envp.data());
    ::_exit(127);
  }
  ::close(out[1]);
  ::close(err[1]);
  outcome result;
  // Standard error is short and fits into its pipe, so one after the other does.
  result.out = around.reader_gone ? "" : read_all(out[0]);
  result.err = read_all(err[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return result;
}

folder::folder() {
  std::string name = (std::filesystem::temp_directory_path() / "varve-cli-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    fail("mkdtemp");
  }
  path_ = name;
}

folder::~folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string folder::write(const std::string& name, const std::string& content) const {
  std::ofstream{path(name), std::ios::binary} << content;
  return path(name);
}

std::string content_of(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream{path, std::ios::binary}.rdbuf();
  return out.str();
}

}  // namespace testing_support
