// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "standin_cuda/control.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

namespace standin_cuda {

namespace {

constexpr int invalid_value = 1;
constexpr int not_initialized = 3;
constexpr int invalid_context = 201;
constexpr int invalid_handle = 400;
constexpr int not_ready = 600;
constexpr int capture_unsupported = 900;
constexpr int capture_implicit = 906;
constexpr int global_mode = 0;
constexpr int relaxed_mode = 2;

struct context {
  int device = 0;
  std::uint64_t id = 0;
};
struct stream {
  handle in = nullptr;
  bool blocking = true;
  bool capturing = false;
  int capture_mode = global_mode;
  std::uint64_t end = 0;  // of its work
};
struct event {
  handle in = nullptr;
  std::optional<std::uint64_t> at;
  bool held = false;
};
struct fault {
  int code = 0;
  std::size_t after = 0;
};

struct state {
  std::mutex mutex;
  std::uintptr_t next = 0x1000;  // handles are used again for contexts alone, and where that is asked for
  std::uint64_t next_id = 1;
  std::uint64_t now = 1'000'000;
  std::map<handle, context> contexts;
  std::map<handle, stream> streams;
  std::map<handle, stream> legacy;  // by context
  std::map<handle, event> events;
  std::map<std::string, fault, std::less<>> faults;
  std::map<std::string, std::size_t, std::less<>> calls;
  std::vector<std::string> misuses;
  std::function<float()> elapsed;
  std::function<void()> device_count;
  std::function<void()> initialise;
  int file = -1;  // of the driver's device, once it is initialised
  bool hold = false;
};

state& all() {
  static auto* const leaked = new state;
  return *leaked;
}

std::atomic<std::uint64_t (*)() noexcept> clock_hook{nullptr};
thread_local std::vector<handle> current;
thread_local int capture_mode = global_mode;
thread_local bool initialising = false;

std::uint64_t time_of(const state& s) {
  const auto hook = clock_hook.load();
  return hook != nullptr ? hook() : s.now;
}

handle make_handle(state& s) { return reinterpret_cast<handle>(s.next += 16); }
handle current_context() { return current.empty() ? nullptr : current.back(); }

bool is_legacy(handle h) { return h == nullptr || h == reinterpret_cast<handle>(1); }

/// nullptr where there is none such.
stream* find_stream(state& s, handle h) {
  if (is_legacy(h)) {
    if (s.contexts.count(current_context()) == 0) {
      return nullptr;
    }
    stream& found = s.legacy[current_context()];
    found.in = current_context();
    return &found;
  }
  const auto found = s.streams.find(h);
  return found != s.streams.end() ? &found->second : nullptr;
}

bool blocking_capture(const state& s, handle in) {
  return std::any_of(s.streams.begin(), s.streams.end(), [&](const auto& entry) {
    return entry.second.in == in && entry.second.blocking && entry.second.capturing;
  });
}

bool global_capture(const state& s) {
  return std::any_of(s.streams.begin(), s.streams.end(), [](const auto& entry) {
    return entry.second.capturing && entry.second.capture_mode == global_mode;
  });
}

/// What every function begins with: 0, or what it returns.
int enter(state& s, std::string_view function, bool unsafe_in_capture = false) {
  ++s.calls[std::string{function}];
  if (const auto f = s.faults.find(function); f != s.faults.end() && f->second.code != 0) {
    if (f->second.after == 0) {
      return f->second.code;
    }
    --f->second.after;
  }
  if (s.contexts.empty()) {
    return not_initialized;
  }
  if (unsafe_in_capture && capture_mode != relaxed_mode && global_capture(s)) {
    s.misuses.push_back(std::string{function} + " breaks a capture");
    return capture_unsupported;
  }
  return 0;
}

int misuse(state& s, const char* what, int code) {
  s.misuses.emplace_back(what);
  return code;
}

}  // namespace

void reset() {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  s.now = 1'000'000;
  s.contexts.clear();
  s.streams.clear();
  s.legacy.clear();
  s.events.clear();
  s.faults.clear();
  s.calls.clear();
  s.misuses.clear();
  s.elapsed = nullptr;
  s.device_count = nullptr;
  s.initialise = nullptr;
  if (s.file != -1) {
    ::close(std::exchange(s.file, -1));
  }
  s.hold = false;
  clock_hook = nullptr;
  current.clear();
  capture_mode = global_mode;
}

std::uint64_t now() noexcept {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  return time_of(s);
}

void advance(std::uint64_t nanoseconds) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  s.now += nanoseconds;
}

