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

constexpr std::uint64_t longest_document = 0xFFFFFFFF;  // bytes that the parser can take
constexpr double reading = 0.75;  // share of all time: unpacking is much slower than parsing

/// A byte order mark is no part of JSON, yet some editors leave one.
void blank_mark(input::buffer& text) noexcept {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.view().substr(0, mark.size()) == mark) {
    std::memset(text.data(), ' ', mark.size());
  }
}

[[noreturn]] void explain(const refused& r, const std::string& path) {
  switch (r.why) {
    case refusal::no_trace:
      input::fail(path,
                  "is JSON but no PyTorch profiler trace: it has no list of \"traceEvents\"; export one with "
                  "torch.profiler's export_chrome_trace()");
    case refusal::too_long:
      input::fail(path, "holds 4 GiB or more of JSON, beyond what can be parsed; record fewer steps");
    case refusal::damaged:
    case refusal::encoding:
      break;
  }
  input::fail(path, "is not valid JSON; copy it again or record it again");
}

trace parse(const input::content& file, loss_counts losses, const read_options& options,
            const naming_rules& rules, const captures& captured, capture_notes* notes) {
  const input::buffer& text = file.bytes;
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
  builder to{losses, rules, captured, notes, options.layers};
  const walked found = walk(text, to, losses, progress);
  return to.finish(found.about, file.path, found.unread);
}

/// What the file lacks at its end, for trace::losses; empty when it is whole.
std::string missing(const input::content& file, const input::mended& done, std::size_t size) {
  if (!done.cut_off) {
    return file.cut_off;
  }
  const std::string event = std::to_string(done.events + (done.in_event ? 1U : 0U));
  return (done.in_event ? "the file ends in the middle of event " : "the file ends after event ") + event +
         ", at byte " + std::to_string(size) + (file.packed ? " of the unpacked text" : "") +
         (done.in_event ? ": what follows is missing"
                        : ", without closing its brackets: what follows, if anything, is missing");
}

}  // namespace

trace read_file(const std::string& path, const read_options& options, const captures& captured,
                capture_notes* notes) {
  const naming_rules rules{options.rules};
  input::content file = input::read(path, options, {reading, longest_document, true});
  blank_mark(file.bytes);
  const std::size_t size = file.bytes.size();
  loss_counts losses;
  input::mended done;
  // At most: as it is, with its brackets mended, with its texts repaired too. A walk that fails leaves
  // nothing.
  bool mended = false;
  bool repaired = false;
  for (;;) {
    try {
      trace out = parse(file, losses, options, rules, captured, notes);
      if (const std::string what = missing(file, done, size); !what.empty()) {
        out.lose(what, path);
      }
      if (options.progress) {
        options.progress(file.file_size, file.file_size);
      }
      return out;
    } catch (const refused& r) {
      const bool texts = r.why == refusal::encoding;
      if ((!texts && r.why != refusal::damaged) || repaired || (mended && !texts)) {
        explain(r, path);
      }
    }
    if (!mended) {
      mended = true;
      if (const auto found = input::mend_events(file.bytes, done)) {
        if (!file.cut_off.empty()) {
          input::fail(path, file.cut_off);
        }
        input::fail(file, found->byte, found->cause);
      }
      losses.add(lost::trailing_comma, done.commas);
    } else {
      repaired = true;
      input::repairs changes;
      file.bytes = input::repaired(file.bytes.view(), changes);
      losses.add(lost::bad_utf8, changes.utf8);
      losses.add(lost::bare_control, changes.controls);
    }
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
