// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cli/measure.hpp"

#include "cli/samples.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

namespace varve::cli {

namespace {

/// Threads that do a piece of work together, again and again; the caller is one of them.
class crew {
 public:
  crew(int size, std::function<void(int)> work) : work_{std::move(work)} {
    try {
      for (int i = 1; i < size; ++i) {
        others_.emplace_back([this, i] { follow(i); });
      }
    } catch (...) {
      dismiss();
      throw;
    }
  }
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;
  ~crew() { dismiss(); }

  /// Once on each thread; seconds until all are done.
  double run() {
    const auto begin = std::chrono::steady_clock::now();
    done_ = 0;
    ++round_;
    round_.notify_all();
    work_(0);
    const int all = static_cast<int>(others_.size());
    for (int done = done_; done != all; done = done_) {
      done_.wait(done);
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

 private:
  void follow(int number) {
    for (int seen = 0;; ++seen) {
      round_.wait(seen);
      if (over_) {
        return;
      }
      work_(number);
      ++done_;
      done_.notify_one();
    }
  }

  void dismiss() noexcept {
    over_ = true;
    ++round_;
    round_.notify_all();
    for (std::thread& other : others_) {
      other.join();
    }
  }

  std::function<void(int)> work_;
  std::vector<std::thread> others_;
  std::atomic<int> round_{0};
  std::atomic<int> done_{0};
  std::atomic<bool> over_{false};
};

/// Rates of `samples` runs that take `amount` each.
template <class Run>
std::vector<double> rates_of(double amount, std::size_t samples, Run&& run) {
  constexpr double shortest = 1e-9;  // a clock may stand still
  run();
  std::vector<double> out;
  for (std::size_t i = 0; i < samples; ++i) {
    out.push_back(amount / std::max(run(), shortest));
  }
  return out;
}

template <class T>
T find(void* library, const char* name) noexcept {
  return reinterpret_cast<T>(::dlsym(library, name));
}

template <class T>
std::vector<double> products(void (*gemm)(int, int, int, int, int, int, T, const T*, int, const T*, int, T,
                                          T*, int),
                             int order, std::size_t samples) {
  constexpr int row_major = 101;
  constexpr int as_it_is = 111;
  const std::size_t elements = static_cast<std::size_t>(order) * static_cast<std::size_t>(order);
  const std::vector<T> a(elements, T{1});
  const std::vector<T> b(elements, T{2});
  std::vector<T> c(elements);
  const double flops = 2.0 * order * order * order;
  std::vector<double> out = rates_of(flops, samples, [&] {
    const auto begin = std::chrono::steady_clock::now();
    gemm(row_major, as_it_is, as_it_is, order, order, order, T{1}, a.data(), order, b.data(), order, T{0},
         c.data(), order);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  });
  const T expected = static_cast<T>(2 * order);  // whole numbers this small are exact
  if (c.front() != expected || c.back() != expected) {
    throw std::runtime_error{"the BLAS library multiplies wrong: name another with --blas"};
  }
  return out;
}

}  // namespace

double measurement::median() const { return varve::samples::median(samples); }
double measurement::least() const { return varve::samples::least(samples); }
double measurement::most() const { return varve::samples::most(samples); }
double measurement::spread() const { return varve::samples::spread(samples); }

measurement measure_triad(std::uint64_t bytes, int threads, std::size_t samples) {
  constexpr std::size_t arrays = 3;
  const auto elements = std::max<std::size_t>(1, static_cast<std::size_t>(bytes / (arrays * sizeof(double))));
  // Not filled here: the thread that works on a part touches it first, which places it near that thread.
  const std::unique_ptr<double[]> a{new double[elements]};
  const std::unique_ptr<double[]> b{new double[elements]};
  const std::unique_ptr<double[]> c{new double[elements]};
  const auto part = [&](int thread) {
    const auto at = [&](int i) {
      return elements / static_cast<std::size_t>(threads) * static_cast<std::size_t>(i);
    };
    return std::pair{at(thread), thread + 1 == threads ? elements : at(thread + 1)};
  };
  bool fill = true;
  crew workers{threads, [&](int thread) {
                 const auto [begin, end] = part(thread);
                 double* const to = a.get();
                 double* const left = b.get();
                 double* const right = c.get();
                 if (fill) {
                   std::fill(to + begin, to + end, 0.0);
                   std::fill(left + begin, left + end, 1.0);
                   std::fill(right + begin, right + end, 2.0);
                   return;
                 }
                 constexpr double s = 3;
                 for (std::size_t i = begin; i < end; ++i) {
                   to[i] = left[i] + s * right[i];
                 }
               }};
  workers.run();
  fill = false;
  measurement out{"triad", threads, {}};
  out.samples = rates_of(static_cast<double>(arrays * sizeof(double) * elements), samples,
                         [&] { return workers.run(); });
  if (a[0] != 7 || a[elements - 1] != 7) {  // 1 + 3·2
    throw std::runtime_error{"memory does not hold what is written: nothing can be measured here"};
  }
  return out;
}

blas::blas(const std::string& library) {
  const std::vector<std::string> names = library.empty()
                                             ? std::vector<std::string>{"libopenblas.so.0", "libopenblas.so"}
                                             : std::vector<std::string>{library};
  std::string cause;
  void* opened = nullptr;
  for (const std::string& name : names) {
    opened = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened != nullptr) {
      name_ = name;
      break;
    }
    if (const char* const why = ::dlerror(); why != nullptr) {
      cause = why;
    }
  }
  if (opened == nullptr) {
    throw std::runtime_error{cause +
                             "; install OpenBLAS (Debian, Ubuntu: libopenblas0), or name a BLAS "
                             "library with --blas"};
  }
  sgemm_ = find<sgemm>(opened, "cblas_sgemm");
  dgemm_ = find<dgemm>(opened, "cblas_dgemm");
  if (sgemm_ == nullptr || dgemm_ == nullptr) {
    throw std::runtime_error{name_ +
                             ": has no cblas_sgemm and cblas_dgemm, so is no BLAS library with a C "
                             "interface; name another with --blas"};
  }
  set_threads_ = find<void (*)(int)>(opened, "openblas_set_num_threads");
  get_threads_ = find<int (*)()>(opened, "openblas_get_num_threads");
  if (auto* const config = find<char* (*)()>(opened, "openblas_get_config"); config != nullptr) {
    name_ = config();
  }
}

measurement blas::measure(bool fp64, int order, int threads, std::size_t samples) const {
  if (set_threads_ != nullptr) {
    set_threads_(threads);
  }
  measurement out{fp64 ? "dgemm" : "sgemm", get_threads_ != nullptr ? get_threads_() : threads, {}};
  out.samples = fp64 ? products<double>(dgemm_, order, samples) : products<float>(sgemm_, order, samples);
  return out;
}

}  // namespace varve::cli
