// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cpu_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace decoder::cpu {

namespace {

void check_index(std::int64_t value, std::int64_t end, const char* what) {
  if (value < 0 || value >= end) {
    throw std::out_of_range{std::string{what} + " " + std::to_string(value) + " is not in [0, " +
                            std::to_string(end) + ")"};
  }
}

/// out[i] = table[rows[i]]
void copy_rows(matrix out, matrix table, indices rows, const char* what) {
  for (std::int64_t i = 0; i < out.rows; ++i) {
    check_index(rows[i], table.rows, what);
    std::copy_n(table.row(rows[i]), table.columns, out.row(i));
  }
}

/// The cache's row of token `position` of the sequence that row `i` belongs to.
std::int64_t cache_row(const cache& c, const places& where, std::int64_t i, std::int64_t position) {
  return where.sequences[i] * c.capacity + position;
}

float dot(const float* a, const float* b, std::int64_t n) { return std::inner_product(a, a + n, b, 0.0F); }

/// Turns scores into weights that sum to 1.
void softmax(float* scores, std::int64_t n) {
  const float largest = *std::max_element(scores, scores + n);
  float sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    scores[i] = std::exp(scores[i] - largest);
    sum += scores[i];
  }
  for (std::int64_t i = 0; i < n; ++i) {
    scores[i] /= sum;
  }
}

}  // namespace

void embedding(matrix out, matrix table, indices tokens) { copy_rows(out, table, tokens, "token"); }

void gather(matrix out, matrix x, indices rows) { copy_rows(out, x, rows, "row"); }

void rms_norm(matrix out, matrix x, matrix weight, float epsilon) {
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const float* in = x.row(r);
    const float mean_square = dot(in, in, x.columns) / static_cast<float>(x.columns);
    const float scale = 1.0F / std::sqrt(mean_square + epsilon);
    for (std::int64_t c = 0; c < x.columns; ++c) {
      out.row(r)[c] = in[c] * scale * weight.data[c];
    }
  }
}

void rope(matrix x, indices positions, std::int64_t head_size, float base) {
  const std::int64_t half = head_size / 2;
  std::vector<double> frequencies;
  for (std::int64_t i = 0; i < half; ++i) {
    frequencies.push_back(
        std::pow(static_cast<double>(base), -2.0 * static_cast<double>(i) / static_cast<double>(head_size)));
  }
  for (std::int64_t r = 0; r < x.rows; ++r) {
    for (std::int64_t i = 0; i < half; ++i) {
      const double angle = positions[r] * frequencies[static_cast<std::size_t>(i)];
      const auto cosine = static_cast<float>(std::cos(angle));
      const auto sine = static_cast<float>(std::sin(angle));
      for (float* head = x.row(r); head != x.row(r + 1); head += head_size) {
        const float a = head[i];
        const float b = head[i + half];
        head[i] = a * cosine - b * sine;
        head[i + half] = b * cosine + a * sine;
      }
    }
  }
}

void store_kv(const cache& to, matrix keys, matrix values, const places& where) {
  for (std::int64_t r = 0; r < keys.rows; ++r) {
    check_index(where.positions[r], to.capacity, "position");
    const std::int64_t row = cache_row(to, where, r, where.positions[r]);
    check_index(row, to.keys.rows, "cache row");
    std::copy_n(keys.row(r), keys.columns, to.keys.row(row));
    std::copy_n(values.row(r), values.columns, to.values.row(row));
  }
}

void attention(matrix out, matrix queries, const cache& from, const places& where, const head_shape& shape,
               std::int64_t bound) {
  const std::int64_t group = shape.heads / shape.kv_heads;
  const float scale = 1.0F / std::sqrt(static_cast<float>(shape.size));
  std::vector<float> scores(static_cast<std::size_t>(bound));
  for (std::int64_t r = 0; r < queries.rows; ++r) {
    check_index(where.positions[r], bound, "position");
    const std::int64_t context = where.positions[r] + 1;
    const std::int64_t first = cache_row(from, where, r, 0);
    check_index(first + context - 1, from.keys.rows, "cache row");
    for (std::int64_t h = 0; h < shape.heads; ++h) {
      const float* query = queries.row(r) + h * shape.size;
      const std::int64_t kv_offset = h / group * shape.size;
      for (std::int64_t t = 0; t < context; ++t) {
        scores[static_cast<std::size_t>(t)] =
            scale * dot(query, from.keys.row(first + t) + kv_offset, shape.size);
      }
      softmax(scores.data(), context);
      float* result = out.row(r) + h * shape.size;
      std::fill_n(result, shape.size, 0.0F);
      for (std::int64_t t = 0; t < context; ++t) {
        const float* value = from.values.row(first + t) + kv_offset;
        for (std::int64_t i = 0; i < shape.size; ++i) {
          result[i] += scores[static_cast<std::size_t>(t)] * value[i];
        }
      }
    }
  }
}

void swiglu(matrix gate, matrix up) {
  for (std::int64_t i = 0; i < gate.size(); ++i) {
    const float g = gate.data[i];
    gate.data[i] = g / (1.0F + std::exp(-g)) * up.data[i];
  }
}

void add(matrix x, matrix y) {
  for (std::int64_t i = 0; i < x.size(); ++i) {
    x.data[i] += y.data[i];
  }
}

void argmax(indices out, matrix x) {
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const float* row = x.row(r);
    out[r] = static_cast<std::int32_t>(std::max_element(row, row + x.columns) - row);
  }
}

void increment(indices ids) {
  for (std::int64_t i = 0; i < ids.size; ++i) {
    ++ids[i];
  }
}

}  // namespace decoder::cpu
