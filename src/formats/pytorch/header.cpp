// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What stands beside the events of a trace.
#include "formats/pytorch/parser.hpp"

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

void read_devices(json::array array, builder& to, loss_counts& losses) {
  for (auto result : array) {
    json::value value = element(result);
    json::object object;
    if (!is_a(value, object)) {
      losses.add(lost::invalid_device);
      continue;
    }
    device_properties d;
    for (auto entry : object) {
      json::field field = need(std::move(entry));
      const char* const key = field.key().raw();
      std::string_view* const token = is(key, "id")               ? &d.id
                                      : is(key, "name")           ? &d.name
                                      : is(key, "totalGlobalMem") ? &d.memory
                                      : is(key, "computeMajor")   ? &d.major
                                      : is(key, "computeMinor")   ? &d.minor
                                      : is(key, "numSms")         ? &d.multiprocessors
                                                                  : nullptr;
      if (token != nullptr) {
        take(*token, field.value(), losses);
      }
    }
    to.add(d);
  }
}

void read_distributed(json::object object, header& about, loss_counts& losses) {
  for (auto result : object) {
    json::field field = need(std::move(result));
    const char* const key = field.key().raw();
    if (is(key, "rank")) {
      take(about.rank, field.value(), losses);
    } else if (is(key, "world_size")) {
      take(about.world_size, field.value(), losses);
    } else if (is(key, "backend")) {
      take(about.backend, field.value(), losses);
    }
  }
}

}  // namespace

void read_header(const char* key, json::value& value, header& about, builder& to, loss_counts& losses) {
  json::array array;
  json::object nested;
  if (is(key, "deviceProperties")) {
    if (is_a(value, array)) {
      read_devices(array, to, losses);
    }
  } else if (is(key, "distributedInfo")) {
    if (is_a(value, nested)) {
      read_distributed(nested, about, losses);
    }
  } else if (is(key, "varve")) {
    if (is_a(value, nested)) {
      to.start_own(need(nested.raw_json()));
    }
  } else if (is(key, "baseTimeNanoseconds")) {
    take(about.base_time, value, losses);
  } else if (is(key, "schemaVersion")) {
    take(about.schema, value, losses);
  } else if (is(key, "cupti_version")) {
    take(about.cupti, value, losses);
  } else if (is(key, "cuda_runtime_version")) {
    take(about.runtime, value, losses);
  } else if (is(key, "cuda_driver_version")) {
    take(about.driver, value, losses);
  }
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
