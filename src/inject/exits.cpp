// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The addresses of these functions in other modules' tables (ELF's global offset tables) are replaced.
#include "inject/exits.hpp"

#include "inject/life.hpp"
#include "inject/pages.hpp"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>

namespace varve::inject {

namespace {

[[noreturn]] void exit_now(int code) {
  write_now(why::end);
  ::_exit(code);
}

int exec_ve(const char* path, char* const* arguments, char* const* variables) {
  write_now(why::perhaps);
  return ::execve(path, arguments, variables);
}
int exec_v(const char* path, char* const* arguments) {
  write_now(why::perhaps);
  return ::execv(path, arguments);
}
int exec_vp(const char* file, char* const* arguments) {
  write_now(why::perhaps);
  return ::execvp(file, arguments);
}
int exec_vpe(const char* file, char* const* arguments, char* const* variables) {
  write_now(why::perhaps);
  return ::execvpe(file, arguments, variables);
}
int exec_f(int file, char* const* arguments, char* const* variables) {
  write_now(why::perhaps);
  return ::fexecve(file, arguments, variables);
}

int exec_at(int folder, const char* path, char* const* arguments, char* const* variables, int flags) {
  write_now(why::perhaps);
  return static_cast<int>(::syscall(SYS_execveat, folder, path, arguments, variables, flags));  // glibc 2.34
}

/// Arguments one by one, as a list; those beyond its end make the call fail, as too many do.
class argument_list {
 public:
  argument_list(const char* first, std::va_list& more) noexcept {
    for (const char* a = first; a != nullptr; a = va_arg(more, const char*)) {
      if (count_ + 1 < list_.size()) {
        list_[count_++] = const_cast<char*>(a);
      } else {
        whole_ = false;
      }
    }
  }
  [[nodiscard]] char* const* get() const noexcept { return list_.data(); }
  [[nodiscard]] bool whole() const noexcept { return whole_; }

 private:
  std::array<char*, 4096> list_{};
  std::size_t count_ = 0;
  bool whole_ = true;
};

int too_many() noexcept {
  errno = E2BIG;
  return -1;
}

int exec_l(const char* path, const char* first, ...) {
  std::va_list more;
  va_start(more, first);
  const argument_list list{first, more};
  va_end(more);
  return list.whole() ? exec_v(path, list.get()) : too_many();
}
int exec_lp(const char* file, const char* first, ...) {
  std::va_list more;
  va_start(more, first);
  const argument_list list{first, more};
  va_end(more);
  return list.whole() ? exec_vp(file, list.get()) : too_many();
}
int exec_le(const char* path, const char* first, ...) {
  std::va_list more;
  va_start(more, first);
  const argument_list list{first, more};
  char* const* const variables = va_arg(more, char* const*);
  va_end(more);
  return list.whole() ? exec_ve(path, list.get(), variables) : too_many();
}

template <class Function>
ElfW(Addr) address(Function* function) noexcept {
  return reinterpret_cast<ElfW(Addr)>(function);
}

ElfW(Addr) replacement(std::string_view name) noexcept {
  static const std::pair<std::string_view, ElfW(Addr)> all[] = {
      {"_exit", address(exit_now)}, {"_Exit", address(exit_now)},   {"execve", address(exec_ve)},
      {"execv", address(exec_v)},   {"execvp", address(exec_vp)},   {"execvpe", address(exec_vpe)},
      {"fexecve", address(exec_f)}, {"execl", address(exec_l)},     {"execlp", address(exec_lp)},
      {"execle", address(exec_le)}, {"execveat", address(exec_at)},
  };
  for (const auto& [known, function] : all) {
    if (known == name) {
      return function;
    }
  }
  return 0;
}

#if defined(__x86_64__)
constexpr bool is_address(ElfW(Xword) type) {
  return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
}
#elif defined(__aarch64__)
constexpr bool is_address(ElfW(Xword) type) {
  return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
}
#else
constexpr bool is_address(ElfW(Xword) /*type*/) { return false; }
#endif

struct module {
  ElfW(Addr) base = 0;
  ElfW(Addr) begin = UINTPTR_MAX;  // of what is mapped
  ElfW(Addr) end = 0;
  ElfW(Addr) sealed_begin = 0;  // read-only after loading
  ElfW(Addr) sealed_end = 0;
  const ElfW(Dyn) * dynamic = nullptr;

