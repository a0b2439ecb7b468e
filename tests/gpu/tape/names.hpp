// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// CUPTI's numbers that a tape names, so that people can read and write it.
#ifndef VARVE_TESTS_GPU_TAPE_NAMES_HPP
#define VARVE_TESTS_GPU_TAPE_NAMES_HPP

#include <cstdint>
#include <string_view>

namespace varve_tape {

struct number_name {
  std::uint32_t number;
  std::string_view name;
};

inline constexpr number_name resource_names[] = {{1, "context_created"},
                                                 {2, "context_destroy_starting"},
                                                 {3, "stream_created"},
                                                 {4, "stream_destroy_starting"},
                                                 {5, "cu_init_finished"},
                                                 {6, "module_loaded"},
                                                 {7, "module_unload_starting"},
                                                 {8, "module_profiled"},
                                                 {9, "graph_created"},
                                                 {10, "graph_destroy_starting"},
                                                 {11, "graph_cloned"},
                                                 {12, "node_create_starting"},
                                                 {13, "node_created"},
                                                 {14, "node_destroy_starting"},
                                                 {15, "dependency_created"},
                                                 {16, "dependency_destroy_starting"},
                                                 {17, "exec_create_starting"},
                                                 {18, "exec_created"},
                                                 {19, "exec_destroy_starting"},
                                                 {20, "node_cloned"},
                                                 {21, "stream_attribute_changed"},
                                                 {22, "node_updated"},
                                                 {23, "node_set_params"}};

inline constexpr number_name node_names[] = {
    {0, "kernel"},    {1, "memcpy"}, {2, "memset"}, {3, "host"},        {4, "graph"},
    {5, "empty"},     {6, "wait"},   {7, "record"}, {8, "signal"},      {9, "await"},
    {10, "allocate"}, {11, "free"},  {12, "batch"}, {13, "conditional"}};

inline constexpr number_name record_names[] = {
    {1, "memcpy"},    {2, "memset"},   {4, "driver"},       {5, "runtime"}, {10, "kernel"},
    {17, "overhead"}, {22, "memcpy2"}, {39, "external_id"}, {49, "memory"}, {51, "graph_trace"}};

/// A number that is written by its name, where it has one.
template <const auto& Names>
struct named {
  std::uint32_t number = 0;

  named() = default;
  named(std::uint32_t n) : number{n} {}              // NOLINT(google-explicit-constructor): it is one
  operator std::uint32_t() const { return number; }  // NOLINT(google-explicit-constructor)

  /// Empty where there is none.
  [[nodiscard]] std::string_view name() const {
    for (const number_name& n : Names) {
      if (n.number == number) {
        return n.name;
      }
    }
    return {};
  }
  /// False where nothing is called that.
  bool find(std::string_view name) {
    for (const number_name& n : Names) {
      if (n.name == name) {
        number = n.number;
        return true;
      }
    }
    return false;
  }
};

using resource_number = named<resource_names>;
using node_number = named<node_names>;
using record_number = named<record_names>;

}  // namespace varve_tape

#endif  // VARVE_TESTS_GPU_TAPE_NAMES_HPP
