// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What the engine asks of a device: memory, streams, events, graphs and named kernels. Everything on a
// stream is asynchronous and in order; the host reaches device memory by copies alone. Back ends report
// errors by exceptions: at once for wrong use, at the next synchronise for what fails while it runs.
#ifndef DECODER_BACKEND_HPP
#define DECODER_BACKEND_HPP

#include <varve/work.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace decoder {

/// A row-major matrix in device memory, in the back end's own precision. A view; only the back end looks
/// behind `data`.
struct tensor {
  void* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;

  [[nodiscard]] tensor first_rows(std::int64_t count) const { return {data, count, columns}; }
};

/// 32-bit integers in device memory: tokens, positions, row numbers.
struct id_list {
  void* data = nullptr;
  std::int64_t size = 0;

  [[nodiscard]] id_list first(std::int64_t count) const { return {data, count}; }
};

/// Which sequence each row of a batch belongs to, and its place in it, from 0.
struct row_places {
  id_list sequences;
  id_list positions;
};

/// Keys and values of one layer: the row of a token is sequence · capacity + position.
struct kv_cache {
  tensor keys;
  tensor values;
  std::int64_t capacity = 0;
};

struct head_shape {
  std::int64_t heads = 0;     ///< of queries
  std::int64_t kv_heads = 0;  ///< each serves heads / kv_heads query heads
  std::int64_t size = 0;      ///< elements of one head
};

/// Blocks of device memory, all zero at first, freed together.
class memory {
 public:
  virtual ~memory() = default;
  virtual tensor numbers(std::int64_t rows, std::int64_t columns) = 0;
  virtual id_list ids(std::int64_t count) = 0;
};

/// A mark in a stream that other streams and the host can wait for.
class event {
 public:
  virtual ~event() = default;
  /// Waits on the host for the last record(); returns at once when there is none.
  virtual void synchronise() = 0;
  /// From `earlier` to this one, by the device's clock. Both have been recorded and reached.
  [[nodiscard]] virtual double seconds_since(const event& earlier) const = 0;
};

/// What a stream captured instead of running it.
class graph {
 public:
  virtual ~graph() = default;
  [[nodiscard]] virtual std::size_t size() const = 0;
};

/// A graph made ready to run.
class executable {
 public:
  virtual ~executable() = default;
  /// Takes over the parameters of `from`. Changes nothing and returns false when its kernels are others.
  [[nodiscard]] virtual bool update(const graph& from) = 0;
};

/// A queue of work. Used by one host thread at a time; its destructor waits for what is queued.
class stream {
 public:
  virtual ~stream() = default;

  virtual void synchronise() = 0;
  virtual void record(event& mark) = 0;
  /// What follows on this stream waits for the last record() of `mark`.
  virtual void wait(const event& mark) = 0;

  /// Until end_capture(), kernels and copies go into a graph instead of running.
  virtual void begin_capture() = 0;
  virtual std::unique_ptr<graph> end_capture() = 0;
  virtual void launch(const executable& replayed) = 0;

  // Copies. Host memory must stay as it is until the stream has passed the copy.
  virtual void upload(tensor to, const float* from) = 0;
  virtual void upload(id_list to, const std::int32_t* from) = 0;
  virtual void download(float* to, tensor from) = 0;
  virtual void download(std::int32_t* to, id_list from) = 0;

  // Kernels.
  /// out[r] = table[tokens[r]]
  virtual void embedding(tensor out, tensor table, id_list tokens) = 0;
  /// out[r] = x[r] / sqrt(mean(x[r]²) + epsilon) · weight
  virtual void rms_norm(tensor out, tensor x, tensor weight, float epsilon) = 0;
  /// out = x · weightᵀ
  virtual void matmul(tensor out, tensor x, tensor weight) = 0;
  /// Rotary position embedding, in place: turns (x[i], x[i + size/2]) of each head by
  /// position · base^(−2i/size).
  virtual void rope(tensor x, id_list positions, std::int64_t head_size, float base) = 0;
  /// Writes one row of keys and values to each row's place in the cache.
  virtual void store_kv(const kv_cache& cache, tensor keys, tensor values, const row_places& places) = 0;
  /// Attention of each row to its sequence's cache up to its own position, which is below `bound`. The
  /// bound sizes scratch memory only: it doesn't change the result.
  virtual void attention(tensor out, tensor queries, const kv_cache& cache, const row_places& places,
                         const head_shape& shape, std::int64_t bound) = 0;
  /// gate = silu(gate) · up, element by element
  virtual void swiglu(tensor gate, tensor up) = 0;
  /// x += y
  virtual void add(tensor x, tensor y) = 0;
  /// out[i] = x[rows[i]]
  virtual void gather(tensor out, tensor x, id_list rows) = 0;
  /// out[r] = column of the largest element of x[r], the first of equals
  virtual void argmax(id_list out, tensor x) = 0;
  /// ids[i] += 1
  virtual void increment(id_list ids) = 0;
};

class backend {
 public:
  virtual ~backend() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// In which it stores the numbers of tensors.
  [[nodiscard]] virtual varve::dtype type() const = 0;
  virtual std::unique_ptr<memory> make_memory() = 0;
  virtual std::unique_ptr<stream> make_stream() = 0;
  virtual std::unique_ptr<event> make_event() = 0;
  virtual std::unique_ptr<executable> instantiate(const graph& from) = 0;
};

}  // namespace decoder

#endif  // DECODER_BACKEND_HPP
