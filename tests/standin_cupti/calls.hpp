// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// One call of the simulated CUDA: callbacks around it, API records and the records of its work.
#ifndef VARVE_TESTS_STANDIN_CUPTI_CALLS_HPP
#define VARVE_TESTS_STANDIN_CUPTI_CALLS_HPP

#include "standin_cupti/layout.hpp"
#include "standin_cupti/params.hpp"

namespace standin {

struct function {
  std::uint32_t runtime_id = 0;  ///< 0: no such function there
  std::uint32_t driver_id = 0;
  std::uint32_t device = 0;
  const void* runtime_params = nullptr;
  const void* driver_params = nullptr;
  const char* symbol = nullptr;
};

/// What a call's body sees and fills in.
struct call_frame {
  std::uint64_t entered = 0;
  std::uint32_t correlation = 0;  ///< for records of its work
  std::uint32_t outer_correlation = 0;
  int result = 0;
  std::vector<record> records;
};

/// Runs `body` between entering and leaving, unless the call is to fail. With no lock held, as all callbacks
/// are.
done perform(const function& what, const call& how, const std::function<void(call_frame&)>& body);

/// Work on a stream, or a node where the stream captures.
done submit(const function& what, stream s, const operation& op, const work& w);

/// Whether records of such work are wanted, and under which kind.
bool choose_kind(operation& op);
/// Those that `w` gives, or the stream's next; with no end where the work goes on running.
interval times_of(stream s, std::uint64_t entered, const work& w);
record make_record_of(const operation& op, const occurrence& where, const work& w, stream s);

/// Writes them now, or later if that is the configured order.
void write_work(std::vector<record>& records);

void reset_calls();

}  // namespace standin

#endif  // VARVE_TESTS_STANDIN_CUPTI_CALLS_HPP
