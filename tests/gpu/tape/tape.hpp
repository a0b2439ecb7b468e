// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Tapes: what CUPTI told one subscriber during one case, in the order in which it was told. Reading and
// writing needs neither CUPTI nor a GPU.
//
// A tape is text. Each line is a word and `key=value` fields, between single spaces; a field that is missing
// is zero or empty. Numbers are decimal, bytes are hexadecimal digits; in texts a space, a percent sign and
// what is not printable are %XX. Fields that a reader doesn't know are skipped. The lines:
//
//   varve-tape      version=1 name=… by_hand=1 cupti=… driver=… runtime=… device=… capability=90
//                   first; by_hand: written from belief, not recorded
//   call            a callback of an API: enter=1 at the entry, domain=runtime|driver; `data` is the 64 bits
//   that
//                   the callback of the entry left and that of the exit got; `result` at the exit; `params`
//                   the call's parameters, as far as the recorder knows how long they are
//   resource        a callback of the resource domain; handles as they were, ids where CUPTI was asked for
//   them request, buffer CUPTI asked for an activity buffer, and gave one back: `size` bytes of it are
//   filled, the
//                   record lines that follow are what is in it
//   record          one record: reaches to the next one, the last to the buffer's end, whatever is there;
//   kind=0
//                   where nothing could be walked over; `name` is what the pointer at byte `name_at` led to
//   begin, end      the program's own range: label, index
//   step            what the program does next, or the result of it
//   expect          label, index, count: kernels that the device ran for this label, over the whole tape
//   finish          last; left_out: uninteresting calls that the recorder did not write down
//
// Lines but the first, `record` and `finish` begin with at=… thread=…: cuptiGetTimestamp() and the number of
// the thread in order of appearance.
#ifndef VARVE_TESTS_GPU_TAPE_TAPE_HPP
#define VARVE_TESTS_GPU_TAPE_TAPE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace varve_tape {

using bytes = std::vector<std::byte>;

struct header {
  std::uint32_t version = 0;
  std::string name;
  bool by_hand = false;
  std::uint32_t cupti = 0;
  std::uint32_t driver = 0;
  std::uint32_t runtime = 0;
  std::string device;
  std::uint32_t capability = 0;
};

struct call {
  bool enter = false;
  std::string domain;
  std::uint32_t cbid = 0;
  std::string name;    ///< by cuptiGetCallbackName
  std::string symbol;  ///< of the kernel, as mangled
  std::uint32_t correlation = 0;
  std::uint32_t context = 0;
  std::uint64_t data = 0;
  std::int64_t result = 0;
  bytes params;
};

struct resource {
  std::uint32_t cbid = 0;
  std::uint64_t context = 0;
  std::uint32_t context_id = 0;
  std::uint64_t stream = 0;
  std::uint32_t stream_id = 0;
  bool graph_data = false;  ///< the fields below were filled from a CUpti_GraphData
  std::uint64_t graph = 0;
  std::uint32_t graph_id = 0;
  std::uint64_t original_graph = 0;
  std::uint32_t original_graph_id = 0;
  std::uint64_t node = 0;
  std::uint64_t node_id = 0;
  std::uint64_t original_node = 0;
  std::uint64_t original_node_id = 0;
  std::uint32_t node_type = 0;
  std::uint64_t dependency = 0;
  std::uint64_t exec = 0;
  std::uint32_t exec_id = 0;
};

struct request {
  std::uint64_t size = 0;
};

struct record {
  std::uint32_t kind = 0;
  std::uint64_t offset = 0;
  std::string name;
  std::uint32_t name_at = 0;  ///< 0: it has none
  bytes data;
};

struct buffer {
  std::uint64_t context = 0;
  std::uint32_t stream = 0;
  std::uint64_t size = 0;
  std::uint64_t dropped = 0;
  std::int64_t walked = 0;  ///< how cuptiActivityGetNextRecord ended: 12 at the end of the buffer
  std::vector<record> records;
};

struct begin {
  std::string label;
  std::int64_t index = 0;
};

struct end {};

struct step {
  std::string text;
};

struct expect {
  std::string label;
  std::int64_t index = 0;
  std::uint64_t count = 0;
};

struct event {
  std::uint64_t at = 0;
  std::uint32_t thread = 0;
  std::variant<call, resource, request, buffer, begin, end, step, expect> what;
};

struct tape {
  header head;
  std::vector<event> events;
  bool finished = false;  ///< false where the program died before the end
  std::uint64_t left_out = 0;
};

/// Throws std::runtime_error, which names the line, for what is no tape.
[[nodiscard]] tape parse(std::string_view text);
/// The same from a file.
[[nodiscard]] tape read(const std::string& path);

/// Lines, each with its end.
[[nodiscard]] std::string to_line(const header& head);
[[nodiscard]] std::string to_lines(const event& e);
[[nodiscard]] std::string finish_line(std::uint64_t left_out);
[[nodiscard]] std::string to_text(const tape& t);

/// The buffer as CUPTI gave it, but pointers to names lead into `b`, which must live as long as they are
/// used.
[[nodiscard]] bytes memory_of(const buffer& b);

}  // namespace varve_tape

#endif  // VARVE_TESTS_GPU_TAPE_TAPE_HPP
