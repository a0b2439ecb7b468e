// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The "args" of an event.
#include "formats/input/json_text.hpp"
#include "formats/pytorch/number.hpp"
#include "formats/pytorch/parser.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

class reader {
 public:
  explicit reader(loss_counts& losses) : losses_{losses} {}

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
        } else if (is(key, "Input dims")) {  // of PyTorch 1.8, which may write the list as a text
          whole_value(e.shapes, value);
          e.shapes = input::is_string(e.shapes) ? input::inside(e.shapes) : e.shapes;
        } else if (is(key, "Input type")) {
          whole_value(e.types, value);
          e.types = input::is_string(e.types) ? std::string_view{} : e.types;  // "('float',)" of PyTorch 1.8
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
        if (is(key, "correlation") || is(key, "correlation_id")) {
          take(e.correlation, value);
        } else if (is(key, "context")) {
          take(e.context, value);
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
      case 'v':
        if (is(key, "varve")) {
          whole_object(e.own, value);
        }
        break;
      default:
        break;
    }
  }

 private:
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

  void whole_object(std::string_view& to, json::value& value) {
    json::object object;
    if (!to.empty()) {
      losses_.add(lost::repeated_key);
    } else if (is_a(value, object)) {
      to = need(object.raw_json());
    }
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

  loss_counts& losses_;
};

}  // namespace

void read_arguments(json::value& value, event& e, loss_counts& losses) {
  json::object object;
  if (!is_a(value, object)) {
    losses.add(lost::invalid_arguments);
    return;
  }
  reader read{losses};
  for (auto result : object) {
    json::field field = need(std::move(result));
    read.argument(field.key().raw(), field.value(), e);
  }
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
