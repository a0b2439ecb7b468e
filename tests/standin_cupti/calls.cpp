// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "standin_cupti/calls.hpp"

#include "standin_cupti/activity.hpp"
#include "standin_cupti/buffers.hpp"
#include "standin_cupti/callbacks.hpp"
#include "standin_cupti/entry.hpp"
#include "standin_cupti/graphs.hpp"
#include "standin_cupti/names.hpp"
#include "standin_cupti/streams.hpp"

#include <atomic>
#include <utility>

namespace standin {
namespace {

using cupti::callback_domain;
using cupti::record_kind;

std::atomic<std::uint32_t> last_correlation{0};

// 0 means no correlation, so the count skips it when it wraps.
std::uint32_t next_correlation() {
  std::uint32_t id = ++last_correlation;
  return id != 0 ? id : ++last_correlation;
}

/// The part of a call in one domain.
struct layer {
  callback_domain domain;
  std::uint32_t id;
  std::uint32_t correlation;
  cupti::callback_data data;
  std::uint64_t correlation_data;
  std::uint64_t entered;
};

layer make_layer(callback_domain domain, std::uint32_t id, const function& what, std::uint32_t correlation) {
  layer made{domain, id, correlation, {}, settings().correlation_data, 0};
  cupti::callback_data& data = made.data;
  const char* name = callback_name(domain, id);
  data.function_name = name != nullptr ? name : "INVALID";
  data.function_params = domain == callback_domain::runtime_api ? what.runtime_params : what.driver_params;
  data.symbol_name = what.symbol;
  data.context = context_handle_of(what.device);
  data.context_uid = context_of(what.device);
  data.correlation_id = correlation;
  return made;
}

void enter_layer(layer& l, int& result) {
  l.entered = now();
  l.data.site = cupti::callback_site::enter;
  l.data.correlation_data = &l.correlation_data;
  l.data.function_return_value = &result;
  emit(l.domain, l.id, &l.data);
}

void leave_layer(layer& l, int& result, std::vector<record>& api_records) {
  l.data.site = cupti::callback_site::exit;
  l.data.function_return_value = &result;
  emit(l.domain, l.id, &l.data);
  if (wanted_api(l.domain, l.id)) {
    const auto kind = l.domain == callback_domain::runtime_api ? record_kind::runtime : record_kind::driver;
    api_records.push_back(
        make_api_record(kind, l.id, {l.entered, now()}, this_thread_id(), l.correlation, result));
  }
}

void write_api(std::vector<record>& records) {
  for (record& r : records) {
    write_external(cupti::read(r.bytes.data(), cupti::api::correlation_id));
    write(std::move(r));
  }
}

}  // namespace

void write_work(std::vector<record>& records) {
  for (record& r : records) {
    if (settings().order == record_order::at_flush) {
      write_later(std::move(r));
    } else {
      write(std::move(r));
    }
  }
}

done perform(const function& what, const call& how, const std::function<void(call_frame&)>& body) {
  initialise();
  const std::uint32_t runtime_id = how.runtime_id != 0 ? how.runtime_id : what.runtime_id;
  const std::uint32_t driver_id = how.driver_id != 0 ? how.driver_id : what.driver_id;
  const bool in_runtime = runtime_id != 0 && how.through != api::driver;
  const bool in_driver = driver_id != 0 && how.through != api::runtime;
  const bool own_ids = in_runtime && in_driver && settings().correlation != nested_correlation::shared;
  const bool correlated = correlates();
  const std::uint32_t outer = correlated ? next_correlation() : 0;
  const std::uint32_t inner = correlated && own_ids ? next_correlation() : outer;

  call_frame frame;
  frame.outer_correlation = outer;
  frame.correlation = settings().correlation == nested_correlation::inner ? inner : outer;
  layer in_rt = make_layer(callback_domain::runtime_api, runtime_id, what, outer);
  layer in_drv = make_layer(callback_domain::driver_api, driver_id, what, in_runtime ? inner : outer);
  if (in_runtime) {
    enter_layer(in_rt, frame.result);
  }
  if (in_driver) {
    enter_layer(in_drv, frame.result);
  }
  frame.entered = in_runtime ? in_rt.entered : in_driver ? in_drv.entered : now();
  if (how.inside != nullptr) {
    how.inside();
  }
  frame.result = how.result;
  if (frame.result == 0) {
    body(frame);
  }
  std::vector<record> api_records;
  if (in_driver) {
    leave_layer(in_drv, frame.result, api_records);
  }
  if (in_runtime) {
    leave_layer(in_rt, frame.result, api_records);
  }
  if (settings().order == record_order::kernel_first) {
    write_work(frame.records);
    write_api(api_records);
  } else {
    write_api(api_records);
    write_work(frame.records);
  }
  done result;
  result.correlation = frame.correlation;
  result.outer_correlation = outer;
  result.result = frame.result;
  return result;
}

void call_back(callback_domain domain, std::uint32_t id, std::size_t pairs) {
  layer bare = make_layer(domain, id, {}, 0);
  int result = 0;
  bare.data.correlation_data = &bare.correlation_data;
  bare.data.function_return_value = &result;
  for (std::size_t i = 0; i < pairs; ++i) {
    bare.data.correlation_id = next_correlation();
    bare.data.site = cupti::callback_site::enter;
    emit(domain, id, &bare.data);
    bare.data.site = cupti::callback_site::exit;
    emit(domain, id, &bare.data);
  }
}

void call_back_nested(std::uint32_t runtime_id, std::uint32_t driver_id, std::size_t times) {
  layer outer = make_layer(callback_domain::runtime_api, runtime_id, {}, 0);
  layer inner = make_layer(callback_domain::driver_api, driver_id, {}, 0);
  int result = 0;
  for (layer* l : {&outer, &inner}) {
    l->data.correlation_data = &l->correlation_data;
    l->data.function_return_value = &result;
  }
  const auto call = [](layer& l, cupti::callback_site site) {
    l.data.site = site;
    emit(l.domain, l.id, &l.data);
  };
  for (std::size_t i = 0; i < times; ++i) {
    outer.data.correlation_id = next_correlation();
    inner.data.correlation_id = next_correlation();
    call(outer, cupti::callback_site::enter);
    call(inner, cupti::callback_site::enter);
    call(inner, cupti::callback_site::exit);
    call(outer, cupti::callback_site::exit);
  }
}

bool choose_kind(operation& op) {
  if (op.kind == record_kind::concurrent_kernel) {
    const record_kind kind = wanted_kernels();
    op.kind = kind != record_kind::invalid ? kind : op.kind;
    return kind != record_kind::invalid;
  }
  return op.kind != record_kind::invalid && wanted(op.kind);
}

interval times_of(stream s, std::uint64_t entered, const work& w) {
  interval times =
      w.times ? *w.times : occupy(s, entered, w.duration != 0 ? w.duration : settings().duration);
  if (w.running) {
    times.end = 0;
  }
  return times;
}

record make_record_of(const operation& op, const occurrence& where, const work& w, stream s) {
  record made = make_work_record(op, where);
  made.running = w.running;
  made.stream = s.handle;
  made.device = s.device;
  return made;
}

done submit(const function& what, stream s, const operation& op, const work& w) {
  done result;
  done called = perform(what, w.how, [&](call_frame& frame) {
    if (const cupti::graph_handle g = capturing(s); g != nullptr) {
      result.captured = true;
      result.node = add_node(g, op, s.device);
      return;
    }
    occurrence where;
    where.times = times_of(s, frame.entered, w);
    where.device = s.device;
    where.stream = stream_id(s);
    where.correlation = frame.correlation;
    operation recorded = op;
    result.times.push_back(where.times);
    if (choose_kind(recorded)) {
      frame.records.push_back(make_record_of(recorded, where, w, s));
    }
  });
  called.captured = result.captured;
  called.node = result.node;
  called.times = std::move(result.times);
  return called;
}

void set_next_correlation(std::uint32_t id) { last_correlation = id - 1; }

void reset_calls() { last_correlation = 0; }

}  // namespace standin
