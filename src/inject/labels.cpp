// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "inject/labels.hpp"

#include "formats/pytorch/rules.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace varve::inject {

namespace {

constexpr std::size_t most_texts = 65536;
constexpr std::size_t most_names = 16384;
constexpr std::size_t most_names_and_passes = most_names + 1024;
constexpr std::size_t longest_name = 512;
constexpr const char* further_names = "(further names)";

struct mark_table {
  std::mutex mutex;  // guards what follows; never held across a call into varve
  std::unordered_map<std::string_view, const char*> names;
  std::unordered_map<std::string_view, std::unique_ptr<range_mark>> known;
  std::mutex rules_mutex;
  pytorch::naming_rules rules;
};

mark_table& table() noexcept {
  static auto* const leaked = new mark_table;  // outlives every thread and static destructor
  return *leaked;
}

/// "Prefill" and "DECODE" are passes too.
const char* pass_named(std::string_view name) noexcept {
  for (const char* const kind : {VARVE_PREFILL, VARVE_DECODE}) {
    const std::string_view known{kind};
    if (std::equal(name.begin(), name.end(), known.begin(), known.end(),
                   [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; })) {
      return kind;
    }
  }
  return nullptr;
}

/// Takes the index off the end of a name, as varve_label_parse() does.
std::int32_t split_index(std::string& name) {
  const std::size_t at = name.find_last_of("-_.");
  std::int32_t index = 0;
  if (at != std::string::npos && at > 0) {
    const char* const first = name.data() + at + 1;
    const char* const last = name.data() + name.size();
    const auto [end, fault] = std::from_chars(first, last, index);
    if (first != last && *first != '-' && end == last && fault == std::errc{}) {
      name.resize(at);
      return index;
    }
  }
  return no_index;
}

/// Cut between characters.
std::string shortened(std::string text) {
  if (text.size() > longest_name) {
    std::size_t end = longest_name;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
      --end;
    }
    text.resize(end);
  }
  return text;
}

/// One that lives for ever: there are not too many of them.
const char* name_of(const std::string& name, std::size_t most) {
  mark_table& t = table();
  {
    const std::lock_guard lock{t.mutex};
    if (const auto known = t.names.find(name); known != t.names.end()) {
      return known->second;
    }
    if (t.names.size() >= most) {
      return further_names;
    }
  }
  const char* const kept = varve_label(name.c_str(), VARVE_NO_INDEX).name;
  const std::lock_guard lock{t.mutex};
  t.names.emplace(kept, kept);
  return kept;
}

void read_into(range_mark& out, std::string_view text) {
  pytorch::mark read;
  {
    mark_table& t = table();
    const std::lock_guard lock{t.rules_mutex};
    read = t.rules.read(text, false);
  }
  out.attributes = std::move(read.attributes);
  out.ignored = read.form == pytorch::mark_form::ignored;
  out.index = read.index;
  out.kind = read.kind == range_kind::phase && read.form != pytorch::mark_form::profiler_step
                 ? VARVE_KIND_PHASE
                 : VARVE_KIND_LAYER;
  std::string name = shortened(std::move(read.name));
  if (out.kind == VARVE_KIND_LAYER) {
    if (out.index == no_index) {
      out.index = split_index(name);
    }
    if (const char* const pass = pass_named(name)) {
      out.name = pass;
      out.kind = VARVE_KIND_PHASE;
      return;
    }
  }
  out.name = name_of(name, out.kind == VARVE_KIND_PHASE ? most_names_and_passes : most_names);
}

range_mark make(std::string_view text, std::size_t hash) noexcept {
  range_mark out;
  out.hash = hash;
  try {
    out.text = text;
    read_into(out, text);
  } catch (...) {
    out.name = "(no memory for its name)";
  }
  return out;
}

const range_mark* find(std::string_view text) {
  mark_table& t = table();
  const std::lock_guard lock{t.mutex};
  const auto found = t.known.find(text);
  return found != t.known.end() ? found->second.get() : nullptr;
}

/// nullptr where there is no room.
const range_mark* keep(range_mark& made) {
  auto kept = std::make_unique<range_mark>(made);
  mark_table& t = table();
  const std::lock_guard lock{t.mutex};
  if (t.known.size() >= most_texts) {
    return nullptr;
  }
  return t.known.try_emplace(kept->text, std::move(kept)).first->second.get();
}

}  // namespace

void set_rules(const std::vector<naming_rule>& rules) {
  pytorch::naming_rules compiled{rules};
  mark_table& t = table();
  const std::lock_guard lock{t.rules_mutex};
  t.rules = std::move(compiled);
}

const range_mark& mark_of(std::string_view text) noexcept {
  // Of no destructor, since ranges may come after those of a thread's objects.
  thread_local std::array<const range_mark*, 256> recent{};
  const std::size_t hash = std::hash<std::string_view>{}(text);
  const range_mark*& slot = recent[hash % recent.size()];
  if (slot != nullptr && slot->hash == hash && slot->text == text) {
    return *slot;
  }
  try {
    const range_mark* found = find(text);
    if (found == nullptr) {
      range_mark made = make(text, hash);
      found = keep(made);
      if (found == nullptr) {
        thread_local auto* const last = new range_mark;  // one a thread
        *last = std::move(made);
        return *last;
      }
    }
    slot = found;
    return *found;
  } catch (...) {
    static const range_mark none = make({}, 0);
    return none;
  }
}

const range_mark* kept_mark_of(const range_mark& mark) noexcept {
  try {
    if (const range_mark* const known = find(mark.text)) {
      return known;
    }
  } catch (...) {
    // none of its own then
  }
  static const range_mark further = [] {
    range_mark made;
    made.name = further_names;
    return made;
  }();
  return &further;
}

std::string narrow(const wchar_t* text) {
  std::string out;
  for (; *text != L'\0' && out.size() < longest_text; ++text) {
    auto c = static_cast<std::uint32_t>(*text);  // NOLINT(bugprone-signed-char-misuse): of 32 bits
    if (c > 0x10FFFFU || (c >= 0xD800U && c < 0xE000U)) {
      c = 0xFFFDU;
    }
    const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
    const auto rest = [&](std::uint32_t shift) { put(0x80U | (c >> shift & 0x3FU)); };
    if (c < 0x80U) {
      put(c);
    } else if (c < 0x800U) {
      put(0xC0U | c >> 6U);
      rest(0);
    } else if (c < 0x10000U) {
      put(0xE0U | c >> 12U);
      rest(6);
      rest(0);
    } else {
      put(0xF0U | c >> 18U);
      rest(12);
      rest(6);
      rest(0);
    }
  }
  return out;
}

void lock_marks() noexcept {
  table().rules_mutex.lock();
  table().mutex.lock();
}
void unlock_marks() noexcept {
  table().mutex.unlock();
  table().rules_mutex.unlock();
}

}  // namespace varve::inject
