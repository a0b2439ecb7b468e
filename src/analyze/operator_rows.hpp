// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_ANALYZE_OPERATOR_ROWS_HPP
#define VARVE_ANALYZE_OPERATOR_ROWS_HPP

#include "analyze/numbers.hpp"
#include "analyze/roofs.hpp"

#include <varve/report.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

/// Of one call of an operator.
struct operator_sums {
  time_ns cpu = 0;
  time_ns launched = 0;                  ///< time on devices of what it launched itself
  std::array<std::int64_t, 2> memory{};  ///< of the host, of devices
  struct {
    time_ns cpu = 0;
    time_ns gpu = 0;
    std::array<std::int64_t, 2> memory{};
  } inner;  ///< of what it called directly

  [[nodiscard]] time_ns gpu() const noexcept { return plus(launched, inner.gpu); }
  void add_inner(const operator_sums& called) noexcept {
    add_to(inner.cpu, called.cpu);
    add_to(inner.gpu, called.gpu());
    add_to(inner.memory[0], called.memory[0]);
    add_to(inner.memory[1], called.memory[1]);
  }
};

/// "ProfilerStep#3".
[[nodiscard]] bool is_step(std::string_view name) noexcept;

void add_to(operator_row& to, const operator_row& r);
/// On devices with these ceilings, or on any.
void judge_operator(operator_row& r, const ceilings* device);
void put_in_order(std::vector<operator_row>& rows);

/// The rows of the tables, by what tells them apart.
class operator_rows {
 public:
  operator_rows(const trace& t, std::optional<ceilings> device) : t_{t}, device_{std::move(device)} {}

  std::uint32_t of_kind(const operator_kind& kind);
  /// Of a call or activity whose name is this text of the trace.
  std::uint32_t of_text(std::uint32_t text, bool on_device);
  std::uint32_t of_name(std::string_view name, bool annotation, bool on_device, std::string_view shapes = {});

  void add(std::uint32_t row, const operator_sums& one, const work* declared);
  [[nodiscard]] bool same_name(std::uint32_t a, std::uint32_t b) const noexcept {
    return keys_[a].name == keys_[b].name;
  }

  [[nodiscard]] operator_tables take();

 private:
  struct key {
    std::string_view name;
    std::string_view shapes;
    bool annotation = false;
    bool on_device = false;
    bool operator==(const key& o) const noexcept {
      return name == o.name && shapes == o.shapes && annotation == o.annotation && on_device == o.on_device;
    }
  };
  struct key_hash {
    std::size_t operator()(const key& k) const noexcept;
  };

  const trace& t_;
  std::optional<ceilings> device_;  // that all of them ran on
  std::vector<key> keys_;
  std::vector<operator_row> rows_;  // names and shapes are filled in last
  std::unordered_map<key, std::uint32_t, key_hash> known_;
  std::array<std::unordered_map<std::uint32_t, std::uint32_t>, 2> texts_;  // of the host, of devices
};

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_OPERATOR_ROWS_HPP