void use_clock(std::uint64_t (*nanoseconds)() noexcept) { clock_hook = nanoseconds; }

void initialise() {
  std::function<void()> hook;
  {
    const std::lock_guard lock{all().mutex};
    if (all().file != -1) {
      return;
    }
    hook = all().initialise;
  }
  initialising = true;
  if (hook) {
    hook();
  }
  initialising = false;
  const std::lock_guard lock{all().mutex};
  all().file = ::open(VARVE_STANDIN_DEVICE, O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
}

handle create_context(int device) {
  initialise();
  state& s = all();
  const std::lock_guard lock{s.mutex};
  const handle made = make_handle(s);
  s.contexts[made] = {device, s.next_id++};
  current.assign(1, made);
  return made;
}

void create_context_again(handle c, int device) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  s.contexts[c] = {device, s.next_id++};
  current.assign(1, c);
}

void destroy_context(handle c) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  s.contexts.erase(c);
  s.legacy.erase(c);
  std::erase_if(s.streams, [&](const auto& entry) { return entry.second.in == c; });
  std::erase_if(s.events, [&](const auto& entry) { return entry.second.in == c; });
}

void set_current(handle c) { current.assign(1, c); }

handle create_stream(bool blocking) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  const handle made = make_handle(s);
  s.streams[made] = {current_context(), blocking};
  return made;
}

void destroy_stream(handle h) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  s.streams.erase(h);
}

void launch(handle h, std::uint64_t busy) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  stream& on = *find_stream(s, h);
  on.end = std::max(on.end, time_of(s)) + busy;
}

void begin_capture(handle h, int mode) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  stream& on = *find_stream(s, h);
  on.capturing = true;
  on.capture_mode = mode;
}

void end_capture(handle h) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  find_stream(s, h)->capturing = false;
}

void hold_events() {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  s.hold = true;
}

void release_events() {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  s.hold = false;
  for (auto& [h, e] : s.events) {
    e.held = false;
  }
}

void fail(std::string_view function, int code, std::size_t after) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  s.faults[std::string{function}] = {code, after};
}

void on_initialise(std::function<void()> hook) {
  const std::lock_guard lock{all().mutex};
  all().initialise = std::move(hook);
}

void on_device_count(std::function<void()> hook) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  s.device_count = std::move(hook);
}

void say_elapsed(std::function<float()> milliseconds) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  s.elapsed = std::move(milliseconds);
}

std::size_t calls() {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  std::size_t sum = 0;
  for (const auto& [function, n] : s.calls) {
    sum += n;
  }
  return sum;
}

std::size_t calls(std::string_view function) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  const auto found = s.calls.find(function);
  return found != s.calls.end() ? found->second : 0;
}

std::size_t events_alive() {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  return s.events.size();
}

std::size_t streams_alive() {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  return s.streams.size();
}

std::vector<std::string> misuses() {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  return s.misuses;
}

}  // namespace standin_cuda

using namespace standin_cuda;

