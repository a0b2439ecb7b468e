// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Tapes: what CUPTI told one subscriber during one case, in the order in which it was told; recorded on a
// GPU, or written by hand as what we believe. docs/tapes.md has the format. Reading and writing needs neither
// CUPTI nor a GPU.
#ifndef VARVE_TESTS_GPU_TAPE_TAPE_HPP
#define VARVE_TESTS_GPU_TAPE_TAPE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "gpu/tape/names.hpp"

namespace varve_tape {

using bytes = std::vector<std::byte>;

inline constexpr std::uint32_t format_version = 1;

struct header {
  std::uint32_t version = 0;
  std::string name;
  std::string origin;  ///< "recorded", or "belief": written by hand
  std::uint32_t cupti = 0;
  std::uint32_t driver = 0;
  std::uint32_t runtime = 0;
  std::string device;
  std::uint32_t capability = 0;
};

/// A callback of an API, on entering or on leaving. One of the names is empty.
struct call {
  bool enter = false;
  std::string runtime;  ///< name by cuptiGetCallbackName, where it is a function of the runtime
  std::string driver;   ///< likewise of the driver
  std::uint32_t id = 0;
  std::string symbol;  ///< of the kernel, as mangled
  std::uint32_t correlation = 0;
  std::uint32_t context = 0;
  std::uint64_t data = 0;
  std::int64_t result = 0;
  bytes params;

  [[nodiscard]] const std::string& name() const { return runtime.empty() ? driver : runtime; }
};

/// A callback of the resource domain: handles as they were, ids where CUPTI was asked for them.
struct resource {
  resource_number event;
  bool null = false;  ///< it came without the data that such an event has
  std::uint64_t context = 0;
  std::uint32_t context_id = 0;
  std::uint64_t stream = 0;
  std::uint32_t stream_id = 0;
  std::uint64_t graph = 0;
  std::uint32_t graph_id = 0;
  std::uint64_t original_graph = 0;
  std::uint32_t original_graph_id = 0;
  std::uint64_t node = 0;
  std::uint64_t node_id = 0;
  std::uint64_t original_node = 0;
  std::uint64_t original_node_id = 0;
  node_number type;
  std::uint64_t dependency = 0;
  std::uint64_t exec = 0;
  std::uint32_t exec_id = 0;

  [[nodiscard]] bool of_graph() const { return (event >= 9 && event <= 20) || event == 22 || event == 23; }
};

/// CUPTI asked for a buffer.
struct request {
  std::uint64_t buffer = 0;  ///< its number
  std::uint64_t size = 0;
};

/// A record: its bytes as recorded; without `data`, what they are to say.
struct record {
  record_number kind;
  std::uint64_t offset = 0;
  std::string name;
  std::uint32_t name_at = 0;  ///< where the pointer to the name lies; 0: there is none
  bytes data;

  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t correlation = 0;
  std::uint64_t node = 0;
  std::uint32_t graph = 0;
  std::uint32_t direction = 0;  ///< of copies, as CUPTI numbers them
  std::uint64_t length = 0;     ///< bytes copied or set
};

/// CUPTI gave a buffer back.
struct buffer {
  std::uint64_t buffer = 0;  ///< its number; 0: any
  std::uint64_t context = 0;
  std::uint32_t stream = 0;
  std::uint64_t size = 0;  ///< bytes that are filled
  std::uint64_t dropped = 0;
  std::int64_t walked = 0;  ///< how cuptiActivityGetNextRecord ended: 12 at the end of the buffer
  std::vector<record> records;
};

/// The program's own ranges, by one of the three names.
struct begin {
  std::string phase;
  std::string layer;
  std::string op;
  std::int64_t index = 0;
};

struct end {};

/// A subscriber's time begins and ends; while it ends it flushes.
struct start {
  bool whole_graphs = false;
};
struct stop {};
/// Graphs are followed from here on, whether or not a session records.
struct arm {};
struct disarm {};

/// What the program does next, or the result of it.
struct step {
  std::string text;
};

/// So many pieces of work that a report must hold. With a label: kernels of that layer, launched or captured
/// in it; else all work of one launching range, one captured path, one name.
struct expect {
  std::string label;
  record_number kind{10};
  std::string name;
  std::string in;    ///< path of the range that launched it; empty: none is known
  std::string node;  ///< path of the ranges in which its node was captured; empty: none is known
  bool stale = false;
  std::uint64_t count = 0;
};

/// What a report must say is lost. No more than that is.
struct loss {
  std::string what;
  std::uint64_t count = 0;
};

struct event {
  std::uint64_t at = 0;
  std::uint32_t thread = 0;
  std::variant<call, resource, request, buffer, begin, end, start, stop, arm, disarm, step, expect, loss>
      what;
  std::size_t line = 0;  ///< of the text
};

struct tape {
  header head;
  std::vector<event> events;
  bool finished = false;  ///< false where the program died before the end
  std::uint64_t left_out = 0;

  [[nodiscard]] bool by_hand() const { return head.origin == "belief"; }
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
/// used. Its records have `data`.
[[nodiscard]] bytes memory_of(const buffer& b);

}  // namespace varve_tape

#endif  // VARVE_TESTS_GPU_TAPE_TAPE_HPP