  explicit module(const dl_phdr_info& info) noexcept : base{info.dlpi_addr} {
    const auto page = static_cast<ElfW(Addr)>(::sysconf(_SC_PAGESIZE));
    for (ElfW(Half) i = 0; i < info.dlpi_phnum; ++i) {
      const ElfW(Phdr)& p = info.dlpi_phdr[i];
      const ElfW(Addr) at = base + p.p_vaddr;
      if (p.p_type == PT_LOAD) {
        begin = at < begin ? at : begin;
        end = at + p.p_memsz > end ? at + p.p_memsz : end;
      } else if (p.p_type == PT_DYNAMIC) {
        dynamic = reinterpret_cast<const ElfW(Dyn)*>(at);
      } else if (p.p_type == PT_GNU_RELRO) {
        sealed_begin = at & ~(page - 1);
        sealed_end = (at + p.p_memsz) & ~(page - 1);
      }
    }
  }
  [[nodiscard]] bool holds(ElfW(Addr) at, std::size_t bytes) const noexcept {
    return at >= begin && at <= end && end - at >= bytes;
  }
  /// The loader makes addresses of the offsets in a dynamic section, for most modules.
  template <class T>
  [[nodiscard]] const T* at(ElfW(Addr) value, std::size_t bytes) const noexcept {
    const ElfW(Addr) place = value < begin ? base + value : value;
    return value != 0 && holds(place, bytes) ? reinterpret_cast<const T*>(place) : nullptr;
  }
};

std::mutex watching;
// All under `watching`: how many modules had been loaded when all were seen, whether one was not ready, and
// how often that was so.
unsigned long long seen = 0;
bool unready = false;
int looks = 0;
constexpr int most_looks = 10;

void replace(const module& m, ElfW(Addr) slot, ElfW(Addr) by) noexcept {
  const ElfW(Addr) now = *reinterpret_cast<const ElfW(Addr)*>(slot);
  if (now == by) {
    return;
  }
  // A module that another thread is loading holds no addresses so far, and the loader writes to its pages
  // until it seals them.
  const bool sealed = slot >= m.sealed_begin && slot < m.sealed_end;
  if ((m.base != 0 && now < m.end - m.base) || (sealed && is_writable(reinterpret_cast<const void*>(slot)))) {
    unready = true;
    return;
  }
  const auto page = static_cast<ElfW(Addr)>(::sysconf(_SC_PAGESIZE));
  void* const start = reinterpret_cast<void*>(slot & ~(page - 1));
  if (sealed && ::mprotect(start, page, PROT_READ | PROT_WRITE) != 0) {
    return;
  }
  __atomic_store_n(reinterpret_cast<ElfW(Addr)*>(slot), by, __ATOMIC_RELEASE);
  if (sealed) {
    ::mprotect(start, page, PROT_READ);
  }
}

struct tables {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  std::size_t names_size = 0;
};

void replace_in(const module& m, const tables& t, ElfW(Addr) relocations, std::size_t bytes) noexcept {
  const auto* const first = m.at<ElfW(Rela)>(relocations, bytes);
  for (std::size_t i = 0; first != nullptr && i < bytes / sizeof(ElfW(Rela)); ++i) {
    const ElfW(Rela)& r = first[i];
    const ElfW(Sym)* const symbol = t.symbols + ELF64_R_SYM(r.r_info);
    if (!is_address(ELF64_R_TYPE(r.r_info)) || !m.holds(address(symbol), sizeof *symbol) ||
        symbol->st_name >= t.names_size || !m.holds(m.base + r.r_offset, sizeof(ElfW(Addr)))) {
      continue;
    }
    const char* const name = t.names + symbol->st_name;
    if (const ElfW(Addr) by = replacement({name, ::strnlen(name, t.names_size - symbol->st_name)})) {
      replace(m, m.base + r.r_offset, by);
    }
  }
}

int visit(dl_phdr_info* info, std::size_t /*size*/, void* loaded) {
  auto& all = *static_cast<unsigned long long*>(loaded);
  all = info->dlpi_adds;
  if (all == seen) {
    return 1;  // none came
  }
  const module m{*info};
  if (m.dynamic == nullptr || m.holds(address(&watch_exits), 1)) {
    return 0;  // our own calls are meant
  }
  ElfW(Addr) symbols = 0;
  ElfW(Addr) names = 0;
  ElfW(Addr) tables_at[2] = {0, 0};
  std::size_t table_bytes[2] = {0, 0};
  tables t;
  for (const ElfW(Dyn)* d = m.dynamic; m.holds(address(d), sizeof *d) && d->d_tag != DT_NULL; ++d) {
    switch (d->d_tag) {
      case DT_SYMTAB:
        symbols = d->d_un.d_ptr;
        break;
      case DT_STRTAB:
        names = d->d_un.d_ptr;
        break;
      case DT_STRSZ:
        t.names_size = d->d_un.d_val;
        break;
      case DT_JMPREL:
        tables_at[0] = d->d_un.d_ptr;
        break;
      case DT_PLTRELSZ:
        table_bytes[0] = d->d_un.d_val;
        break;
      case DT_RELA:
        tables_at[1] = d->d_un.d_ptr;
        break;
      case DT_RELASZ:
        table_bytes[1] = d->d_un.d_val;
        break;
      default:
        break;
    }
  }
  t.symbols = m.at<ElfW(Sym)>(symbols, sizeof(ElfW(Sym)));
  t.names = m.at<char>(names, t.names_size);
  if (t.symbols != nullptr && t.names != nullptr) {
    replace_in(m, t, tables_at[0], table_bytes[0]);
    replace_in(m, t, tables_at[1], table_bytes[1]);
  }
  return 0;
}

}  // namespace

void watch_exits() noexcept {
  const std::lock_guard lock{watching};
  unsigned long long loaded = 0;
  unready = false;
  ::dl_iterate_phdr(visit, &loaded);
  looks = unready ? looks + 1 : 0;
  seen = unready && looks < most_looks ? 0 : loaded;
}

void lock_exits() noexcept { watching.lock(); }
void unlock_exits() noexcept { watching.unlock(); }

}  // namespace varve::inject
