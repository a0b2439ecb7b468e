// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The events of a trace that varve wrote, back into records as they were: nothing has to be joined or
// inferred. What somebody changed in the file is taken as far as it fits; the rest is counted.
#ifndef VARVE_FORMATS_PYTORCH_OWN_READER_HPP
#define VARVE_FORMATS_PYTORCH_OWN_READER_HPP

#include "formats/pytorch/event.hpp"
#include "formats/pytorch/losses.hpp"
#include "formats/pytorch/own_format.hpp"

#include <varve/trace.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

class own_reader {
 public:
  explicit own_reader(loss_counts& losses) : losses_{losses} {}

  /// Takes the root's member "varve". False where its form is not known; then this is of no use.
  [[nodiscard]] bool start(std::string_view header);
  /// Tokens need not outlive the call.
  void add(const event& e);
  /// All events will be `times` as many as those so far, or about.
  void expect(double times);
  [[nodiscard]] trace finish(const std::string& path);

 private:
  struct interval {
    time_ns begin = 0;
    time_ns end = 0;
  };
  /// Ids that a file gives to its records, ascending: mostly their indices.
  class numbering {
   public:
    [[nodiscard]] bool add(std::uint32_t id);
    [[nodiscard]] std::uint32_t find(std::uint32_t id) const noexcept;

   private:
    std::vector<std::uint32_t> ids_;
  };
  struct text_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };

  void read_run(std::string_view header);
  void read_rows(std::string_view table);  // of processes, threads, streams and devices

  void add_range(const event& e);
  void add_details(std::string_view details, std::uint32_t range);
  void add_operator(const event& e);
  void add_call(const event& e);
  void add_activity(const event& e);
  void add_memory(const event& e);

  [[nodiscard]] std::optional<interval> interval_of(const event& e, std::string_view begin,
                                                    std::string_view end);
  [[nodiscard]] std::optional<time_ns> time_of(std::string_view token) const noexcept;
  [[nodiscard]] std::string text_of(std::string_view token);
  [[nodiscard]] std::uint32_t string_of(std::string_view token);
  [[nodiscard]] std::uint32_t shape_of(const event& e, std::string_view static_memory);
  [[nodiscard]] work work_of(const std::vector<std::string_view>& cells, std::size_t from, std::size_t last);
  /// A whole number; `otherwise` where there is none, counted unless the token is empty or null.
  template <class Number>
  [[nodiscard]] Number number_of(std::string_view token, Number otherwise);
  template <class Enum, std::size_t Size>
  [[nodiscard]] Enum one_of(std::string_view token, const std::array<std::string_view, Size>& names,
                            Enum otherwise);
  [[nodiscard]] std::uint32_t reference(std::string_view token, const numbering& records);
  [[nodiscard]] std::uint16_t narrow(std::string_view token, std::size_t size, lost otherwise);

  loss_counts& losses_;
  trace trace_;
  own::label_paths labels_;
  time_ns base_ = 0;
  bool call_names_ = false;
  bool call_operators_ = false;
  bool activity_operators_ = false;
  bool activity_ranges_ = false;
  numbering ranges_;
  numbering operators_;
  std::vector<request_link> requests_;                                                  // by the file's ids
  std::unordered_map<std::string, std::uint32_t, text_hash, std::equal_to<>> strings_;  // by raw token
  std::vector<std::pair<bool, call_kind>> kinds_;                                       // by name
};

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_OWN_READER_HPP
