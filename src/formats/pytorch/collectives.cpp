// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/collectives.hpp"

#include "formats/input/json_text.hpp"
#include "formats/pytorch/number.hpp"
#include "formats/pytorch/operator_around.hpp"

#include <varve/report.hpp>

#include <algorithm>
#include <limits>
#include <tuple>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

constexpr std::int64_t most_bytes = std::int64_t{1} << 53U;  // more than any message; sums of many still fit
constexpr std::size_t most_around = 16;                      // operators around a launch that are looked at
constexpr std::size_t most_parts = 8;
constexpr std::size_t most_nesting = 8;

bool holds(std::string_view text, std::string_view part) noexcept {
  return text.find(part) != std::string_view::npos;
}

/// The collective's own annotation: "nccl:all_reduce".
bool is_title(std::string_view name) noexcept {
  const std::size_t colon = name.find(':');
  return colon != std::string_view::npos && colon + 1 < name.size() && name[colon + 1] != ':' &&
         (name.substr(0, colon) == "nccl" || name.substr(0, colon) == "xccl");
}

bool is_collective_operator(std::string_view name) noexcept {
  constexpr std::string_view words[] = {"all_reduce",     "allreduce",  "all_gather", "allgather",
                                        "reduce_scatter", "all_to_all", "alltoall"};
  return name.starts_with("c10d::") ||
         std::any_of(std::begin(words), std::end(words), [&](auto word) { return holds(name, word); });
}

/// Operators of these names get their result's tensor before their input's.
bool has_result_first(std::string_view name) noexcept {
  return name.starts_with("c10d::") && holds(name, "_base");
}

std::int64_t times(std::int64_t a, std::int64_t b) noexcept {
  return a < 0 || b < 0 || (b != 0 && a > most_bytes / b) ? -1 : a * b;
}

/// Elements of shapes nested in lists: walks a text that is JSON, or not.
class shape_walk {
 public:
  explicit shape_walk(std::string_view text) : text_{text} {}

  /// The elements of the next input, −1 when it has no shape; false at the end.
  bool next(std::int64_t& elements) {
    at_ = std::min(text_.find_first_of("[]", at_), text_.size());
    if (at_ == text_.size() || text_[at_] == ']') {
      return false;
    }
    elements = -1;
    std::size_t depth = 0;
    std::int64_t product = -1;  // of the numbers in the innermost list
    bool broken = false;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '[') {
        broken |= ++depth > most_nesting;
        product = -1;
      } else if (c == ']') {
        if (product >= 0) {
          elements = std::max<std::int64_t>(elements, 0) + product;
          broken |= elements > most_bytes;
          product = -1;
        }
        if (--depth == 0) {
          break;
        }
      } else if (c >= '0' && c <= '9') {
        const std::size_t from = at_ - 1;
        at_ = std::min(text_.find_first_not_of("0123456789", from), text_.size());
        const auto size = whole(text_.substr(from, at_ - from), static_cast<std::uint64_t>(most_bytes));
        product = size ? times(product < 0 ? 1 : product, static_cast<std::int64_t>(*size)) : -1;
        broken |= product < 0;
      }
    }
    elements = broken ? -1 : elements;
    return true;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 1;  // past the first bracket
};

}  // namespace

std::int64_t element_bytes(std::string_view type) noexcept {
  struct size {
    std::string_view type;
    std::int64_t bytes;
  };
  constexpr size sizes[] = {
      {"float", 4},         {"Float", 4},       {"c10::BFloat16", 2}, {"BFloat16", 2},
      {"c10::Half", 2},     {"Half", 2},        {"double", 8},        {"Double", 8},
      {"long", 8},          {"long int", 8},    {"Long", 8},          {"int", 4},
      {"Int", 4},           {"short", 2},       {"short int", 2},     {"Short", 2},
      {"unsigned char", 1}, {"Byte", 1},        {"signed char", 1},   {"Char", 1},
      {"bool", 1},          {"Bool", 1},        {"UInt16", 2},        {"UInt32", 4},
      {"UInt64", 8},        {"ComplexHalf", 4}, {"ComplexFloat", 8},  {"ComplexDouble", 16},
  };
  if (holds(type, "Float8")) {
    return 1;
  }
  const auto* const found =
      std::find_if(std::begin(sizes), std::end(sizes), [&](const size& s) { return s.type == type; });
  return found != std::end(sizes) ? found->bytes : 0;
}

