// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/document.hpp"

#include "formats/input/json_text.hpp"
#include "formats/pytorch/marks.hpp"
#include "formats/pytorch/parser.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

static_assert(input::buffer::padding >= simdjson::SIMDJSON_PADDING);

/// Of frames of Python only calls of modules and of generate() are read.
bool is_read(std::string_view frame) noexcept { return is_module(frame) || is_generate(frame); }

bool is_step(std::string_view name) noexcept {
  constexpr std::string_view step = "\"ProfilerStep#";
  return name.substr(0, step.size()) == step;
}

bool is_flow(category kind) noexcept {
  return kind == category::launch_flow || kind == category::backward_flow;
}

/// Pieces longer than this are left to a reader that takes all of a text at once.
constexpr std::size_t longest_piece = std::size_t{64} << 20U;

class walker {
 public:
  walker(builder& to, loss_counts& losses, const std::function<void(double)>& progress)
      : to_{to}, losses_{losses}, progress_{progress} {}

  /// All of a document; or, with a `seam`, a piece of one with the list of events closed there.
  void document(std::string_view text, const char* seam = nullptr) {
    text_ = text;
    seam_ = seam;
    rest_ = nullptr;
    json::document document =
        need(parser_.iterate(text.data(), text.size(), text.size() + input::buffer::padding));
    const json::json_type type = need(document.type());
    if (type != json::json_type::object && type != json::json_type::array) {
      throw refused{refusal::no_trace};
    }
    if (type == json::json_type::object) {
      root(document, need(document.get_object()));
    } else {
      events(document, need(document.get_array()));
      found_ = phases_ > 0;
    }
    if (rest_ == nullptr && document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
      throw refused{refusal::damaged};  // text after the end
    }
  }

