// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cupti/library.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "cupti/records.hpp"

namespace varve::cupti {

namespace {

constexpr const char* sonames[] = {"libcupti.so.13", "libcupti.so.12"};
constexpr std::uint32_t oldest = cuda_12_0;

#if defined(__x86_64__)
constexpr const char* folders[] = {"lib64", "extras/CUPTI/lib64", "targets/x86_64-linux/lib", "lib"};
#else
constexpr const char* folders[] = {"lib64", "extras/CUPTI/lib64", "targets/sbsa-linux/lib",
                                   "targets/aarch64-linux/lib", "lib"};
#endif

class resolver {
 public:
  explicit resolver(void* handle) : handle_(handle) {}

  template <class Function>
  void needed(const char* name, Function& slot) {
    find(name, slot, needed_);
  }
  template <class Function>
  void wanted(const char* name, Function& slot) {
    find(name, slot, wanted_);
  }

  [[nodiscard]] const std::vector<std::string>& lacks_needed() const { return needed_; }
  [[nodiscard]] const std::vector<std::string>& lacks_wanted() const { return wanted_; }

 private:
  template <class Function>
  void find(const char* name, Function& slot, std::vector<std::string>& missing) {
    slot = reinterpret_cast<Function>(dlsym(handle_, name));
    if (slot == nullptr) {
      missing.emplace_back(name);
    }
  }

  void* handle_;
  std::vector<std::string> needed_;
  std::vector<std::string> wanted_;
};

void resolve(resolver& r, functions& call) {
  r.needed("cuptiGetVersion", call.get_version);
  r.needed("cuptiGetTimestamp", call.get_timestamp);
  r.needed("cuptiGetCallbackName", call.get_callback_name);
  r.needed("cuptiSubscribe", call.subscribe);
  r.needed("cuptiUnsubscribe", call.unsubscribe);
  r.needed("cuptiEnableCallback", call.enable_callback);
  r.needed("cuptiActivityRegisterCallbacks", call.activity_register_callbacks);
  r.needed("cuptiActivityEnable", call.activity_enable);
  r.needed("cuptiActivityDisable", call.activity_disable);
  r.needed("cuptiActivityFlushAll", call.activity_flush_all);
  r.needed("cuptiActivityGetNextRecord", call.activity_get_next_record);
  r.needed("cuptiActivityGetNumDroppedRecords", call.activity_get_num_dropped_records);
  r.wanted("cuptiGetResultString", call.get_result_string);
  r.wanted("cuptiSetThreadIdType", call.set_thread_id_type);
  r.wanted("cuptiEnableDomain", call.enable_domain);
  r.wanted("cuptiGetGraphId", call.get_graph_id);
  r.wanted("cuptiGetGraphNodeId", call.get_graph_node_id);
  r.wanted("cuptiGetStreamIdEx", call.get_stream_id_ex);
  r.wanted("cuptiFinalize", call.finalize);
  r.wanted("cuptiActivityEnableRuntimeApi", call.activity_enable_runtime_api);
  r.wanted("cuptiActivityEnableDriverApi", call.activity_enable_driver_api);
  r.wanted("cuptiActivityFlushPeriod", call.activity_flush_period);
  r.wanted("cuptiActivitySetAttribute", call.activity_set_attribute);
  r.wanted("cuptiActivityGetAttribute", call.activity_get_attribute);
  r.wanted("cuptiActivityPushExternalCorrelationId", call.activity_push_external_correlation_id);
  r.wanted("cuptiActivityPopExternalCorrelationId", call.activity_pop_external_correlation_id);
}

std::string path_of(void* handle, const char* otherwise) {
  const link_map* map = nullptr;
  return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && map->l_name != nullptr &&
                 *map->l_name != '\0'
             ? map->l_name
             : otherwise;
}

// The library behind a handle, or null and why it is of no use.
std::unique_ptr<library> examine(void* handle, const char* name, std::string& why) {
  auto found = std::make_unique<library>();
  found->path = path_of(handle, name);
  resolver r{handle};
  resolve(r, found->call);
  if (!r.lacks_needed().empty()) {
    why = found->path + " is not a CUPTI that varve can use: it has no " + r.lacks_needed().front();
    return nullptr;
  }
  found->missing = r.lacks_wanted();
  if (found->call.get_version(&found->version) != result::success) {
    why = found->path + " does not tell its version";
    return nullptr;
  }
  if (found->version < oldest) {
    why = found->path + " is of CUDA " + version_text(found->version) + ", varve needs 12.0 or newer";
    return nullptr;
  }
  return found;
}

// One search and what it met.
class search {
 public:
  // True ends the search: the library was found, or there is a loaded one that is of no use.
  bool loaded_copy() {
    for (const char* const name : sonames) {
      if (void* const handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) {
        take(handle, name);
        if (found_) {
          found_->was_loaded = true;
        }
        return true;
      }
    }
    return false;
  }

