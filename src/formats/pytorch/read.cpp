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

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

namespace varve {
inline namespace v0 {

namespace pytorch {
namespace {

constexpr std::uint64_t longest_document = 0xFFFFFFFF;  // bytes that the parser can take
constexpr double taking = 0.75;  // share of all time: unpacking is much slower than parsing

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
    case refusal::no_category:
      input::fail(path,
                  "holds only events without a category (\"cat\"), as the legacy profiler's "
                  "EventList.export_chrome_trace() writes them: what ran where can't be told; record with "
                  "torch.profiler.profile and call its export_chrome_trace()");
    case refusal::too_long:
      input::fail(path, "holds 4 GiB or more of JSON, beyond what can be parsed; record fewer steps");
    case refusal::damaged:
    case refusal::encoding:
      break;
  }
  input::fail(path, "is not valid JSON; copy it again or record it again");
}

/// What becomes of one file, whichever way it is read.
class reading {
 public:
  reading(std::string path, const read_options& options, const captures& captured, capture_notes* notes)
      : path_{std::move(path)},
        options_{options},
        rules_{options.rules},
        captured_{captured},
        notes_{notes} {}

  /// `from` is what walk() takes; `size` is the file's, `before` the share of the work that is done.
  template <class Text>
  trace parse(Text& from, loss_counts losses, std::uint64_t size, double before) const {
    std::function<void(double)> progress;
    if (options_.progress) {
      progress = [&](double part) {
        options_.progress(
            static_cast<std::uint64_t>((before + (1 - before) * part) * static_cast<double>(size)), size);
      };
    }
    if (notes_ != nullptr) {
      *notes_ = {};
    }
    builder to{losses, rules_, captured_, notes_, options_.layers};
    const walked found = walk(from, to, losses, progress);
    return to.finish(found.about, path_, found.unread);
  }

  /// Nothing when the text has to be mended, or explained, as a whole.
  [[nodiscard]] std::optional<trace> in_pieces() const {
    input::stream file{path_};
    if (file.file_size() == 0 || (!file.packed() && file.file_size() > options_.max_unpacked)) {
      return std::nullopt;
    }
    try {
      input::window window{file, options_.max_unpacked};
      return parse(window, {}, file.file_size(), 0);
    } catch (const refused&) {
    } catch (const input::cut_off&) {
    }
    return std::nullopt;
  }

 private:
  std::string path_;
  const read_options& options_;
  naming_rules rules_;
  const captures& captured_;
  capture_notes* notes_;
};

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

/// All of the text at once; its damage is mended, or named.
trace as_a_whole(const std::string& path, const read_options& options, const reading& read) {
  input::content file = input::read(path, options, {taking, longest_document, true});
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
      trace out = read.parse(file.bytes, losses, file.file_size, taking);
      if (const std::string what = missing(file, done, size); !what.empty()) {
        out.lose(what, path);
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

}  // namespace

trace read_file(const std::string& path, const read_options& options, const captures& captured,
                capture_notes* notes) {
  read_options told = options;
  if (options.progress) {
    // Never less, also when a file is read once more.
    told.progress = [&options, most = std::uint64_t{0}](std::uint64_t done, std::uint64_t all) mutable {
      most = std::max(most, done);
      options.progress(most, all);
    };
  }
  const reading read{path, told, captured, notes};
  std::optional<trace> out = read.in_pieces();
  if (!out) {
    out = as_a_whole(path, told, read);
  }
  if (options.progress) {
    const std::uint64_t size = input::stream{path}.file_size();
    options.progress(size, size);
  }
  return std::move(*out);
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
