// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "record/copies.hpp"

#include <varve/varve.h>

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>

#define VARVE_TEXT(value) #value
#define VARVE_VALUE_TEXT(value) VARVE_TEXT(value)

// An ELF note (System V ABI, "Note Section"): survives stripping and hidden visibility, and is found in every
// loaded module without symbols, environment variables or files. In assembly, since a sanitizer would pad a
// variable.
asm(R"(
  .pushsection .note.varve, "a", %note
  .balign 4
  .hidden varve_own_note_
  .globl varve_own_note_
varve_own_note_:
  .long 6, 4, 1
  .asciz "varve"
  .balign 4
  .long )" VARVE_VALUE_TEXT(VARVE_VERSION) R"(
  .popsection
)");
extern "C" __attribute__((visibility("hidden"))) const char varve_own_note_[];

namespace varve::record {

namespace {

constexpr std::uint32_t note_type = 1;

struct search {
  std::vector<std::string> found;
};

std::string describe(const char* module, std::uint32_t version) {
  std::string text = module != nullptr && *module != '\0' ? module : "the executable";
  text += " (varve " + version_text(static_cast<int>(version)) + ')';
  return text;
}

void scan_notes(const char* at, const char* end, const char* module, search& out) {
  while (at + sizeof(ElfW(Nhdr)) <= end) {
    ElfW(Nhdr) header;
    std::memcpy(&header, at, sizeof header);
    const char* name = at + sizeof header;
    const std::size_t name_bytes = (header.n_namesz + 3U) & ~std::size_t{3};
    const std::size_t text_bytes = (header.n_descsz + 3U) & ~std::size_t{3};
    if (static_cast<std::size_t>(end - name) < name_bytes + text_bytes) {
      return;
    }
    if (header.n_type == note_type && header.n_namesz == 6 && std::memcmp(name, "varve", 6) == 0 &&
        header.n_descsz == sizeof(std::uint32_t) && at != varve_own_note_) {
      std::uint32_t version = 0;
      std::memcpy(&version, name + name_bytes, sizeof version);
      out.found.push_back(describe(module, version));
    }
    at = name + name_bytes + text_bytes;
  }
}

int visit(dl_phdr_info* info, std::size_t /*size*/, void* data) noexcept {
  for (ElfW(Half) i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_NOTE) {
      const char* at = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
      scan_notes(at, at + segment.p_memsz, info->dlpi_name, *static_cast<search*>(data));
    }
  }
  return 0;
}

}  // namespace

std::string version_text(int version) {
  return std::to_string(version / 10000) + '.' + std::to_string(version / 100 % 100) + '.' +
         std::to_string(version % 100);
}

std::vector<std::string> other_copies() {
  search out;
  dl_iterate_phdr(visit, &out);
  return out.found;
}

}  // namespace varve::record
