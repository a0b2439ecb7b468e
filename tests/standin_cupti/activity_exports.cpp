// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// CUPTI's own functions: those of activity records.
#include "standin_cupti/activity.hpp"
#include "standin_cupti/buffers.hpp"
#include "standin_cupti/entry.hpp"

using namespace standin;  // NOLINT(google-build-using-namespace): what it exports is C
using cupti::result;

namespace {

template <class T>
std::uint64_t number(T value) {
  return static_cast<std::uint64_t>(value);
}

}  // namespace

extern "C" {

STANDIN_EXPORT result cuptiActivityRegisterCallbacks(cupti::buffer_requested_function requested,
                                                     cupti::buffer_completed_function completed) {
  return enter("cuptiActivityRegisterCallbacks", {}, needs::nothing, logging::full,
               [&] { return register_buffers(requested, completed); });
}

STANDIN_EXPORT result cuptiActivityEnable(cupti::record_kind kind) {
  return enter("cuptiActivityEnable", {number(kind)}, needs::driver, logging::full,
               [&] { return enable_kind(kind, true); });
}

STANDIN_EXPORT result cuptiActivityDisable(cupti::record_kind kind) {
  return enter("cuptiActivityDisable", {number(kind)}, needs::driver, logging::full,
               [&] { return enable_kind(kind, false); });
}

STANDIN_EXPORT result cuptiActivityEnableRuntimeApi(std::uint32_t id, std::uint8_t enable) {
  return enter("cuptiActivityEnableRuntimeApi", {id, enable}, needs::driver, logging::full,
               [&] { return enable_api(cupti::callback_domain::runtime_api, id, enable != 0); });
}

STANDIN_EXPORT result cuptiActivityEnableDriverApi(std::uint32_t id, std::uint8_t enable) {
  return enter("cuptiActivityEnableDriverApi", {id, enable}, needs::driver, logging::full,
               [&] { return enable_api(cupti::callback_domain::driver_api, id, enable != 0); });
}

STANDIN_EXPORT result cuptiActivityFlushAll(std::uint32_t flag) {
  return enter("cuptiActivityFlushAll", {flag}, needs::driver, logging::full,
               [&] { return flush((flag & cupti::flush_forced) != 0); });
}

STANDIN_EXPORT result cuptiActivityFlushPeriod(std::uint32_t milliseconds) {
  return enter("cuptiActivityFlushPeriod", {milliseconds}, needs::driver, logging::full,
               [] { return result::success; });
}

STANDIN_EXPORT result cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid_size,
                                                 std::uint8_t** record) {
  return enter("cuptiActivityGetNextRecord", {}, needs::nothing, logging::none,
               [&] { return next_record(buffer, valid_size, record); });
}

STANDIN_EXPORT result cuptiActivityGetNumDroppedRecords(cupti::context_handle, std::uint32_t,
                                                        std::size_t* dropped) {
  return enter("cuptiActivityGetNumDroppedRecords", {}, needs::nothing, logging::full, [&] {
    if (dropped == nullptr) {
      return result::invalid_parameter;
    }
    *dropped = take_dropped();
    return result::success;
  });
}

STANDIN_EXPORT result cuptiActivitySetAttribute(cupti::attribute what, std::size_t* size, void* value) {
  return enter("cuptiActivitySetAttribute", {number(what)}, needs::driver, logging::full,
               [&] { return set_attribute(what, size, value); });
}

STANDIN_EXPORT result cuptiActivityGetAttribute(cupti::attribute what, std::size_t* size, void* value) {
  return enter("cuptiActivityGetAttribute", {number(what)}, needs::driver, logging::full,
               [&] { return get_attribute(what, size, value); });
}

STANDIN_EXPORT result cuptiActivityPushExternalCorrelationId(cupti::external_correlation_kind kind,
                                                             std::uint64_t id) {
  return enter("cuptiActivityPushExternalCorrelationId", {number(kind)}, needs::driver, logging::counted,
               [&] { return push_external(kind, id); });
}

STANDIN_EXPORT result cuptiActivityPopExternalCorrelationId(cupti::external_correlation_kind kind,
                                                            std::uint64_t* last) {
  return enter("cuptiActivityPopExternalCorrelationId", {number(kind)}, needs::driver, logging::counted,
               [&] { return pop_external(kind, last); });
}

}  // extern "C"