  /// Cuts the text between events, and makes each piece a document by the brackets that it lacks.
  void pieces(input::window& window) {
    fill(window);
    if (constexpr std::string_view mark = "\xEF\xBB\xBF"; window.text().substr(0, mark.size()) == mark) {
      window.drop(mark.size());
    }
    const std::string_view text = window.text();
    const bool object =
        text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size())).substr(0, 1) == "{";
    std::string_view before;
    bool in_list = false;
    bool ended = false;
    while (!window.at_end()) {
      const auto seam = ended ? std::nullopt : next_seam(window.text(), in_list || !object);
      if (!seam) {
        if (window.text().size() > longest_piece) {
          throw refused{refusal::too_long};
        }
        window.grow();
      } else {
        const std::string_view piece = window.piece(before, seam->end, in_list || !object ? "]" : "]}");
        const char* const begin = piece.data() + before.size();
        document(piece, begin + seam->end);
        if (object && !found_) {
          throw refused{refusal::damaged};
        }
        ended = rest_ != nullptr;
        in_list = true;
        before = !ended ? "[" : object ? R"({"":[])" : "[]";
        window.drop(ended ? static_cast<std::size_t>(rest_ - begin) : seam->next);
      }
      fill(window);
    }
    if (object && in_list && !ended) {
      before = R"({"traceEvents":[)";
      found_ = false;
    }
    document(window.piece(before, window.text().size(), ""));
  }

  walked result() {
    if (!found_) {
      throw refused{refusal::no_trace};
    }
    if (to_.has_no_categories()) {
      throw refused{refusal::no_category};
    }
    return out_;
  }

 private:
  void fill(input::window& window) {
    if (!window.fill()) {
      throw refused{refusal::too_long};
    }
    report(window.part());
  }

  static std::optional<input::seam> next_seam(std::string_view text, bool in_list) {
    const auto seam = input::last_seam(text);
    const bool good = in_list || (seam && text.substr(0, seam->end).find("\"traceEvents\"") != text.npos);
    return good ? seam : std::nullopt;
  }

  void report(double part) {
    if (!expected_ && phases_ > 0 && part > 1.0 / 32) {
      expected_ = true;
      to_.expect(1 / part);
    }
    if (progress_) {
      progress_(part);
    }
  }

  void root(json::document& document, json::object object) {
    for (auto result : object) {
      json::field field = need(std::move(result));
      const char* const key = field.key().raw();
      json::value& value = field.value();
      json::array array;
      if (!is(key, "traceEvents")) {
        read_header(key, value, out_.about, to_, losses_);
      } else if (found_) {
        losses_.add(lost::repeated_key);
      } else if (is_a(value, array)) {
        found_ = true;
        events(document, array);
        if (rest_ != nullptr) {
          return;
        }
      }
    }
  }

  void events(json::document& document, json::array array) {
    std::uint64_t count = 0;
    for (auto result : array) {
      json::value value = element(result);
      json::object object;
      if (!is_a(value, object)) {
        losses_.add(lost::not_an_object);
        continue;
      }
      event e;
      one_event(object, e);
      if (e.kind == category::python && !is_read(e.name)) {
        if (frames_left_ > 0 && e.phase == "\"X\"") {
          --frames_left_;
          to_.note_frame(e);
        }
        e.kind = category::unread;
      }
      phases_ += e.phase.empty() ? 0U : 1U;
      if (to_.add_own(e)) {
        // Nothing else is in a trace that varve wrote.
      } else if (e.phase == "\"M\"") {
        to_.add_name(e);
      } else if (e.cat.empty() && e.phase == "\"X\"") {
        out_.unread += to_.add_by_row(e) ? 0U : 1U;
      } else if (e.kind == category::instant && e.phase == "\"i\"" && e.name == "\"[memory]\"") {
        to_.add_memory(e);
      } else if (is_flow(e.kind)) {
        if (e.phase == "\"s\"" || e.phase == "\"f\"") {
          to_.add_flow(e);
        } else {
          ++out_.unread;  // a step on the way
        }
      } else if (e.kind == category::unread || e.kind == category::instant) {
        ++out_.unread;
      } else if (e.phase != "\"X\"") {
        losses_.add(lost::incomplete_phase);
      } else {
        to_.add(e);
      }
      if (++count % 4096 == 0 && seam_ == nullptr && !e.phase.empty()) {
        report(static_cast<double>(e.phase.data() - text_.data()) / static_cast<double>(text_.size()));
      }
    }
    // Of a piece that is closed at its seam the list may have ended before.
    const auto next = document.current_location();
    if (seam_ != nullptr && next.error() == simdjson::SUCCESS && next.value_unsafe() < seam_) {
      rest_ = next.value_unsafe();
    }
  }

  /// Stops as soon as it is clear that the event is of no interest; the parser skips the rest.
  void one_event(json::object object, event& e) {
    for (auto result : object) {
      json::field field = need(std::move(result));
      const char* const key = field.key().raw();
      json::value& value = field.value();
      switch (key[0]) {
        case 'a':
          if (is(key, "args")) {
            read_arguments(value, e, losses_);
          }
          break;
        case 'c':
          if (is(key, "cat")) {
            take(e.cat, value);
            e.kind = input::is_string(e.cat) ? category_of(input::inside(e.cat)) : category::unread;
          }
          break;
        case 'd':
          if (is(key, "dur")) {
            take(e.duration, value);
          }
          break;
        case 'i':
          if (is(key, "id")) {
            take(e.id, value);
          }
          break;
        case 'n':
          if (is(key, "name")) {
            take(e.name, value);
          }
          break;
        case 'p':
          if (is(key, "ph")) {
            take(e.phase, value);
          } else if (is(key, "pid")) {
            take(e.process, value);
          }
          break;
        case 't':
          if (is(key, "ts")) {
            take(e.begin, value);
          } else if (is(key, "tid")) {
            take(e.thread, value);
          }
          break;
        default:
          break;
      }
      if (e.kind == category::python && !e.name.empty() && frames_left_ == 0 && !is_read(e.name)) {
        e.kind = category::unread;
      }
      if (e.kind == category::operation && is_step(e.name)) {
        e.kind = category::annotation;  // PyTorch 1.8 and 1.9 had no category for them
      }
      const bool unread = !e.cat.empty() && e.kind == category::unread;
      if (unread && !e.phase.empty() && e.phase != "\"M\"") {
        return;
      }
    }
  }

  void take(std::string_view& to, json::value& value) { pytorch::take(to, value, losses_); }

  builder& to_;
  loss_counts& losses_;
  const std::function<void(double)>& progress_;
  json::parser parser_;
  std::string_view text_;
  const char* seam_ = nullptr;
  const char* rest_ = nullptr;  // what follows the list, where that has ended before the seam
  walked out_;
  std::size_t frames_left_ = 4096;  // that are looked at although they are not read: by then some have ended
  bool found_ = false;
  bool expected_ = false;
  std::uint64_t phases_ = 0;
};

}  // namespace

walked walk(const input::buffer& text, builder& to, loss_counts& losses,
            const std::function<void(double)>& progress) {
  walker w{to, losses, progress};
  w.document(text.view());
  return w.result();
}

walked walk(input::window& window, builder& to, loss_counts& losses,
            const std::function<void(double)>& progress) {
  walker w{to, losses, progress};
  w.pieces(window);
  return w.result();
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
