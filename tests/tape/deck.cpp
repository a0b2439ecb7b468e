// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "tape/deck.hpp"

#include "cupti/records.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>

namespace varve_tape {

std::atomic<deck*> current_deck{nullptr};

namespace {

using cupti::callback_domain;
using cupti::result;

/// For handles that an event says nothing of: asking about them is a mistake.
constexpr std::uint64_t undefined = 0xDEAD0000DEAD0000U;
/// What people write into tapes is small; a clock at 0 has no time.
constexpr std::uint64_t first_moment = 1'000'000'000;
constexpr std::chrono::nanoseconds longest_wait = std::chrono::seconds{10};
/// Bytes at least behind the parameters of any call.
constexpr std::size_t least_params = 64;

std::uint64_t realtime() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

template <class Handle>
Handle handle(std::uint64_t bits) {
  return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(bits));
}

template <class Handle>
Handle handle_or_undefined(std::uint64_t bits) {
  return handle<Handle>(bits != 0 ? bits : undefined);
}

}  // namespace

deck::deck(const prepared& p, program& engine)
    : p_{p}, engine_{engine}, base_{first_moment}, began_{realtime()} {
  std::uint32_t most = 0;
  for (auto e = p.t.events.rbegin(); e != p.t.events.rend(); ++e) {
    most = std::max(most, e->thread);
    base_ = e->at != 0 ? e->at : base_;
  }
  open_.resize(most + 1);
}

std::vector<std::string> deck::run() {
  while (next_ < p_.t.events.size()) {
    play(p_.t.events[next_++]);
  }
  threads_.end();
  const std::lock_guard lock{mutex_};
  if (function_ != nullptr) {
    complaints_.emplace_back("somebody is still subscribed");
  }
  return complaints_;
}

void deck::play_rest_of_session() {
  const auto is_over = [](const event& e) {
    return std::holds_alternative<start>(e.what) || std::holds_alternative<arm>(e.what) ||
           std::holds_alternative<disarm>(e.what);
  };
  while (next_ < p_.t.events.size() && !is_over(p_.t.events[next_])) {
    play(p_.t.events[next_++]);
  }
}

void deck::play(const event& e) {
  threads_.run(e.thread, [&] { std::visit([&](const auto& what) { play_here(e, what); }, e.what); });
}

void deck::play_here(const event& e, const stop& /*how*/) {
  // What ran lies within the session, or a collector may take it for somebody else's: so a session lasts as
  // long as it did when it was recorded.
  if (const std::uint64_t at = now(); e.at > at) {
    std::this_thread::sleep_for(std::min(std::chrono::nanoseconds{e.at - at}, longest_wait));
  }
  stopping_ = true;
  engine_.stops();
  if (stopping_) {
    stopping_ = false;
    complain(e, "the subscriber stopped without a flush by force");
  }
}

void deck::flush(bool forced) {
  if (!forced || !stopping_) {
    return;
  }
  stopping_ = false;
  play_rest_of_session();
  give_back_unused();
}

// --- callbacks -------------------------------------------------------------------------------------------

void deck::call_back(callback_domain domain, std::uint32_t id, const void* data) {
  cupti::callback_function function = nullptr;
  void* user = nullptr;
  {
    const std::lock_guard lock{mutex_};
    if (enabled_.count({domain, id}) != 0) {
      function = function_;
      user = user_;
    }
  }
  if (function != nullptr) {
    function(user, domain, id, data);
  }
}

void deck::play_here(const event& e, const call& c) {
  std::deque<open_call>& open = open_[e.thread];
  if (c.enter) {
    open.emplace_back();
  }
  open_call unknown;  // left without having been entered
  open_call& o = open.empty() ? unknown : open.back();
  bytes params = c.params;
  params.resize(std::max(params.size(), least_params));
  std::int64_t answer = c.result;
  cupti::callback_data data{};
  data.site = c.enter ? cupti::callback_site::enter : cupti::callback_site::exit;
  data.function_name = c.name().c_str();
  data.function_params = params.data();
  data.function_return_value = c.enter ? nullptr : &answer;
  data.symbol_name = c.symbol.empty() ? nullptr : c.symbol.c_str();
  data.context = handle<cupti::context_handle>(std::uint64_t{c.context} * 64);
  data.context_uid = c.context;
  data.correlation_data = &o.data;
  data.correlation_id = c.correlation;
  call_back(c.runtime.empty() ? callback_domain::driver_api : callback_domain::runtime_api, c.id, &data);
  if (!c.enter && !open.empty()) {
    open.pop_back();
  }
}

