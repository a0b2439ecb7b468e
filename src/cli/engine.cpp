// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cli/engine.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <iterator>

namespace varve::cli {

namespace {

constexpr int passed_on[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT};

std::atomic<pid_t> child{0};

void pass_on(int signal, siginfo_t* about, void* /*context*/) {
  const bool from_terminal = about->si_code == SI_KERNEL;
  const pid_t to = child.load();
  if (to > 0 && (!from_terminal || signal == SIGTERM || signal == SIGHUP)) {
    const int kept = errno;
    static_cast<void>(::kill(to, signal));
    errno = kept;
  }
}

/// While it lives, signals go to the engine. They wait until it is there.
class signals_passed_on {
 public:
  signals_passed_on() {
    sigset_t ours;
    ::sigemptyset(&ours);
    struct sigaction action {};
    action.sa_sigaction = pass_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    for (const int signal : passed_on) {
      ::sigaddset(&ours, signal);
    }
    ::sigprocmask(SIG_BLOCK, &ours, &mask_);
    for (std::size_t i = 0; i < std::size(passed_on); ++i) {
      ::sigaction(passed_on[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) {  // nohup
        ::sigaction(passed_on[i], &action, nullptr);
      }
    }
  }
  signals_passed_on(const signals_passed_on&) = delete;
  signals_passed_on& operator=(const signals_passed_on&) = delete;
  ~signals_passed_on() {
    for (std::size_t i = 0; i < std::size(passed_on); ++i) {
      ::sigaction(passed_on[i], &before_[i], nullptr);
    }
    begin();
  }
  void begin() const { ::sigprocmask(SIG_SETMASK, &mask_, nullptr); }
  [[nodiscard]] const sigset_t& mask() const noexcept { return mask_; }

 private:
  sigset_t mask_{};
  struct sigaction before_[std::size(passed_on)]{};
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) {
    out.push_back(const_cast<char*>(text.c_str()));
  }
  out.push_back(nullptr);
  return out;
}

}  // namespace

engine_end run_engine(const std::vector<std::string>& command, const std::vector<std::string>& variables) {
  engine_end out;
  const signals_passed_on signals;
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigmask(&attributes, &signals.mask());
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  out.start_error = ::posix_spawnp(&out.process, command[0].c_str(), nullptr, &attributes,
                                   pointers(command).data(), pointers(variables).data());
  ::posix_spawnattr_destroy(&attributes);
  if (out.start_error != 0) {
    out.code = out.start_error == ENOENT ? not_found : cannot_start;
    return out;
  }
  child = out.process;
  signals.begin();
  int status = 0;
  while (::waitpid(out.process, &status, 0) < 0 && errno == EINTR) {
  }
  child = 0;
  out.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  out.code = out.signal != 0 ? 128 + out.signal : WEXITSTATUS(status);
  return out;
}

}  // namespace varve::cli
