// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What passes say of their sequences.
#ifndef VARVE_WORK_PASS_BATCHES_HPP
#define VARVE_WORK_PASS_BATCHES_HPP

#include <varve/model.hpp>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace varve {
inline namespace v0 {
namespace model_work {

struct pass_batch {
  std::vector<pass_sequence> sequences;
  std::int64_t logits = -1;  ///< negative: not told
  enum class state : std::uint8_t { known, no_tokens, no_context, too_many };
  state is = state::no_tokens;
};

class pass_batches {
 public:
  pass_batches(const trace& t, const describe_options& options);
  /// `decodes`: the pass is of that kind. `only_told`: not the batch that is given for those that do not say
  /// it.
  [[nodiscard]] pass_batch of(std::uint32_t range, bool decodes, bool only_told) const;

 private:
  void give(bool decodes, pass_batch& out) const;

  struct told {
    std::vector<std::int64_t> numbers;  ///< by attribute; negative: not told
    std::vector<pass_sequence> sequences;
  };

  const describe_options& options_;
  std::unordered_map<std::uint32_t, told> told_;
};

}  // namespace model_work
}  // namespace v0
}  // namespace varve

#endif  // VARVE_WORK_PASS_BATCHES_HPP