void deck::play_here(const event& /*e*/, const resource& r) {
  learn(r);
  cupti::graph_data graph{};
  graph.graph = handle_or_undefined<cupti::graph_handle>(r.graph);
  graph.original_graph = handle_or_undefined<cupti::graph_handle>(r.original_graph);
  graph.node = handle_or_undefined<cupti::graph_node_handle>(r.node);
  graph.original_node = handle_or_undefined<cupti::graph_node_handle>(r.original_node);
  graph.node_type = static_cast<cupti::graph_node_type>(r.type.number);
  graph.dependency = handle_or_undefined<cupti::graph_node_handle>(r.dependency);
  graph.graph_exec = handle_or_undefined<cupti::graph_exec_handle>(r.exec);
  cupti::resource_data data{};
  data.context = handle<cupti::context_handle>(r.context);
  data.stream = handle<cupti::stream_handle>(r.stream);
  data.descriptor = r.of_graph() && !r.null ? &graph : nullptr;
  call_back(callback_domain::resource, r.event, r.null && !r.of_graph() ? nullptr : &data);
  forget(r);
}

void deck::learn(const resource& r) {
  const std::lock_guard lock{mutex_};
  const auto take = [this](char of, std::uint64_t which, std::uint64_t id) {
    if (which != 0 && id != 0) {
      ids_[of][which] = id;
    }
  };
  take('g', r.graph, r.graph_id);
  take('g', r.original_graph, r.original_graph_id);
  take('n', r.node, r.node_id);
  take('n', r.original_node, r.original_node_id);
  take('e', r.exec, r.exec_id);
}

void deck::forget(const resource& r) {
  const std::lock_guard lock{mutex_};
  switch (static_cast<cupti::resource_event>(r.event.number)) {
    case cupti::resource_event::graph_destroy_starting:
      ids_['g'].erase(r.graph);
      break;
    case cupti::resource_event::graph_node_destroy_starting:
      ids_['n'].erase(r.node);
      break;
    case cupti::resource_event::graph_exec_destroy_starting:
      ids_['e'].erase(r.exec);
      break;
    default:
      break;
  }
}

std::uint64_t deck::id_of(char of, std::uint64_t which) {
  {
    const std::lock_guard lock{mutex_};
    const auto& known = ids_[of];
    if (const auto found = known.find(which); found != known.end()) {
      return found->second;
    }
  }
  const std::string what = of == 'g' ? "a graph" : of == 'n' ? "a node" : "an executable";
  complain("asks for the id of " + what + " that the tape tells nothing of (" +
           (which == undefined ? "undefined in its callback" : std::to_string(which)) + ")");
  return 0;
}

// --- buffers ---------------------------------------------------------------------------------------------

deck::lent_buffer deck::ask_for_buffer(std::uint64_t number) {
  cupti::buffer_requested_function ask = nullptr;
  {
    const std::lock_guard lock{mutex_};
    ask = function_ != nullptr ? requested_ : nullptr;
  }
  lent_buffer lent{number, nullptr, 0};
  if (ask != nullptr) {
    std::size_t most = 0;
    ask(&lent.data, &lent.size, &most);
  }
  return lent;
}

void deck::play_here(const event& e, const request& r) {
  const lent_buffer lent = ask_for_buffer(r.buffer);
  if (lent.data == nullptr) {
    complain(e, "the subscriber gave no buffer");
    return;
  }
  const std::lock_guard lock{mutex_};
  lent_.push_back(lent);
}

/// That of the number, else the oldest where it has none, else a new one.
deck::lent_buffer deck::buffer_for(std::uint64_t number) {
  {
    const std::lock_guard lock{mutex_};
    const auto found = std::find_if(lent_.begin(), lent_.end(),
                                    [&](const lent_buffer& b) { return number == 0 || b.number == number; });
    if (found != lent_.end()) {
      const lent_buffer lent = *found;
      lent_.erase(found);
      return lent;
    }
  }
  return ask_for_buffer(number);
}

void deck::play_here(const event& e, const buffer& b) {
  dropped_ += b.dropped;
  const lent_buffer lent = buffer_for(b.buffer);
  cupti::buffer_completed_function complete = nullptr;
  {
    const std::lock_guard lock{mutex_};
    complete = completed_;
  }
  if (lent.data == nullptr || complete == nullptr) {
    complain(e, "nobody gave a buffer for these records");
    return;
  }
  if (lent.size < b.size) {
    complain(e, "the subscriber's buffer has " + std::to_string(lent.size) + " bytes, the tape's " +
                    std::to_string(b.size));
    complete(nullptr, 0, lent.data, lent.size, 0);
    return;
  }
  fill(b, lent.data);
  {
    const std::lock_guard lock{mutex_};
    filled_[lent.data] = &b;
  }
  complete(handle<cupti::context_handle>(b.context), b.stream, lent.data, lent.size, b.size);
  const std::lock_guard lock{mutex_};
  filled_.erase(lent.data);
}

