// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Threads that do one thing at a time, all of them together.
#ifndef VARVE_TESTS_TAPE_THREADS_HPP
#define VARVE_TESTS_TAPE_THREADS_HPP

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace varve_tape {

class threads {
 public:
  /// Runs it on the thread of this number, and waits. 0 is the caller's.
  void run(std::uint32_t number, const std::function<void()>& what) {
    if (number == 0) {
      what();
      return;
    }
    std::unique_ptr<worker>& w = workers_[number];
    if (w == nullptr) {
      w = std::make_unique<worker>();
    }
    w->run(what);
  }
  void end() { workers_.clear(); }

 private:
  class worker {
   public:
    worker() : thread_{[this] { loop(); }} {}
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;
    ~worker() {
      {
        const std::lock_guard lock{mutex_};
        ends_ = true;
      }
      changed_.notify_all();
      thread_.join();
    }
    void run(const std::function<void()>& what) {
      std::unique_lock lock{mutex_};
      what_ = &what;
      changed_.notify_all();
      changed_.wait(lock, [this] { return what_ == nullptr; });
    }

   private:
    void loop() {
      std::unique_lock lock{mutex_};
      for (;;) {
        changed_.wait(lock, [this] { return what_ != nullptr || ends_; });
        if (what_ == nullptr) {
          return;
        }
        lock.unlock();
        (*what_)();
        lock.lock();
        what_ = nullptr;
        changed_.notify_all();
      }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    const std::function<void()>* what_ = nullptr;
    bool ends_ = false;
    std::thread thread_;  // last: it uses the others
  };

  std::map<std::uint32_t, std::unique_ptr<worker>> workers_;
};

}  // namespace varve_tape

#endif  // VARVE_TESTS_TAPE_THREADS_HPP
