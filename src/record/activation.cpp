// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What the first marker of a process sets up, and what a fork does to a recording.
#include "record/device_source.hpp"
#include "record/graph_labels.hpp"
#include "record/names.hpp"
#include "record/nvtx.hpp"
#include "record/process_state.hpp"
#include "record/range_counter.hpp"
#include "record/recording.hpp"
#include "record/registry.hpp"
#include "record/span_source.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <condition_variable>
#include <new>

namespace varve::record {

namespace {

// Around a fork all locks are held, so that the child finds none taken by a thread that it does not have.
void before_fork() noexcept {
  const bool devices_in_use = built_in_source().in_use();
  built_in_source().before_fork(devices_in_use);  // waits, so nothing is held then
  process().mutex.lock();
  process().window.lock();
  process().wake_mutex.lock();
  registry.lock();
  pool.lock();
  labels_of_graphs().lock();
  lock_names();
  built_in_spans().before_fork(devices_in_use);
}

void unlock_all() noexcept {
  unlock_names();
  labels_of_graphs().unlock();
  pool.unlock();
  registry.unlock();
  process().wake_mutex.unlock();
  process().window.unlock();
  process().mutex.unlock();
}

void after_fork() noexcept {
  built_in_spans().after_fork();
  unlock_all();
  built_in_source().after_fork();
}

// The recording and its reader stay with the parent; the child may start one of its own.
void in_child() noexcept {
  __atomic_and_fetch(&varve_state_, ~(VARVE_STATE_RECORDING | state_counting), __ATOMIC_RELAXED);
  // Neither is ours to end: the parent's threads were writing, and its reader does not exist here.
  process_state& p = process();
  p.parents_records = p.records.release();
  p.parents_reader = p.reader.release();
  p.devices = nullptr;
  p.device_time.stop();
  p.spans = p.counts = false;
  new (&p.wake) std::condition_variable;  // the parent's reader was in the old one, whose state is its
  built_in_spans().leave_to_parent();
  unlock_all();
  labels_of_graphs().end_reading();
  built_in_source().leave_to_parent();
  built_in_counter().leave_to_parent();
}

}  // namespace

// Threads that end and processes that fork call back into this module: once active it must not be unloaded
// with the plugin that brought it along. Executables are not found by their name, and stay anyway.
void stay_loaded() noexcept {
  Dl_info self;
  if (::dladdr(reinterpret_cast<const void*>(&varve_version), &self) != 0 && self.dli_fname != nullptr) {
    static_cast<void>(::dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE));
  }
}

// Looking for a tool loads one, and that tool may start a session here and now, which is why the thread that
// is at it passes.
void activate() noexcept {
  thread_local bool inside = false;
  if (inside) {
    return;
  }
  inside = true;
  static const bool once = [] {
    stay_loaded();
    const bool tool = nvtx::attach();
    pthread_atfork(before_fork, after_fork, in_child);
    if (tool) {
      __atomic_or_fetch(&varve_state_, VARVE_STATE_NVTX, __ATOMIC_RELEASE);
    }
    __atomic_and_fetch(&varve_state_, ~std::uint32_t{VARVE_STATE_FRESH}, __ATOMIC_RELAXED);
    return true;
  }();
  static_cast<void>(once);
  inside = false;
}

}  // namespace varve::record