// Pointers of the recorded process lead nowhere in this one. Wherever a collector may take a record to begin,
// they are null, lead to the name on the tape, or to memory that can be freed.
void deck::fill(const buffer& b, std::uint8_t* to) const {
  const bytes memory = memory_of(b);
  std::copy(memory.begin(), memory.end(), reinterpret_cast<std::byte*>(to));
  std::map<std::uint64_t, const record*> names;
  for (const record& r : b.records) {
    if (r.name_at == cupti::kernel::name.offset) {
      names[r.offset] = &r;
    }
  }
  const auto put = [&](std::size_t at, const void* pointer) {
    if (at + sizeof pointer <= b.size) {
      std::memcpy(to + at, &pointer, sizeof pointer);
    }
  };
  std::size_t at = 0;
  while (at + sizeof(cupti::record_kind) <= b.size) {
    const cupti::record_kind kind = cupti::read(to + at, cupti::kind_of);
    switch (kind) {
      case cupti::record_kind::kernel:
      case cupti::record_kind::concurrent_kernel: {
        const auto named = names.find(at);
        put(at + cupti::kernel::name.offset, named != names.end() ? named->second->name.c_str() : nullptr);
        break;
      }
      case cupti::record_kind::memory:
        put(at + cupti::memory::name.offset, nullptr);
        break;
      case cupti::record_kind::overhead:
        if (const std::size_t data = at + cupti::overhead::data.offset;
            version() >= cupti::overhead::data.since && data + sizeof(void*) <= b.size) {
          const bool any = cupti::read(to + at, cupti::overhead::data) != nullptr;
          put(data, any ? std::calloc(1, 16) : nullptr);
        }
        break;
      default:
        break;
    }
    const auto size = p_.sizes.find(static_cast<std::uint32_t>(kind));
    if (size == p_.sizes.end()) {
      return;
    }
    at += size->second;
  }
}

result deck::next_record(const std::uint8_t* start_of, std::size_t valid, std::uint8_t** record) {
  const std::lock_guard lock{mutex_};
  const auto found = filled_.find(start_of);
  if (found == filled_.end() || record == nullptr || valid != found->second->size) {
    return result::invalid_parameter;
  }
  const buffer& b = *found->second;
  const auto end_of_walk = b.walked != 0 ? static_cast<result>(b.walked) : result::max_limit_reached;
  std::size_t next = 0;
  if (*record != nullptr) {
    const auto at = static_cast<std::uint64_t>(*record - start_of);
    while (next < b.records.size() && b.records[next].offset < at) {
      ++next;
    }
    if (next == b.records.size() || b.records[next].offset != at) {
      return result::invalid_kind;  // where a collector steps by sizes behind what CUPTI walked over
    }
    ++next;
  }
  if (next == b.records.size() || b.records[next].kind == 0) {
    return end_of_walk;
  }
  *record = const_cast<std::uint8_t*>(start_of) + b.records[next].offset;
  return result::success;
}

void deck::give_back_unused() {
  std::deque<lent_buffer> unused;
  cupti::buffer_completed_function complete = nullptr;
  {
    const std::lock_guard lock{mutex_};
    unused.swap(lent_);
    complete = completed_;
  }
  for (const lent_buffer& b : unused) {
    complete(nullptr, 0, b.data, b.size, 0);
  }
}

// --- what CUPTI's functions ask --------------------------------------------------------------------------

const char* deck::name(callback_domain domain, std::uint32_t id) const {
  const auto found = p_.names.find({domain == callback_domain::runtime_api, id});
  const bool of_call = domain == callback_domain::runtime_api || domain == callback_domain::driver_api;
  return of_call && found != p_.names.end() ? found->second.c_str() : nullptr;
}

std::uint64_t deck::now() const { return base_ + (realtime() - began_); }

result deck::subscribe(cupti::subscriber_handle* to, cupti::callback_function function, void* user) {
  const std::lock_guard lock{mutex_};
  if (to == nullptr || function == nullptr) {
    return result::invalid_parameter;
  }
  if (function_ != nullptr) {
    return result::multiple_subscribers_not_supported;
  }
  function_ = function;
  user_ = user;
  *to = reinterpret_cast<cupti::subscriber_handle>(this);
  return result::success;
}

result deck::unsubscribe(cupti::subscriber_handle from) {
  const std::lock_guard lock{mutex_};
  if (from != reinterpret_cast<cupti::subscriber_handle>(this) || function_ == nullptr) {
    return result::invalid_parameter;
  }
  function_ = nullptr;
  enabled_.clear();
  return result::success;
}

result deck::enable(bool on, callback_domain domain, std::uint32_t id) {
  const std::lock_guard lock{mutex_};
  if (on) {
    enabled_.insert({domain, id});
  } else {
    enabled_.erase({domain, id});
  }
  return result::success;
}

result deck::take_buffers(cupti::buffer_requested_function requested,
                          cupti::buffer_completed_function completed) {
  const std::lock_guard lock{mutex_};
  requested_ = requested;
  completed_ = completed;
  return requested != nullptr && completed != nullptr ? result::success : result::invalid_parameter;
}

void deck::complain(std::string what) {
  const std::lock_guard lock{mutex_};
  complaints_.push_back(std::move(what));
}

void deck::complain(const event& e, const std::string& what) {
  complain("line " + std::to_string(e.line) + ": " + what);
}

}  // namespace varve_tape
