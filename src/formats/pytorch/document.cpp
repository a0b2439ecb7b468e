// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/document.hpp"

#include "formats/input/json_text.hpp"
#include "formats/pytorch/marks.hpp"
#include "formats/pytorch/number.hpp"

#include <simdjson.h>

#include <cstring>
#include <new>
#include <utility>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

namespace json = simdjson::ondemand;

static_assert(input::buffer::padding >= simdjson::SIMDJSON_PADDING);

[[noreturn]] void refuse(simdjson::error_code code) {
  switch (code) {
    case simdjson::UTF8_ERROR:
    case simdjson::UNESCAPED_CHARS:
      throw refused{refusal::encoding};
    case simdjson::CAPACITY:
      throw refused{refusal::too_long};
    case simdjson::MEMALLOC:
      throw std::bad_alloc{};
    default:
      throw refused{refusal::damaged};
  }
}

template <class T>
T need(simdjson::simdjson_result<T> result) {
  T value;
  if (const auto code = std::move(result).get(value)) {
    refuse(code);
  }
  return value;
}

/// `value` as an object or array, or nothing when it is something else.
template <class T>
bool is_a(json::value& value, T& out) {
  const auto code = value.get(out);
  if (code != simdjson::SUCCESS && code != simdjson::INCORRECT_TYPE) {
    refuse(code);
  }
  return code == simdjson::SUCCESS;
}

template <std::size_t Size>
bool is(const char* key, const char (&name)[Size]) noexcept {
  return std::memcmp(key, name, Size - 1) == 0 && key[Size - 1] == '"';
}

std::string_view token_of(json::value& value) noexcept {
  std::string_view token = value.raw_json_token();
  while (!token.empty() &&
         (token.back() == ' ' || token.back() == '\n' || token.back() == '\r' || token.back() == '\t')) {
    token.remove_suffix(1);
  }
  return token;
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
      json::object nested;
      if (is(key, "traceEvents")) {
        if (found_) {
          losses_.add(lost::repeated_key);
        } else if (is_a(value, array)) {
          found_ = true;
          events(array);
        }
      } else if (is(key, "deviceProperties")) {
        if (is_a(value, array)) {
          devices(array);
        }
      } else if (is(key, "distributedInfo")) {
        if (is_a(value, nested)) {
          distributed(nested);
        }
      } else if (is(key, "baseTimeNanoseconds")) {
        take(out_.about.base_time, value);
      } else if (is(key, "schemaVersion")) {
        take(out_.about.schema, value);
      } else if (is(key, "cupti_version")) {
        take(out_.about.cupti, value);
      } else if (is(key, "cuda_runtime_version")) {
        take(out_.about.runtime, value);
      } else if (is(key, "cuda_driver_version")) {
        take(out_.about.driver, value);
      }
    }
  }

  void devices(json::array array) {
    for (auto result : array) {
      json::value value = need(result);
      json::object object;
      if (!is_a(value, object)) {
        losses_.add(lost::invalid_device);
        continue;
      }
      device_properties d;
      for (auto entry : object) {
        json::field field = need(std::move(entry));
        const char* const key = field.key().raw();
        std::string_view* const to = is(key, "id")               ? &d.id
                                     : is(key, "name")           ? &d.name
                                     : is(key, "totalGlobalMem") ? &d.memory
                                     : is(key, "computeMajor")   ? &d.major
                                     : is(key, "computeMinor")   ? &d.minor
                                     : is(key, "numSms")         ? &d.multiprocessors
                                                                 : nullptr;
        if (to != nullptr) {
          take(*to, field.value());
        }
      }
      to_.add(d);
    }
  }

  void distributed(json::object object) {
    for (auto result : object) {
      json::field field = need(std::move(result));
      const char* const key = field.key().raw();
      if (is(key, "rank")) {
        take(out_.about.rank, field.value());
      } else if (is(key, "world_size")) {
        take(out_.about.world_size, field.value());
      } else if (is(key, "backend")) {
        take(out_.about.backend, field.value());
      }
    }
  }

  void events(json::array array) {
    std::uint64_t count = 0;
    for (auto result : array) {
      json::value value = need(result);
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
      } else if (e.kind == category::unread || e.kind == category::operation) {
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
      case 'C':
        if (is(key, "Concrete Inputs")) {
          whole_value(e.values, value);
        }
        break;
      case 'E':
        if (is(key, "External id")) {
          take(e.external, value);
        }
        break;
      case 'I':
        if (is(key, "Input Dims")) {
          whole_value(e.shapes, value);
        } else if (is(key, "Input type")) {
          whole_value(e.types, value);
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
        }
        break;
      case 'd':
        if (is(key, "device")) {
          take(e.device, value);
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

  void take(std::string_view& to, json::value& value) {
    if (!to.empty()) {
      losses_.add(lost::repeated_key);
      return;
    }
    to = token_of(value);
  }

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
      json::value element = need(result);
      const auto number = whole(token_of(element), 0xFFFFFFFFU);
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
