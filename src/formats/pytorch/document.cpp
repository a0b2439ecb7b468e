// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/document.hpp"

#include "formats/input/json_text.hpp"
#include "formats/pytorch/marks.hpp"
#include "formats/pytorch/number.hpp"
#include "formats/pytorch/parser.hpp"

#include <utility>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

static_assert(input::buffer::padding >= simdjson::SIMDJSON_PADDING);

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
      if (progress_ && ++count % 4096 == 0 && !e.phase.empty()) {
        progress_(static_cast<std::uint64_t>(e.phase.data() - text_.view().data()));
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
            arguments(value, e);
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
      if (e.kind == category::python && !e.name.empty() && !is_module(e.name)) {
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

  void arguments(json::value& value, event& e) {
    json::object object;
    if (!is_a(value, object)) {
      losses_.add(lost::invalid_arguments);
      return;
    }
    for (auto result : object) {
      json::field field = need(std::move(result));
      argument(field.key().raw(), field.value(), e);
    }
  }

  void argument(const char* key, json::value& value, event& e) {
    switch (key[0]) {
      case 'B':
        if (is(key, "Bytes")) {
          take(e.bytes, value);
        }
        break;
      case 'C':
        if (is(key, "Concrete Inputs")) {
          whole_value(e.values, value);
        } else if (is(key, "Collective name")) {
          take(e.collective, value);
        }
        break;
      case 'D':
        if (is(key, "Device Type")) {
          take(e.device_type, value);
        }
        break;
      case 'E':
        if (is(key, "External id")) {
          take(e.external, value);
        } else if (is(key, "Ev Idx")) {
          take(e.order, value);
        }
        break;
      case 'F':
        if (is(key, "Fwd thread id")) {
          take(e.forward_thread, value);
        }
        break;
      case 'I':
        if (is(key, "Input Dims")) {
          whole_value(e.shapes, value);
        } else if (is(key, "Input type")) {
          whole_value(e.types, value);
        } else if (is(key, "In msg nelems") || is(key, "In msg size")) {
          take(e.elements_in, value);
        }
        break;
      case 'G':
        if (is(key, "Group size")) {
          take(e.group_size, value);
        }
        break;
      case 'O':
        if (is(key, "Out msg nelems") || is(key, "Out msg size")) {
          take(e.elements_out, value);
        }
        break;
      case 'P':
        if (is(key, "Profiler Event Index")) {
          take(e.order, value);
        }
        break;
      case 'S':
        if (is(key, "Sequence number")) {
          take(e.sequence, value);
        }
        break;
      case 'b':
        if (is(key, "block")) {
          triple(value, e.block);
        } else if (is(key, "bytes")) {
          take(e.bytes, value);
        }
        break;
      case 'c':
        if (is(key, "correlation")) {
          take(e.correlation, value);
        } else if (is(key, "context")) {
          take(e.context, value);
        } else if (is(key, "correlation_id")) {
          take(e.correlation, value);
        }
        break;
      case 'd':
        if (is(key, "device")) {
          take(e.device, value);
        } else if (is(key, "dtype")) {
          take(e.data_type, value);
        }
        break;
      case 'e':
        if (is(key, "external id")) {
          take(e.external, value);
        }
        break;
      case 'g':
        if (is(key, "grid")) {
          triple(value, e.grid);
        } else if (is(key, "graph node id")) {
          take(e.node, value);
        } else if (is(key, "graph id")) {
          take(e.graph, value);
        }
        break;
      case 'k':
        if (is(key, "kernel")) {
          take(e.kernel, value);
        } else if (is(key, "kernel_details")) {
          take(e.details, value);
        }
        break;
      case 'm':
        if (is(key, "memcpy_details")) {
          take(e.details, value);
        }
        break;
      case 'n':
        if (is(key, "name")) {
          take(e.label, value);
        }
        break;
      case 'r':
        if (is(key, "registers per thread")) {
          take(e.registers, value);
        }
        break;
      case 's':
        if (is(key, "stream")) {
          take(e.stream, value);
        } else if (is(key, "shared memory")) {
          take(e.shared_memory, value);
        }
        break;
      default:
        break;
    }
  }

  void take(std::string_view& to, json::value& value) { pytorch::take(to, value, losses_); }

  /// A value of any kind, with all that is nested in it.
  void whole_value(std::string_view& to, json::value& value) {
    if (!to.empty()) {
      losses_.add(lost::repeated_key);
      return;
    }
    json::array array;
    to = is_a(value, array) ? need(array.raw_json()) : token_of(value);
  }

  void triple(json::value& value, extent& to) {
    if (to.is != extent::state::absent) {
      losses_.add(lost::repeated_key);
      return;
    }
    to.is = extent::state::invalid;
    json::array array;
    if (!is_a(value, array)) {
      return;
    }
    std::size_t n = 0;
    bool good = true;
    for (auto result : array) {
      json::value size = element(result);
      const auto number = whole(token_of(size), 0xFFFFFFFFU);
      good &= n < 3 && number.has_value();
      if (good) {
        to.size[n] = static_cast<std::uint32_t>(*number);
      }
      ++n;
    }
    to.is = good && n == 3 ? extent::state::good : extent::state::invalid;
  }

  const input::buffer& text_;
  builder& to_;
  loss_counts& losses_;
  const std::function<void(std::uint64_t)>& progress_;
  walked out_;
  bool found_ = false;
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
