// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A decoder in double, written for clarity: what the example engine's floats are held against. One sequence
// at a time, the whole of it at once, no cache.
#ifndef VARVE_TESTS_EXAMPLES_REFERENCE_HPP
#define VARVE_TESTS_EXAMPLES_REFERENCE_HPP

#include "backend.hpp"
#include "config.hpp"
#include "weights.hpp"

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace reference {

using row = std::vector<double>;
using matrix = std::vector<row>;

/// Unit roundoff of float: one rounding is wrong by at most this, relatively.
inline constexpr double roundoff = 0x1p-24;

inline std::vector<float> random_floats(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random{seed};
  std::vector<float> values(n);
  for (float& v : values) {
    v = static_cast<float>(random() >> 40U) * 0x1p-23F - 1.0F;  // in [-1, 1)
  }
  return values;
}

inline matrix to_matrix(const std::vector<float>& values, std::size_t columns) {
  matrix m;
  for (std::size_t i = 0; i < values.size(); i += columns) {
    m.emplace_back(values.begin() + static_cast<std::ptrdiff_t>(i),
                   values.begin() + static_cast<std::ptrdiff_t>(i + columns));
  }
  return m;
}

inline double dot(const row& a, const row& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

inline row product(const row& x, const matrix& weight) {
  row out;
  for (const row& w : weight) {
    out.push_back(dot(x, w));
  }
  return out;
}

inline row rms_norm(const row& x, const row& weight, double epsilon) {
  row out;
  const double scale = 1 / std::sqrt(dot(x, x) / static_cast<double>(x.size()) + epsilon);
  for (std::size_t i = 0; i < x.size(); ++i) {
    out.push_back(x[i] * scale * weight[i]);
  }
  return out;
}

inline row swiglu(const row& gate, const row& up) {
  row out;
  for (std::size_t i = 0; i < gate.size(); ++i) {
    out.push_back(gate[i] / (1 + std::exp(-gate[i])) * up[i]);
  }
  return out;
}

/// Each pair (x[i], x[i + size / 2]) of a head as a complex number, turned by its angle.
inline row rope(row x, double position, std::size_t size, double base) {
  const std::size_t half = size / 2;
  for (std::size_t head = 0; head < x.size(); head += size) {
    for (std::size_t i = 0; i < half; ++i) {
      const double angle = position / std::pow(base, 2 * static_cast<double>(i) / static_cast<double>(size));
      const std::complex<double> turned =
          std::complex<double>{x[head + i], x[head + i + half]} * std::polar(1.0, angle);
      x[head + i] = turned.real();
      x[head + i + half] = turned.imag();
    }
  }
  return x;
}

/// Attention of one query row over all the rows of `keys` and `values`.
inline row attention(const row& query, const matrix& keys, const matrix& values, std::size_t heads,
                     std::size_t kv_heads) {
  const std::size_t size = query.size() / heads;
  row out(query.size(), 0.0);
  for (std::size_t h = 0; h < heads; ++h) {
    const std::size_t kv = h * kv_heads / heads * size;  // where this head's keys and values begin
    row weights;
    double sum = 0;
    for (const row& key : keys) {
      double score = 0;
      for (std::size_t i = 0; i < size; ++i) {
        score += query[h * size + i] * key[kv + i];
      }
      weights.push_back(std::exp(score / std::sqrt(static_cast<double>(size))));
      sum += weights.back();
    }
    for (std::size_t t = 0; t < keys.size(); ++t) {
      for (std::size_t i = 0; i < size; ++i) {
        out[h * size + i] += weights[t] / sum * values[t][kv + i];
      }
    }
  }
  return out;
}

inline void add(row& x, const row& y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] += y[i];
  }
}

/// Logits after the last token, with the weights that `w` holds in the device's memory.
inline row logits(decoder::stream& s, const decoder::weights& w, const decoder::model_config& c,
                  const std::vector<std::int32_t>& tokens) {
  const auto fetch = [&](const decoder::tensor& t) {
    std::vector<float> host(static_cast<std::size_t>(t.rows * t.columns));
    s.download(host.data(), t);
    s.synchronise();
    return to_matrix(host, static_cast<std::size_t>(t.columns));
  };
  const auto norm = [&](const row& x, const decoder::tensor& weight) {
    return rms_norm(x, fetch(weight).front(), static_cast<double>(c.norm_epsilon));
  };
  const auto heads = static_cast<std::size_t>(c.heads);
  const auto kv_heads = static_cast<std::size_t>(c.kv_heads);
  const auto size = static_cast<std::size_t>(c.head_size());
  const matrix embedding = fetch(w.embedding);
  matrix hidden;
  for (const std::int32_t token : tokens) {
    hidden.push_back(embedding[static_cast<std::size_t>(token)]);
  }
  for (const decoder::layer_weights& layer : w.layers) {
    matrix keys;
    matrix values;
    for (std::size_t t = 0; t < hidden.size(); ++t) {  // row t sees rows 0 to t
      const auto position = static_cast<double>(t);
      row& x = hidden[t];
      const row normed = norm(x, layer.attention_norm);
      keys.push_back(rope(product(normed, fetch(layer.key)), position, size, c.rope_base));
      values.push_back(product(normed, fetch(layer.value)));
      const row query = rope(product(normed, fetch(layer.query)), position, size, c.rope_base);
      add(x, product(attention(query, keys, values, heads, kv_heads), fetch(layer.output)));
      const row mlp = norm(x, layer.mlp_norm);
      add(x,
          product(swiglu(product(mlp, fetch(layer.gate)), product(mlp, fetch(layer.up))), fetch(layer.down)));
    }
  }
  return product(norm(hidden.back(), w.norm), fetch(w.head));
}

}  // namespace reference

#endif  // VARVE_TESTS_EXAMPLES_REFERENCE_HPP