  bool open(const char* name) {
    // Its code is never unloaded: CUPTI keeps threads and hooks of its own.
    if (void* const handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {
      take(handle, name);
      return found_ != nullptr;
    }
    const char* const why = dlerror();
    const std::string_view text = why != nullptr ? why : "no reason given";
    tried_.push_back(text.find(name) != std::string_view::npos
                         ? std::string{text}
                         : std::string{name} + ": " + std::string{text});
    return false;
  }

  bool toolkit(const std::string& root, const std::string& called) {
    bool any = false;
    for (const char* const soname : sonames) {
      for (const char* const folder : folders) {
        const std::string file = root + '/' + folder + '/' + soname;
        if (access(file.c_str(), F_OK) == 0) {
          any = true;
          if (open(file.c_str())) {
            return true;
          }
        }
      }
    }
    if (!any) {
      tried_.push_back(called + ": holds no libcupti");
    }
    return false;
  }

  bool variable(const char* name) {
    const char* const value = secure_getenv(name);
    if (value == nullptr || *value == '\0') {
      tried_.push_back(std::string{name} + ": not set");
      return false;
    }
    return toolkit(value, std::string{name} + '=' + value);
  }

  bool loader() {
    for (const char* const name : sonames) {
      if (open(name)) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] std::unique_ptr<library> found() { return std::move(found_); }

  [[nodiscard]] std::string tried() const {
    std::string text;
    for (const std::string& one : tried_) {
      text += (text.empty() ? "" : "; ") + one;
    }
    return text;
  }

 private:
  void take(void* handle, const char* name) {
    std::string why;
    found_ = examine(handle, name, why);
    if (!found_) {
      tried_.push_back(std::move(why));
    }
  }

  std::unique_ptr<library> found_;
  std::vector<std::string> tried_;
};

load_result look(const std::string& path) {
  search s;
  if (!path.empty()) {
    s.open(path.c_str());
  } else {
    // Two copies of CUPTI in one process get into each other's way: a loaded one is used or none.
    static_cast<void>(s.loaded_copy() || s.variable("CUDA_HOME") || s.variable("CUDA_PATH") || s.loader() ||
                      s.toolkit("/usr/local/cuda", "/usr/local/cuda"));
  }
  if (std::unique_ptr<library> found = s.found()) {
    return {found.release(), {}};  // lives as long as the process
  }
  return {nullptr, path.empty()
                       ? "no libcupti of CUDA 12 or 13 was found. Install the toolkit's CUPTI (package "
                         "cuda-cupti), set CUDA_HOME, or name the file. Tried: " +
                             s.tried()
                       : "the libcupti that was named cannot be used: " + s.tried() +
                             ". Name another file, or none, for the usual places to be searched."};
}

}  // namespace

std::string named_library(const std::string& option) {
  const char* const path = option.empty() ? ::secure_getenv("VARVE_CUPTI_LIBRARY") : nullptr;
  return path != nullptr ? path : option;
}

load_result load(const std::string& path) {
  // Never destroyed: sessions may start while the process exits.
  static auto* const lock = new std::mutex;
  static auto* const known = new std::map<std::string, const library*>;
  const std::lock_guard<std::mutex> guard{*lock};
  if (const auto it = known->find(path); it != known->end()) {
    return {it->second, {}};
  }
  load_result result = look(path);
  if (result.loaded != nullptr) {
    known->emplace(path, result.loaded);
  }
  return result;
}

bool is_named(const library& l, const std::string& path) {
  void* const handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  if (handle == nullptr) {
    return false;
  }
  const bool same = path_of(handle, path.c_str()) == l.path;
  dlclose(handle);
  return same;
}

std::string version_text(std::uint32_t version) {
  const std::string number = " (" + std::to_string(version) + ')';
  if (version >= cuda_13_0) {  // xxyyzz
    return std::to_string(version / 10'000) + '.' + std::to_string(version / 100 % 100) + number;
  }
  switch (version) {
    case 18:
      return "11.8" + number;
    case cuda_12_0:
      return "12.0 or 12.1" + number;
    case cuda_12_2:
      return "12.2" + number;
    case cuda_12_3:
      return "12.3" + number;
    case cuda_12_4:
      return "12.4" + number;
    case cuda_12_5:
      return "12.5" + number;
    case cuda_12_6:
      return "12.6" + number;
    case cuda_12_8:
      return "12.8" + number;
    case cuda_12_9:
    case 28:
      return "12.9" + number;
    default:
      return (version < 18 ? "11 or older" : "unknown") + number;
  }
}

}  // namespace varve::cupti
