// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// CUPTI's functions, as far as a collector needs them: all ask the tape that is played.
#include "cupti/abi.hpp"
#include "cupti/records.hpp"
#include "tape/deck.hpp"

#include <cstdint>

using varve_tape::current_deck;
using varve_tape::deck;
namespace cupti = varve::cupti;
using cupti::result;

namespace {

template <class Answer>
result with_deck(Answer&& answer) {
  deck* const d = current_deck.load();
  return d != nullptr ? answer(*d) : result::not_initialized;
}

template <class Id, class Handle>
result give_id(char of, Handle which, Id* id) {
  return with_deck([&](deck& d) {
    const std::uint64_t found = d.id_of(of, reinterpret_cast<std::uintptr_t>(which));
    *id = static_cast<Id>(found);
    return found != 0 ? result::success : result::invalid_parameter;
  });
}

}  // namespace

namespace varve_tape {

program::~program() = default;

std::vector<std::string> play(const prepared& p, program& engine) {
  deck d{p, engine};
  current_deck = &d;
  std::vector<std::string> complaints = d.run();
  current_deck = nullptr;
  return complaints;
}

}  // namespace varve_tape

// NOLINTBEGIN(readability-identifier-naming): the names are CUPTI's.
extern "C" {

VARVE_TAPE_EXPORT result cuptiGetVersion(std::uint32_t* version) {
  return with_deck([&](const deck& d) {
    *version = d.version();
    return result::success;
  });
}

VARVE_TAPE_EXPORT result cuptiGetTimestamp(std::uint64_t* timestamp) {
  return with_deck([&](const deck& d) {
    *timestamp = d.now();
    return result::success;
  });
}

VARVE_TAPE_EXPORT result cuptiGetCallbackName(cupti::callback_domain domain, std::uint32_t id,
                                              const char** name) {
  return with_deck([&](const deck& d) {
    *name = d.name(domain, id);
    return *name != nullptr ? result::success : result::invalid_parameter;
  });
}

VARVE_TAPE_EXPORT result cuptiSubscribe(cupti::subscriber_handle* subscriber,
                                        cupti::callback_function function, void* user_data) {
  return with_deck([&](deck& d) { return d.subscribe(subscriber, function, user_data); });
}

VARVE_TAPE_EXPORT result cuptiUnsubscribe(cupti::subscriber_handle subscriber) {
  return with_deck([&](deck& d) { return d.unsubscribe(subscriber); });
}

VARVE_TAPE_EXPORT result cuptiEnableCallback(std::uint32_t enable, cupti::subscriber_handle,
                                             cupti::callback_domain domain, std::uint32_t id) {
  return with_deck([&](deck& d) { return d.enable(enable != 0, domain, id); });
}

VARVE_TAPE_EXPORT result cuptiGetGraphId(cupti::graph_handle graph, std::uint32_t* id) {
  return give_id('g', graph, id);
}

VARVE_TAPE_EXPORT result cuptiGetGraphExecId(cupti::graph_exec_handle exec, std::uint32_t* id) {
  return give_id('e', exec, id);
}

VARVE_TAPE_EXPORT result cuptiGetGraphNodeId(cupti::graph_node_handle node, std::uint64_t* id) {
  return give_id('n', node, id);
}

VARVE_TAPE_EXPORT result cuptiActivityRegisterCallbacks(cupti::buffer_requested_function requested,
                                                        cupti::buffer_completed_function completed) {
  return with_deck([&](deck& d) { return d.take_buffers(requested, completed); });
}

VARVE_TAPE_EXPORT result cuptiActivityEnable(cupti::record_kind) {
  return with_deck([](const deck&) { return result::success; });
}

VARVE_TAPE_EXPORT result cuptiActivityDisable(cupti::record_kind) {
  return with_deck([](const deck&) { return result::success; });
}

VARVE_TAPE_EXPORT result cuptiActivityFlushAll(std::uint32_t flag) {
  return with_deck([&](deck& d) {
    d.flush((flag & cupti::flush_forced) != 0);
    return result::success;
  });
}

VARVE_TAPE_EXPORT result cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid,
                                                    std::uint8_t** record) {
  return with_deck([&](deck& d) { return d.next_record(buffer, valid, record); });
}

VARVE_TAPE_EXPORT result cuptiActivityGetNumDroppedRecords(cupti::context_handle, std::uint32_t,
                                                           std::size_t* dropped) {
  return with_deck([&](deck& d) {
    *dropped = d.take_dropped();
    return result::success;
  });
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