std::vector<std::int64_t> input_bytes(std::string_view shapes, std::string_view types, std::size_t most) {
  std::vector<std::int64_t> out;
  if (shapes.empty() || shapes.front() != '[') {
    return out;
  }
  shape_walk walk{shapes};
  std::size_t at = 0;
  for (std::int64_t elements = 0; out.size() < most && walk.next(elements);) {
    const std::size_t from = types.find('"', at);
    const std::size_t to = from == std::string_view::npos ? from : types.find('"', from + 1);
    const bool typed = to != std::string_view::npos;
    const std::int64_t size = typed ? element_bytes(types.substr(from + 1, to - from - 1)) : 0;
    at = typed ? to + 1 : types.size();
    out.push_back(size > 0 ? times(elements, size) : -1);
  }
  return out;
}

collective collectives::read(const event& e, std::uint32_t called, loss_counts& losses) {
  collective c;
  c.name = called;
  const std::int64_t size = input::is_string(e.data_type) ? element_bytes(input::inside(e.data_type)) : 0;
  const auto bytes = [&](std::string_view token) {
    const auto elements = whole(token, static_cast<std::uint64_t>(most_bytes));
    losses.add(lost::invalid_message, token.empty() || elements ? 0 : 1);
    return elements && size > 0 ? times(static_cast<std::int64_t>(*elements), size) : -1;
  };
  c.bytes_in = bytes(e.elements_in);
  c.bytes_out = bytes(e.elements_out);
  const auto ranks = whole(e.group_size, std::numeric_limits<std::int32_t>::max());
  losses.add(lost::invalid_message, e.group_size.empty() || ranks ? 0 : 1);
  c.ranks = static_cast<std::uint32_t>(ranks.value_or(0));
  return c;
}

void collectives::add_kernel(const trace& t, const event& e, std::uint32_t name, std::uint32_t called,
                             loss_counts& losses) {
  is_collective_.resize(std::max(is_collective_.size(), name + std::size_t{1}));
  std::uint8_t& is = is_collective_[name];
  if (is == 0) {
    is = kernel_category(t.strings[name]) == "collective" ? 2 : 1;
  }
  if (is == 2 || called != none) {
    all_.push_back(read(e, called, losses));
    all_.back().activity = static_cast<std::uint32_t>(t.activities.size() - 1);
  }
}

void collectives::add_operator(const event& e, std::uint32_t called, std::uint16_t thread, time_ns begin,
                               time_ns end, loss_counts& losses) {
  if (thread != narrow_none) {
    operators_.push_back({begin, end, read(e, called, losses), thread});
  }
}

const collectives::telling& collectives::tells(const trace& t, std::uint32_t kind) {
  const auto [known, added] = kinds_.try_emplace(kind);
  telling& out = known->second;
  if (!added) {
    return out;
  }
  const operator_kind& k = t.operator_kinds[kind];
  const std::string_view name = t.strings[k.name];
  out.named = is_title(name) || is_collective_operator(name);
  if (!out.named && name != "record_param_comms") {  // that is around every collective
    return out;
  }
  const auto inputs = input_bytes(t.strings[k.shapes], t.strings[k.types], most_parts);
  const auto is_known = [](std::int64_t bytes) { return bytes >= 0; };
  const auto first = std::find_if(inputs.begin(), inputs.end(), is_known);
  if (first != inputs.end() && has_result_first(name)) {
    const auto second = std::find_if(first + 1, inputs.end(), is_known);
    out.bytes_out = *first;
    out.bytes_in = second != inputs.end() ? *second : -1;
  } else if (first != inputs.end()) {
    out.bytes_in = *first;
  }
  return out;
}

