// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// CUPTI's own functions: versions, names, ids and callbacks. Those of activity records are in
// activity_exports.cpp.
#include "standin_cupti/activity.hpp"
#include "standin_cupti/callbacks.hpp"
#include "standin_cupti/entry.hpp"
#include "standin_cupti/graphs.hpp"
#include "standin_cupti/names.hpp"
#include "standin_cupti/streams.hpp"

using namespace standin;  // NOLINT(google-build-using-namespace): what it exports is C
using cupti::result;

namespace {

template <class T>
result give(T* to, std::optional<T> value, const char* what) {
  if (to == nullptr) {
    return result::invalid_parameter;
  }
  if (!value) {
    misuse(std::string{"asking for the id of "} + what + " that is not there");
    return result::invalid_parameter;
  }
  *to = *value;
  return result::success;
}

std::uint64_t number(cupti::callback_domain domain) { return static_cast<std::uint64_t>(domain); }

const char* text_of(result code) {
  switch (code) {
    case result::success:
      return "CUPTI_SUCCESS";
    case result::invalid_parameter:
      return "CUPTI_ERROR_INVALID_PARAMETER";
    case result::max_limit_reached:
      return "CUPTI_ERROR_MAX_LIMIT_REACHED";
    case result::not_initialized:
      return "CUPTI_ERROR_NOT_INITIALIZED";
    case result::invalid_kind:
      return "CUPTI_ERROR_INVALID_KIND";
    case result::insufficient_privileges:
      return "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES";
    case result::multiple_subscribers_not_supported:
      return "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
    case result::unknown:
      return "CUPTI_ERROR_UNKNOWN";
    default:
      return nullptr;
  }
}

}  // namespace

extern "C" {

STANDIN_EXPORT result cuptiGetVersion(std::uint32_t* version) {
  return enter("cuptiGetVersion", {}, needs::nothing, logging::full,
               [&] { return give(version, std::optional{settings().version}, "a version"); });
}

STANDIN_EXPORT result cuptiGetResultString(result code, const char** text) {
  return enter("cuptiGetResultString", {static_cast<std::uint64_t>(code)}, needs::nothing, logging::counted,
               [&] {
                 if (text == nullptr) {
                   return result::invalid_parameter;
                 }
                 const char* known = text_of(code);
                 *text = known != nullptr ? known : "<unknown>";
                 return known != nullptr ? result::success : result::invalid_parameter;
               });
}

STANDIN_EXPORT result cuptiGetTimestamp(std::uint64_t* timestamp) {
  return enter("cuptiGetTimestamp", {}, needs::nothing, logging::counted,
               [&] { return give(timestamp, std::optional{now()}, "a time"); });
}

STANDIN_EXPORT result cuptiGetCallbackName(cupti::callback_domain domain, std::uint32_t id,
                                           const char** name) {
  return enter("cuptiGetCallbackName", {id}, needs::nothing, logging::counted, [&] {
    if (name == nullptr) {
      return result::invalid_parameter;
    }
    *name = callback_name(domain, id);
    return *name != nullptr ? result::success : result::invalid_parameter;
  });
}

STANDIN_EXPORT result cuptiSetThreadIdType(cupti::thread_id_type type) {
  return enter("cuptiSetThreadIdType", {static_cast<std::uint64_t>(type)}, needs::driver, logging::full,
               [&] { return set_thread_id_type(type); });
}

STANDIN_EXPORT result cuptiSubscribe(cupti::subscriber_handle* subscriber, cupti::callback_function function,
                                     void* user_data) {
  return enter("cuptiSubscribe", {}, needs::driver, logging::full,
               [&] { return subscribe(subscriber, function, user_data); });
}

STANDIN_EXPORT result cuptiUnsubscribe(cupti::subscriber_handle subscriber) {
  return enter("cuptiUnsubscribe", {}, needs::driver, logging::full, [&] { return unsubscribe(subscriber); });
}

STANDIN_EXPORT result cuptiEnableCallback(std::uint32_t enable_it, cupti::subscriber_handle subscriber,
                                          cupti::callback_domain domain, std::uint32_t id) {
  return enter("cuptiEnableCallback", {id, number(domain), enable_it}, needs::driver, logging::full,
               [&] { return enable(enable_it != 0, subscriber, domain, id); });
}

STANDIN_EXPORT result cuptiEnableDomain(std::uint32_t enable_it, cupti::subscriber_handle subscriber,
                                        cupti::callback_domain domain) {
  return enter("cuptiEnableDomain", {number(domain), enable_it}, needs::driver, logging::full,
               [&] { return enable_domain(enable_it != 0, subscriber, domain); });
}

STANDIN_EXPORT result cuptiEnableAllDomains(std::uint32_t enable_it, cupti::subscriber_handle subscriber) {
  return enter("cuptiEnableAllDomains", {enable_it}, needs::driver, logging::full, [&] {
    result last = result::success;
    for (std::uint32_t domain = 1; domain <= 6 && last == result::success; ++domain) {
      last = enable_domain(enable_it != 0, subscriber, static_cast<cupti::callback_domain>(domain));
    }
    return last;
  });
}

STANDIN_EXPORT result cuptiGetGraphId(cupti::graph_handle graph, std::uint32_t* id) {
  return enter("cuptiGetGraphId", {}, needs::driver, logging::counted,
               [&] { return give(id, id_of(graph), "a graph"); });
}

#ifndef VARVE_STANDIN_SPARSE
STANDIN_EXPORT result cuptiGetGraphExecId(cupti::graph_exec_handle exec, std::uint32_t* id) {
  return enter("cuptiGetGraphExecId", {}, needs::driver, logging::counted,
               [&] { return give(id, id_of(exec), "an executable graph"); });
}
#endif

STANDIN_EXPORT result cuptiGetGraphNodeId(cupti::graph_node_handle node, std::uint64_t* id) {
  return enter("cuptiGetGraphNodeId", {}, needs::driver, logging::counted,
               [&] { return give(id, id_of(node), "a graph node"); });
}

STANDIN_EXPORT result cuptiGetStreamIdEx(cupti::context_handle context, cupti::stream_handle stream,
                                         std::uint8_t per_thread, std::uint32_t* id) {
  return enter("cuptiGetStreamIdEx", {per_thread}, needs::driver, logging::counted,
               [&] { return give(id, id_of(context, stream), "a stream"); });
}

STANDIN_EXPORT result cuptiFinalize() {
  return enter("cuptiFinalize", {}, needs::driver, logging::full, [] {
    misuse("finalizing blocks every thread and is fragile");
    return result::success;
  });
}

}  // extern "C"