// NOLINTBEGIN(readability-identifier-naming): CUDA's names
extern "C" {

STANDIN_EXPORT int cuDeviceGetCount(int* count) {
  state& s = all();
  std::unique_lock lock{s.mutex};
  if (initialising) {
    return misuse(s, "asks for devices inside of their initialisation", not_initialized);
  }
  if (const auto hook = s.device_count) {
    lock.unlock();
    hook();
    lock.lock();
  }
  std::set<int> devices;
  for (const auto& [h, c] : s.contexts) {
    devices.insert(c.device);
  }
  *count = static_cast<int>(devices.size());
  return enter(s, "cuDeviceGetCount");
}

STANDIN_EXPORT int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}

STANDIN_EXPORT int cuDeviceGetName(char* name, int size, int device) {
  const std::string text = "simulated GPU " + std::to_string(device);
  name[text.copy(name, static_cast<std::size_t>(size) - 1)] = '\0';
  return 0;
}

/// The first is last on the bus, as where CUDA_VISIBLE_DEVICES chooses: at 0000:0b:00.0, 0000:0a:00.0, …
STANDIN_EXPORT int cuDeviceGetPCIBusId(char* id, int size, int device) {
  std::string text = "0000:0x:00.0";
  text[6] = static_cast<char>('b' - device);
  id[text.copy(id, static_cast<std::size_t>(size) - 1)] = '\0';
  return device < 2 ? 0 : invalid_value;
}

/// Of a device that no table of GPUs has.
STANDIN_EXPORT int cuDeviceGetAttribute(int* value, int attribute, int /*device*/) {
  const std::map<int, int> known{{13, 1'777'000}, {16, 28}, {36, 7'501'000}, {37, 192},
                                 {38, 2'359'296}, {75, 8},  {76, 6}};
  const auto found = known.find(attribute);
  *value = found != known.end() ? found->second : 0;
  return found != known.end() ? 0 : 1;
}

STANDIN_EXPORT int cuCtxPushCurrent_v2(handle c) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  if (const int result = enter(s, "cuCtxPushCurrent"); result != 0) {
    return result;
  }
  if (s.contexts.count(c) == 0) {
    return invalid_context;
  }
  current.push_back(c);
  return 0;
}

STANDIN_EXPORT int cuCtxPopCurrent_v2(handle* c) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  if (current.empty()) {
    return misuse(s, "a context is popped that was not pushed", invalid_context);
  }
  *c = current.back();
  current.pop_back();
  return enter(s, "cuCtxPopCurrent");
}

STANDIN_EXPORT int cuCtxGetDevice(int* device) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  const auto found = s.contexts.find(current_context());
  if (found == s.contexts.end()) {
    return invalid_context;
  }
  *device = found->second.device;
  return enter(s, "cuCtxGetDevice");
}

STANDIN_EXPORT int cuCtxGetId(handle c, unsigned long long* id) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  const auto found = s.contexts.find(c != nullptr ? c : current_context());
  if (found == s.contexts.end()) {
    return invalid_context;
  }
  *id = found->second.id;
  return enter(s, "cuCtxGetId");
}

STANDIN_EXPORT int cuCtxSynchronize() {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  return misuse(s, "cuCtxSynchronize", 0);
}

STANDIN_EXPORT int cuStreamSynchronize(handle /*stream*/) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  return misuse(s, "cuStreamSynchronize", 0);
}

STANDIN_EXPORT int cuEventSynchronize(handle /*event*/) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  return misuse(s, "cuEventSynchronize", 0);
}

STANDIN_EXPORT int cuStreamCreate(handle* h, unsigned flags) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  if (const int result = enter(s, "cuStreamCreate", true); result != 0) {
    return result;
  }
  if (s.contexts.count(current_context()) == 0) {
    return invalid_context;
  }
  *h = make_handle(s);
  s.streams[*h] = {current_context(), flags == 0};
  return 0;
}

STANDIN_EXPORT int cuStreamDestroy_v2(handle h) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  if (const int result = enter(s, "cuStreamDestroy", true); result != 0) {
    return result;
  }
  return s.streams.erase(h) != 0 ? 0 : misuse(s, "a stream is destroyed that is not there", invalid_handle);
}

