// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What an operator was called with, out of the JSON lists that the profiler writes.
#ifndef VARVE_FORMATS_PYTORCH_OPERATOR_INPUTS_HPP
#define VARVE_FORMATS_PYTORCH_OPERATOR_INPUTS_HPP

#include "formats/pytorch/amount.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// One input. What is no tensor has no sizes.
struct operator_input {
  std::vector<std::int64_t> sizes;
  bool is_list = false;    ///< of tensors, of which no sizes are kept
  amount listed{0};        ///< elements of all its tensors together
  std::string_view type;   ///< "c10::BFloat16", "Scalar", "" for none
  std::string_view value;  ///< "1.0", "[2, 2]", "True"; "" where it was not recorded
};

class operator_inputs {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  /// An input without sizes, type and value where there is no such.
  [[nodiscard]] const operator_input& operator[](std::size_t i) const noexcept;

  /// "[[16, 64], [], []]", a list of tensors as "[]"; empty where sizes of no input are known.
  [[nodiscard]] std::string shape_text() const;

 private:
  friend std::optional<operator_inputs> read_inputs(std::string_view, std::string_view, std::string_view);
  std::vector<operator_input> all_;
};

/// From "Input Dims", "Input type" and "Concrete Inputs" as they stand in the file, "" where absent; views
/// point into them. Nothing where shapes or types are none that a profiler writes: at most 1024 inputs of at
/// most 64 dimensions.
[[nodiscard]] std::optional<operator_inputs> read_inputs(std::string_view shapes, std::string_view types,
                                                         std::string_view values);

/// The whole numbers of a value such as "[2, 2]" or "2"; nothing for another text.
[[nodiscard]] std::optional<std::vector<std::int64_t>> whole_numbers(std::string_view value);

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_OPERATOR_INPUTS_HPP
