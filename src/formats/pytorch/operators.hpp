// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Calls of operators, nested on each thread, what they launched, and the work that their shapes tell.
#ifndef VARVE_FORMATS_PYTORCH_OPERATORS_HPP
#define VARVE_FORMATS_PYTORCH_OPERATORS_HPP

#include "formats/pytorch/event.hpp"
#include "formats/pytorch/kept_texts.hpp"
#include "formats/pytorch/losses.hpp"
#include "formats/pytorch/operator_joins.hpp"

#include <varve/trace.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// Until write() it holds 40 bytes an operator, 4 a call, 8 a call and an activity of which the file names
/// the operator, and what kinds of operators there are.
class operators {
 public:
  /// What autograd notes of an operator: one of the forward pass and the backward one that came of it have
  /// the same sequence number, and the backward one names the forward one's thread as the profiler counts it
  /// (≥ 1; 0: it is no backward one).
  struct sequence {
    std::uint32_t index = none;  ///< in trace::operators
    std::uint64_t number = 0;
    std::uint64_t forward_thread = 0;
  };

  /// An operator, an annotation, or overhead. `name` is in `t.strings`.
  void add(trace& t, operator_source source, const event& e, std::uint32_t name, std::uint16_t thread,
           time_ns begin, time_ns end, loss_counts& losses);
  /// The call, or activity, that was last added to the trace. `name` is in its strings.
  void add_call(std::size_t index, const event& e, std::uint32_t name);
  void add_activity(std::size_t index, const event& e);
  void add_memory(const event& e, time_ns at, loss_counts& losses);

  /// Where a trace holds several processes, which number operators alike: by thread and by activity which
  /// one it is of.
  void tell_apart(const trace& t, const std::vector<std::uint32_t>& of_thread,
                  const std::vector<std::uint32_t>& of_activity);

  /// Moves all into `t`, times moved by `shift`, once its calls and activities are there: nests operators,
  /// and joins calls and activities to them. Without any operator nothing is kept.
  void write(trace& t, time_ns shift);

  /// After write(): in order of `index`, those operators that have a number.
  [[nodiscard]] const std::vector<sequence>& sequences() const noexcept { return sequences_; }

  /// `all(n)` of what there are n of so far will come.
  template <class All>
  void expect(const All& all) {
    all_.reserve(all(all_.size()));
    sequences_.reserve(all(sequences_.size()));
    call_names_.reserve(all(call_names_.size()));
    of_call_.reserve(all(of_call_.size()));
    of_activity_.reserve(all(of_activity_.size()));
    memory_.reserve(all(memory_.size()));
  }

  [[nodiscard]] std::size_t size() const noexcept { return count_; }

 private:
  struct operation {
    time_ns begin = 0;
    time_ns end = 0;
    std::uint64_t external = 0;
    std::uint32_t order = 0;  // of begin, as the profiler counted; 0 where it did not
    std::uint32_t kind = none;
    std::uint32_t sequence = none;  // in sequences_
    std::uint16_t thread = narrow_none;
  };
  struct kind_key {
    std::uint32_t name = none;
    operator_source source = operator_source::operation;
    std::string_view shapes;
    std::string_view types;
    std::string_view values;
    bool operator==(const kind_key& other) const noexcept {
      return name == other.name && source == other.source && shapes == other.shapes && types == other.types &&
             values == other.values;
    }
  };
  struct kind_hash {
    std::size_t operator()(const kind_key& k) const noexcept;
  };

  std::uint32_t kind_of(trace& t, operator_source source, const event& e, std::uint32_t name,
                        loss_counts& losses);
  bool by_value(const trace& t, std::uint32_t name);
  void nest(trace& t, time_ns shift);
  void join_by_id(trace& t) const;
  static void join_by_time(trace& t);

  std::vector<operation> all_;
  std::vector<sequence> sequences_;
  std::vector<std::uint32_t> call_names_;
  std::vector<std::uint64_t> of_call_;  // operators' ids, as far as there are any
  std::vector<std::uint64_t> of_activity_;
  std::vector<memory_event> memory_;
  kept_texts kept_;  // of kinds_
  std::unordered_map<kind_key, std::uint32_t, kind_hash> kinds_;
  enum class asked : std::uint8_t { not_yet, no, yes };
  std::vector<asked> by_value_;  // by name: is its work told by values?
  std::vector<joining_kind> joins_;
  std::size_t count_ = 0;  // of source operation
};

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_OPERATORS_HPP