STANDIN_EXPORT int cuStreamGetCtx(handle h, handle* c) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  if (const int result = enter(s, "cuStreamGetCtx"); result != 0) {
    return result;
  }
  const stream* const found = find_stream(s, h);
  if (found == nullptr) {
    return invalid_handle;
  }
  *c = found->in;
  return 0;
}

STANDIN_EXPORT int cuStreamIsCapturing(handle h, int* status) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  if (const int result = enter(s, "cuStreamIsCapturing"); result != 0) {
    return result;
  }
  const stream* const found = find_stream(s, h);
  if (found == nullptr) {
    return invalid_handle;
  }
  if (is_legacy(h) && blocking_capture(s, found->in)) {
    return capture_implicit;
  }
  *status = found->capturing ? 1 : 0;
  return 0;
}

STANDIN_EXPORT int cuThreadExchangeStreamCaptureMode(int* mode) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  if (const int result = enter(s, "cuThreadExchangeStreamCaptureMode"); result != 0) {
    return result;
  }
  if (*mode < global_mode || *mode > relaxed_mode) {
    return invalid_value;
  }
  std::swap(*mode, capture_mode);
  return 0;
}

STANDIN_EXPORT int cuEventCreate(handle* h, unsigned flags) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  if (const int result = enter(s, "cuEventCreate", true); result != 0) {
    return result;
  }
  if (flags != 0) {
    return misuse(s, "an event is made without timing", invalid_value);
  }
  if (s.contexts.count(current_context()) == 0) {
    return invalid_context;
  }
  *h = make_handle(s);
  s.events[*h].in = current_context();
  return 0;
}

STANDIN_EXPORT int cuEventDestroy_v2(handle h) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  if (const int result = enter(s, "cuEventDestroy", true); result != 0) {
    return result;
  }
  return s.events.erase(h) != 0 ? 0 : misuse(s, "an event is destroyed that is not there", invalid_handle);
}

STANDIN_EXPORT int cuEventRecord(handle h, handle on) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  if (const int result = enter(s, "cuEventRecord"); result != 0) {
    return result;
  }
  const auto found = s.events.find(h);
  const stream* const target = find_stream(s, on);
  if (found == s.events.end() || target == nullptr || found->second.in != target->in) {
    return misuse(s, "an event is recorded that is gone, or on a stream that is gone or of another context",
                  invalid_handle);
  }
  if (target->capturing || (is_legacy(on) && blocking_capture(s, target->in))) {
    return misuse(s, "an event is recorded in a capture", capture_unsupported);
  }
  found->second.at = std::max(time_of(s), target->end);
  found->second.held = s.hold;
  return 0;
}

STANDIN_EXPORT int cuEventQuery(handle h) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  if (const int result = enter(s, "cuEventQuery", true); result != 0) {
    return result;
  }
  const auto found = s.events.find(h);
  if (found == s.events.end()) {
    return misuse(s, "an event is asked for that is gone", invalid_handle);
  }
  const event& e = found->second;
  return !e.at || (*e.at <= time_of(s) && !e.held) ? 0 : not_ready;
}

STANDIN_EXPORT int cuEventElapsedTime(float* milliseconds, handle from, handle to) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  if (const int result = enter(s, "cuEventElapsedTime"); result != 0) {
    return result;
  }
  const auto a = s.events.find(from);
  const auto b = s.events.find(to);
  if (a == s.events.end() || b == s.events.end() || !a->second.at || !b->second.at ||
      a->second.in != b->second.in) {
    return misuse(s, "events are compared that are gone or of two contexts", invalid_handle);
  }
  if (std::max(*a->second.at, *b->second.at) > time_of(s)) {
    return not_ready;
  }
  const auto length = static_cast<double>(static_cast<std::int64_t>(*b->second.at - *a->second.at));
  *milliseconds = s.elapsed ? s.elapsed() : static_cast<float>(length / 1e6);
  return 0;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
