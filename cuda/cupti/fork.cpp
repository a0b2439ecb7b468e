// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The collector around a fork. CUDA that is in use stays with the parent: a child cannot use it, and the
// parent's threads hold the locks of CUPTI and ours there. Where it is not, nobody but us was in CUPTI, and
// the lock of our life is held over the fork: a child's own session begins with what the parent left.
#include "cupti/collector.hpp"

#include "driver/driver.hpp"

#include "record/fork.hpp"

namespace varve::cupti {

namespace {

/// Of the thread that forks: several may at a time.
struct fork_state {
  bool has_life = false;  // else it could not wait for who is at work there
  bool cuda_used = false;
};
thread_local fork_state this_fork __attribute__((tls_model("initial-exec")));

}  // namespace

// The driver may itself fork in its initialisation: it is not asked.
bool collector::in_use() noexcept {
  if (!cuda_started_ && !cuda_used_ && cuda::find_driver(false) != nullptr && cuda::has_devices_open()) {
    cuda_used_ = true;
  }
  return cuda_started_ || cuda_used_;
}

void collector::before_fork(bool in_use) noexcept {
  this_fork.has_life = record::lock_within(life_, record::fork_patience);
  this_fork.cuda_used = in_use;
}

void collector::after_fork() noexcept {
  if (this_fork.has_life) {
    life_.unlock();
  }
}

void collector::leave_to_parent() noexcept {
  // Another thread may have begun to use it since the fork was announced.
  left_ = left_ || !this_fork.has_life || this_fork.cuda_used || cuda_used_;
  recording_ = false;
  waiting_ = false;
  completing_ = 0;
  asking_ = 0;
  cuda_started_ = false;
  told_ = false;
  // The child's own CUDA, if it has one, is still to be initialised.
  heeded_ &= static_cast<std::uint32_t>(told_to_heed::attached);
  if (!left_) {
    inherited_ = subscriber_ != nullptr;
    problem_.clear();
  }
  after_fork();
}

/// The parent's session has switched on what nobody here wants; what it has armed stays so.
void collector::settle_inheritance() noexcept {
  if (!inherited_) {
    return;
  }
  inherited_ = false;
  switch_off();
  if (!stays_attached()) {
    detach();
  }
}

}  // namespace varve::cupti