/// Adds what stands around the call that launched it, where that is not known yet.
void collectives::complete(const trace& t, std::uint32_t call, collective& c) {
  const std::uint16_t thread = t.calls.thread[call];
  const time_ns at = t.calls.begin[call] + (t.calls.end[call] - t.calls.begin[call]) / 2;
  auto past = std::upper_bound(operators_.begin(), operators_.end(), std::pair{thread, at},
                               [](const auto& key, const host_call& o) {
                                 return key < std::pair{o.thread, o.begin};
                               });
  if (past != operators_.begin() && (--past)->thread == thread && past->end >= at) {
    const collective& around = past->about;
    c.name = c.name == none ? around.name : c.name;
    c.bytes_in = c.bytes_in < 0 ? around.bytes_in : c.bytes_in;
    c.bytes_out = c.bytes_out < 0 ? around.bytes_out : c.bytes_out;
    c.ranks = c.ranks == 0 ? around.ranks : c.ranks;
  }
  std::uint32_t name = none;
  std::uint32_t around = operator_around(t.operators, thread, at);
  for (std::size_t n = 0; around != none && n < most_around; ++n, around = t.operators.parent[around]) {
    const std::uint32_t kind = t.operators.kind[around];
    const telling& told = tells(t, kind);
    name = name == none && told.named ? t.operator_kinds[kind].name : name;
    c.bytes_in = c.bytes_in < 0 ? told.bytes_in : c.bytes_in;
    c.bytes_out = c.bytes_out < 0 ? told.bytes_out : c.bytes_out;
  }
  c.name = c.name == none ? name : c.name;
  const std::string_view text = t.strings[c.name];
  if (c.ranks == 0 && c.bytes_in > 0 && c.bytes_out >= c.bytes_in && c.bytes_out % c.bytes_in == 0 &&
      (holds(text, "all_gather_base") || holds(text, "allgather_base"))) {
    // Each rank gives as much.
    c.ranks = static_cast<std::uint32_t>(
        std::min<std::int64_t>(c.bytes_out / c.bytes_in, std::numeric_limits<std::int32_t>::max()));
  }
}

void collectives::shift(time_ns by) {
  for (host_call& o : operators_) {
    o.begin += by;
    o.end += by;
  }
}

void collectives::write(trace& t) {
  std::sort(operators_.begin(), operators_.end(), [](const host_call& a, const host_call& b) {
    return std::tuple{a.thread, a.begin, -a.end} < std::tuple{b.thread, b.begin, -b.end};
  });
  std::unordered_map<std::uint32_t, std::uint32_t> calls;  // by correlation
  for (const collective& c : all_) {
    if (const std::uint32_t id = t.activities.correlation[c.activity]; id != 0) {
      calls.emplace(id, none);
    }
  }
  if (!calls.empty()) {
    for (std::uint32_t i = 0; i < t.calls.size(); ++i) {
      const call_kind kind = t.calls.kind[i];
      if (kind != call_kind::launch && kind != call_kind::graph_launch) {
        continue;
      }
      if (const auto found = calls.find(t.calls.correlation[i]); found != calls.end()) {
        found->second = i;
      }
    }
  }
  for (collective& c : all_) {
    const auto found = calls.find(t.activities.correlation[c.activity]);
    if (found != calls.end() && found->second != none && t.calls.kind[found->second] == call_kind::launch) {
      complete(t, found->second, c);
    }
    if (c.name != none || c.bytes_in >= 0 || c.bytes_out >= 0 || c.ranks != 0) {
      t.collectives.push_back(c);
    }
  }
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
