// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/document.hpp"

#include "formats/input/json_text.hpp"
#include "formats/pytorch/marks.hpp"
#include "formats/pytorch/parser.hpp"

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

class walker {
 public:
  walker(const input::buffer& text, builder& to, loss_counts& losses,
         const std::function<void(std::uint64_t)>& progress)
      : text_{text}, to_{to}, losses_{losses}, progress_{progress} {}

  walked run() {
    json::parser parser;
    const std::string_view text = text_.view();
    json::document document = need(parser.iterate(text.data(), text.size(), text.size() + text_.padding));
    const json::json_type type = need(document.type());
    if (type != json::json_type::object && type != json::json_type::array) {
      throw refused{refusal::no_trace};
    }
    if (type == json::json_type::object) {
      root(need(document.get_object()));
    } else {
      events(need(document.get_array()));
      found_ = phases_ > 0;
    }
    if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
      throw refused{refusal::damaged};  // text after the end
    }
    if (!found_) {
      throw refused{refusal::no_trace};
    }
    return out_;
  }

 private:
  void root(json::object object) {
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
        events(array);
      }
    }
  }

  void events(json::array array) {
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
        e.kind = category::unread;  // one without a name
      }
      phases_ += e.phase.empty() ? 0U : 1U;
      if (e.phase == "\"M\"") {
        to_.add_name(e);
      } else if (e.cat.empty() && e.phase == "\"X\"") {
        out_.unread += to_.add_by_row(e) ? 0U : 1U;
      } else if (e.kind == category::instant && e.phase == "\"i\"" && e.name == "\"[memory]\"") {
        to_.add_memory(e);
      } else if (e.kind == category::unread || e.kind == category::instant) {
        ++out_.unread;
      } else if (e.phase != "\"X\"") {
        losses_.add(lost::incomplete_phase);
      } else {
        to_.add(e);
      }
      if (++count % 4096 == 0 && !e.phase.empty()) {
        const auto done = static_cast<std::size_t>(e.phase.data() - text_.view().data());
        if (!expected_ && done > text_.size() / 32) {
          expected_ = true;
          to_.expect(static_cast<double>(text_.size()) / static_cast<double>(done));
        }
        if (progress_) {
          progress_(done);
        }
      }
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
      if (e.kind == category::python && !e.name.empty() && !is_read(e.name)) {
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

  const input::buffer& text_;
  builder& to_;
  loss_counts& losses_;
  const std::function<void(std::uint64_t)>& progress_;
  walked out_;
  bool found_ = false;
  bool expected_ = false;
  std::uint64_t phases_ = 0;
};

}  // namespace

walked walk(const input::buffer& text, builder& to, loss_counts& losses,
            const std::function<void(std::uint64_t)>& progress) {
  return walker{text, to, losses, progress}.run();
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
