// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A small client of CUPTI, as the tests of the stand-in itself need one: it keeps what it gets.
#ifndef VARVE_TESTS_STANDIN_CUPTI_CLIENT_HPP
#define VARVE_TESTS_STANDIN_CUPTI_CLIENT_HPP

#include "standin_cupti/control.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

// NOLINTBEGIN(readability-identifier-naming): CUPTI's names
extern "C" {
standin::cupti::result cuptiSubscribe(standin::cupti::subscriber_handle*, standin::cupti::callback_function,
                                      void*);
standin::cupti::result cuptiUnsubscribe(standin::cupti::subscriber_handle);
standin::cupti::result cuptiEnableCallback(std::uint32_t, standin::cupti::subscriber_handle,
                                           standin::cupti::callback_domain, std::uint32_t);
standin::cupti::result cuptiEnableAllDomains(std::uint32_t, standin::cupti::subscriber_handle);
standin::cupti::result cuptiGetVersion(std::uint32_t*);
standin::cupti::result cuptiGetCallbackName(standin::cupti::callback_domain, std::uint32_t, const char**);
standin::cupti::result cuptiGetGraphNodeId(standin::cupti::graph_node_handle, std::uint64_t*);
standin::cupti::result cuptiGetStreamIdEx(standin::cupti::context_handle, standin::cupti::stream_handle,
                                          std::uint8_t, std::uint32_t*);
standin::cupti::result cuptiActivityRegisterCallbacks(standin::cupti::buffer_requested_function,
                                                      standin::cupti::buffer_completed_function);
standin::cupti::result cuptiActivityEnable(standin::cupti::record_kind);
standin::cupti::result cuptiActivityFlushAll(std::uint32_t);
standin::cupti::result cuptiActivityGetNextRecord(std::uint8_t*, std::size_t, std::uint8_t**);
standin::cupti::result cuptiActivityGetNumDroppedRecords(standin::cupti::context_handle, std::uint32_t,
                                                         std::size_t*);
standin::cupti::result cuptiActivityPushExternalCorrelationId(standin::cupti::external_correlation_kind,
                                                              std::uint64_t);
}
// NOLINTEND(readability-identifier-naming)

namespace standin {

/// A record as the client copied it, with its kernel's name, read while the buffer was its own.
struct seen_record {
  cupti::record_kind kind;
  std::vector<std::uint8_t> bytes;
  std::string name;

  template <class T>
  T get(cupti::field<T> f) const {
    return cupti::read(bytes.data(), f);
  }
};

struct seen_callback {
  cupti::callback_domain domain;
  std::uint32_t id;
  cupti::callback_site site;  ///< of functions
  std::uint32_t correlation;
  cupti::graph_data graph;  ///< of graph events
  std::uint64_t original_id, node_id;
};

struct seen_buffer {
  std::vector<std::uint64_t> storage;  ///< of 8-byte words: aligned
  std::size_t valid = 0;
  std::uint8_t* data() { return reinterpret_cast<std::uint8_t*>(storage.data()); }
};

/// One at a time: CUPTI's buffer callbacks have no user data.
class client {
 public:
  std::size_t buffer_size = 64 * 1024;
  bool gives_buffers = true;
  std::function<void()> on_request, on_completion;

  explicit client(const config& settings = {}, bool everything = true);
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  ~client();

  void enable(std::initializer_list<cupti::record_kind> kinds);
  std::vector<seen_record> records();
  std::vector<seen_record> records(cupti::record_kind kind);
  std::vector<seen_callback> callbacks();
  std::vector<seen_callback> events(cupti::resource_event event);
  std::vector<std::unique_ptr<seen_buffer>>& buffers() { return completed_; }  ///< with no call under way
  cupti::subscriber_handle subscriber = nullptr;

 private:
  static void requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most);
  static void finished(cupti::context_handle, std::uint32_t, std::uint8_t* buffer, std::size_t size,
                       std::size_t valid);
  static void called(void* self, cupti::callback_domain domain, std::uint32_t id, const void* data);

  std::mutex mutex_;
  std::vector<std::unique_ptr<seen_buffer>> given_, completed_;
  std::vector<seen_record> records_;
  std::vector<seen_callback> callbacks_;
};

}  // namespace standin

#endif  // VARVE_TESTS_STANDIN_CUPTI_CLIENT_HPP
