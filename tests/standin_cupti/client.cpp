// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "standin_cupti/client.hpp"

#include <algorithm>

namespace standin {
namespace {

client* the_client = nullptr;

}  // namespace

client::client(const config& settings, bool everything) {
  reset(settings);
  the_client = this;
  EXPECT_EQ(cuptiActivityRegisterCallbacks(requested, finished), cupti::result::success);
  if (everything) {
    EXPECT_EQ(cuptiSubscribe(&subscriber, called, this), cupti::result::success);
    EXPECT_EQ(cuptiEnableAllDomains(1, subscriber), cupti::result::success);
  }
}

client::~client() {
  reset();
  the_client = nullptr;
}

void client::enable(std::initializer_list<cupti::record_kind> kinds) {
  for (const cupti::record_kind kind : kinds) {
    EXPECT_EQ(cuptiActivityEnable(kind), cupti::result::success);
  }
}

std::vector<seen_record> client::records() {
  const std::lock_guard lock{mutex_};
  return records_;
}

std::vector<seen_record> client::records(cupti::record_kind kind) {
  std::vector<seen_record> all = records();
  all.erase(std::remove_if(all.begin(), all.end(), [&](const seen_record& r) { return r.kind != kind; }),
            all.end());
  return all;
}

std::vector<seen_callback> client::callbacks() {
  const std::lock_guard lock{mutex_};
  return callbacks_;
}

std::vector<seen_callback> client::events(cupti::resource_event event) {
  std::vector<seen_callback> all = callbacks();
  all.erase(std::remove_if(all.begin(), all.end(),
                           [&](const seen_callback& c) {
                             return c.domain != cupti::callback_domain::resource ||
                                    c.id != static_cast<std::uint32_t>(event);
                           }),
            all.end());
  return all;
}

void client::requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  client& self = *the_client;
  if (self.on_request != nullptr) {
    self.on_request();
  }
  *buffer = nullptr;
  *size = 0;
  *most = 0;
  if (self.gives_buffers) {
    const std::lock_guard lock{self.mutex_};
    auto& given = self.given_.emplace_back(std::make_unique<seen_buffer>());
    given->storage.resize(self.buffer_size / sizeof(std::uint64_t));
    *buffer = given->data();
    *size = self.buffer_size;
  }
}

void client::finished(cupti::context_handle, std::uint32_t, std::uint8_t* buffer, std::size_t,
                      std::size_t valid) {
  client& self = *the_client;
  if (self.on_completion != nullptr) {
    self.on_completion();
  }
  std::vector<std::uint8_t*> starts;
  std::uint8_t* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == cupti::result::success) {
    starts.push_back(record);
  }
  const std::lock_guard lock{self.mutex_};  // over no call of CUPTI
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::uint8_t* end = i + 1 < starts.size() ? starts[i + 1] : buffer + valid;
    seen_record seen{cupti::read(starts[i], cupti::kind_of),
                     std::vector<std::uint8_t>(static_cast<const std::uint8_t*>(starts[i]), end),
                     {}};
    if (seen.kind == cupti::record_kind::concurrent_kernel) {
      seen.name = seen.get(cupti::kernel::name);
    }
    self.records_.push_back(std::move(seen));
  }
  const auto own = std::find_if(self.given_.begin(), self.given_.end(),
                                [&](const auto& given) { return given->data() == buffer; });
  ASSERT_NE(own, self.given_.end()) << "a buffer that nobody gave";
  (*own)->valid = valid;
  self.completed_.push_back(std::move(*own));
  self.given_.erase(own);
}

void client::called(void* user_data, cupti::callback_domain domain, std::uint32_t id, const void* data) {
  client& self = *static_cast<client*>(user_data);
  seen_callback seen{domain, id, cupti::callback_site::enter, 0, {}, 0, 0};
  if (domain == cupti::callback_domain::resource) {
    const auto* resource = static_cast<const cupti::resource_data*>(data);
    if (resource != nullptr && resource->descriptor != nullptr) {
      seen.graph = *static_cast<const cupti::graph_data*>(resource->descriptor);
      if (seen.graph.node != nullptr) {
        EXPECT_EQ(cuptiGetGraphNodeId(seen.graph.node, &seen.node_id), cupti::result::success);
      }
      if (seen.graph.original_node != nullptr) {
        EXPECT_EQ(cuptiGetGraphNodeId(seen.graph.original_node, &seen.original_id), cupti::result::success);
      }
    }
  } else if (domain == cupti::callback_domain::runtime_api || domain == cupti::callback_domain::driver_api) {
    const auto& of_function = *static_cast<const cupti::callback_data*>(data);
    seen.site = of_function.site;
    seen.correlation = of_function.correlation_id;
  }
  const std::lock_guard lock{self.mutex_};
  self.callbacks_.push_back(seen);
}

}  // namespace standin
