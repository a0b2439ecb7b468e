// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A tape while it is played: where it is, who listens, what is lent.
#ifndef VARVE_TESTS_TAPE_DECK_HPP
#define VARVE_TESTS_TAPE_DECK_HPP

#include "cupti/abi.hpp"
#include "tape/player.hpp"
#include "tape/threads.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace varve_tape {

namespace cupti = varve::cupti;

class deck {
 public:
  deck(const prepared& p, program& engine);

  std::vector<std::string> run();

  // What CUPTI's functions ask. From any thread.
  [[nodiscard]] std::uint32_t version() const { return p_.t.head.cupti; }
  [[nodiscard]] const char* name(cupti::callback_domain domain, std::uint32_t id) const;
  /// Runs as the recorded machine's clock did at the beginning.
  [[nodiscard]] std::uint64_t now() const;
  cupti::result subscribe(cupti::subscriber_handle* handle, cupti::callback_function function, void* user);
  cupti::result unsubscribe(cupti::subscriber_handle handle);
  cupti::result enable(bool on, cupti::callback_domain domain, std::uint32_t id);
  cupti::result take_buffers(cupti::buffer_requested_function requested,
                             cupti::buffer_completed_function completed);
  /// Ids of handles. 0 for handles that the tape has not told of, which is complained of.
  std::uint64_t id_of(char of, std::uint64_t handle);
  cupti::result next_record(const std::uint8_t* buffer, std::size_t valid, std::uint8_t** record);
  std::size_t take_dropped() { return dropped_.exchange(0); }
  void flush(bool forced);

 private:
  struct lent_buffer {
    std::uint64_t number = 0;
    std::uint8_t* data = nullptr;
    std::size_t size = 0;
  };
  struct open_call {
    std::uint64_t data = 0;
  };

  void play_rest_of_session();
  void play(const event& e);
  void play_here(const event& e);
  void play_here(const event& e, const call& c);
  void play_here(const event& e, const resource& r);
  void play_here(const event& e, const request& r);
  void play_here(const event& e, const buffer& b);
  void play_here(const event& /*e*/, const begin& range) { engine_.begins(range); }
  void play_here(const event& /*e*/, const end& /*range*/) { engine_.ends(); }
  void play_here(const event& /*e*/, const start& how) { engine_.starts(how); }
  void play_here(const event& e, const stop& how);
  void play_here(const event& /*e*/, const arm& /*how*/) { engine_.arms(); }
  void play_here(const event& /*e*/, const disarm& /*how*/) { engine_.disarms(); }
  void play_here(const event& /*e*/, const step& /*text*/) {}
  void play_here(const event& /*e*/, const expect& /*what*/) {}
  void play_here(const event& /*e*/, const loss& /*what*/) {}

  void call_back(cupti::callback_domain domain, std::uint32_t id, const void* data);
  void learn(const resource& r);
  void forget(const resource& r);
  lent_buffer ask_for_buffer(std::uint64_t number);
  lent_buffer buffer_for(std::uint64_t number);
  void fill(const buffer& b, std::uint8_t* to) const;
  void give_back_unused();
  void complain(std::string what);
  void complain(const event& e, const std::string& what);

  const prepared& p_;
  program& engine_;
  std::size_t next_ = 0;                     // event
  bool stopping_ = false;                    // the engine is in stops(), and the subscriber has not flushed
  std::uint64_t base_ = 0;                   // of the tape's clock
  std::uint64_t began_ = 0;                  // of ours
  std::vector<std::deque<open_call>> open_;  // calls, of each thread
  std::atomic<std::size_t> dropped_{0};
  std::map<char, std::map<std::uint64_t, std::uint64_t>> ids_;  // by what it is of, then by handle

  mutable std::mutex mutex_;  // of what follows; nobody is called under it
  cupti::callback_function function_ = nullptr;
  void* user_ = nullptr;
  std::set<std::pair<cupti::callback_domain, std::uint32_t>> enabled_;
  cupti::buffer_requested_function requested_ = nullptr;
  cupti::buffer_completed_function completed_ = nullptr;
  std::deque<lent_buffer> lent_;
  std::map<const std::uint8_t*, const buffer*> filled_;  // what buffers that are being completed hold
  std::vector<std::string> complaints_;
  threads threads_;
};

/// The tape that is played; null: none.
extern std::atomic<deck*> current_deck;

}  // namespace varve_tape

#endif  // VARVE_TESTS_TAPE_DECK_HPP
