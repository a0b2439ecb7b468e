// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/read.hpp"
#include "formats/input/input.hpp"
#include "formats/input/json_damage.hpp"
#include "formats/input/json_text.hpp"
#include "formats/pytorch/builder.hpp"
#include "formats/pytorch/document.hpp"
#include "formats/pytorch/losses.hpp"

#include <varve/io.hpp>

#include <cstring>
#include <new>
#include <utility>

namespace varve {
inline namespace v0 {

namespace pytorch {
namespace {

constexpr double reading = 0.75;  // share of all time: unpacking is much slower than parsing

/// A byte order mark is no part of JSON, yet some editors leave one.
void blank_mark(input::buffer& text) noexcept {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.view().substr(0, mark.size()) == mark) {
    std::memset(text.data(), ' ', mark.size());
  }
}

[[noreturn]] void explain(const refused& r, const input::content& file) {
  switch (r.why) {
    case refusal::no_trace:
      input::fail(file.path,
                  "is JSON but no PyTorch profiler trace: it has no list of \"traceEvents\"; export one with "
                  "torch.profiler's export_chrome_trace()");
    case refusal::too_long:
      input::fail(file.path, "holds 4 GiB or more of JSON, beyond what can be parsed; record fewer steps");
    case refusal::damaged:
    case refusal::encoding:
      break;
  }
  if (const auto found = input::find_damage(file.bytes.view())) {
    input::fail(file, found->byte, found->cause);
  }
  input::fail(file.path, "is not valid JSON; copy it again or record it again");
}

trace parse(const input::content& file, const input::buffer& text, loss_counts losses,
            const read_options& options, const captures& captured, capture_notes* notes) {
  std::function<void(std::uint64_t)> progress;
  if (options.progress) {
    progress = [&](std::uint64_t done) {
      const double part =
          reading + (1 - reading) * static_cast<double>(done) / static_cast<double>(text.size());
      options.progress(static_cast<std::uint64_t>(part * static_cast<double>(file.file_size)),
                       file.file_size);
    };
  }
  if (notes != nullptr) {
    *notes = {};
  }
  builder to{losses, captured, notes, options.layers};
  const walked found = walk(text, to, losses, progress);
  trace out = to.finish(found.about, file.path, found.unread);
  if (options.progress) {
    options.progress(file.file_size, file.file_size);
  }
  return out;
}

}  // namespace

trace read_file(const std::string& path, const read_options& options, const captures& captured,
                capture_notes* notes) {
  input::content file = input::read(path, options, reading);
  blank_mark(file.bytes);
  try {
    try {
      return parse(file, file.bytes, {}, options, captured, notes);
    } catch (const refused& r) {
      if (r.why != refusal::encoding) {
        throw;
      }
    }
    input::repairs done;
    const input::buffer text = input::repaired(file.bytes.view(), done);
    loss_counts losses;
    losses.add(lost::bad_utf8, done.utf8);
    losses.add(lost::bare_control, done.controls);
    return parse(file, text, losses, options, captured, notes);
  } catch (const refused& r) {
    explain(r, file);
  }
}

}  // namespace pytorch

trace read_pytorch(const std::string& path, const read_options& options) {
  try {
    return pytorch::read_file(path, options, pytorch::read_captures(options), nullptr);
  } catch (const std::bad_alloc&) {
    input::fail(path, "needs more memory than there is; record fewer steps");
  }
}

}  // namespace v0
}  // namespace varve
