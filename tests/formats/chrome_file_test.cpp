// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The file that a trace is written to, and files that somebody changed since.
#include "formats/chrome_traces.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <utility>

namespace {

using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;
using testing_support::dump;
using varve::none;

class chrome_file : public chrome_traces {
 protected:
  static std::string bytes_of(const std::string& file) {
    std::ifstream in{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  [[nodiscard]] std::size_t files() const {
    const std::filesystem::directory_iterator all{path("")};
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
  static void permissions_of(const std::string& file, unsigned mode) {
    struct stat about {};
    ASSERT_EQ(::stat(file.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 07777U, mode);
  }
  /// full_trace() as text in which the first `from` is `to`.
  static std::string changed(const std::string& from, const std::string& to) {
    std::string text = text_of(full_trace());
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
  }
  [[nodiscard]] varve::trace read_text(const std::string& text) const {
    std::filesystem::remove(path("c.json"));  // some file systems write at once what replaces a text
    return read(write("c.json", text));
  }
  /// Losses that reading added to those that full_trace() has.
  static std::map<std::string, std::uint64_t> added(const varve::trace& t) {
    std::map<std::string, std::uint64_t> out;
    for (const varve::loss& l : t.losses) {
      if (l.where != "thread 4244") {
        out[l.what] += l.count;
      }
    }
    return out;
  }
};

TEST_F(chrome_file, is_for_its_owner_alone_and_holds_what_a_stream_gets) {
  varve::write_chrome_trace(full_trace(), path("t.json"));
  EXPECT_EQ(bytes_of(path("t.json")), text_of(full_trace()));
  permissions_of(path("t.json"), 0600);
  EXPECT_EQ(files(), 1U);
}

TEST_F(chrome_file, replaces_what_had_its_name) {
  ASSERT_EQ(::chmod(write("t.json", "before").c_str(), 0644), 0);
  varve::write_chrome_trace(full_trace(), path("t.json"));
  EXPECT_EQ(bytes_of(path("t.json")), text_of(full_trace()));
  permissions_of(path("t.json"), 0600);
  EXPECT_EQ(files(), 1U);
}

TEST_F(chrome_file, is_written_where_a_link_leads) {
  static_cast<void>(write("real.json", "before"));
  std::filesystem::create_symlink(path("real.json"), path("link.json"));
  varve::write_chrome_trace(full_trace(), path("link.json"));
  EXPECT_TRUE(std::filesystem::is_symlink(path("link.json")));
  EXPECT_EQ(bytes_of(path("real.json")), text_of(full_trace()));
}

TEST_F(chrome_file, that_cannot_be_written_is_an_error_and_leaves_nothing) {
  EXPECT_THAT(error_of([&] { varve::write_chrome_trace({}, path("no such folder/t.json")); }),
              HasSubstr("no such folder/t.json: cannot be written: No such file"));
  std::filesystem::create_directory(path("folder"));
  EXPECT_THAT(error_of([&] { varve::write_chrome_trace({}, path("folder")); }),
              HasSubstr("folder: cannot be written: Is a directory"));
  EXPECT_EQ(files(), 1U);
}

TEST_F(chrome_file, of_a_full_device_is_an_error) {
  try {
    varve::write_chrome_trace(full_trace(), "/dev/full");
    ADD_FAILURE() << "no error";
  } catch (const varve::error& e) {
    EXPECT_STREQ(e.what(), "/dev/full: cannot be written: No space left on device");
  }
}

TEST_F(chrome_file, is_read_packed_as_well) {
  EXPECT_EQ(dump(read(write("t.json.gz", gzip(text_of(full_trace()))))), dump(full_trace()));
}

TEST_F(chrome_file, that_ends_early_is_read_up_to_its_end) {
  const std::string text = text_of(full_trace());
  const std::size_t calls = text.find("cudaLaunchKernel");
  const varve::trace t = read_text(text.substr(0, calls));
  EXPECT_EQ(t.ranges.size(), full_trace().ranges.size());
  EXPECT_EQ(t.calls.size(), 0U);
  EXPECT_THAT(added(t), UnorderedElementsAre(Pair(HasSubstr("the file ends in the middle of event"), 1U)));
}

TEST_F(chrome_file, may_end_anywhere) {
  const std::string text = text_of(full_trace());
  for (std::size_t size = 1; size < text.size(); size += 5) {
    try {
      static_cast<void>(varve::analyze(read_text(text.substr(0, size))));
    } catch (const varve::error& e) {
      EXPECT_THAT(e.what(), HasSubstr("c.json"));
    }
  }
}

TEST_F(chrome_file, with_any_value_changed_is_read_without_harm) {
  const std::string text = text_of(full_trace());
  for (std::size_t at = text.find_first_of("0123456789"); at != std::string::npos;
       at = text.find_first_of("0123456789", at + 1)) {
    for (const char* const value : {"-1", "4611686018427387903", "-9223372036854775808",
                                    "99999999999999999999", "null", "\"x\"", "[[1],{\"a\":2}]"}) {
      if (text[at - 1] != ':' && text[at - 1] != '[' && text[at - 1] != ',') {
        continue;
      }
      const std::size_t end = text.find_first_not_of("0123456789.", at);
      const varve::trace t = read_text(text.substr(0, at) + value + text.substr(end));
      static_cast<void>(varve::analyze(t));
      static_cast<void>(text_of(t));
    }
  }
}

TEST_F(chrome_file, of_an_unknown_version_is_read_as_what_it_looks_like) {
  const varve::trace t = read_text(changed(R"("format":1)", R"("format":2)"));
  EXPECT_EQ(t.calls.size(), 3U);
  EXPECT_EQ(t.collectors.at(0).name, "pytorch");
  EXPECT_THAT(added(t), testing::Contains(Pair(HasSubstr("unknown version"), 1U)));
}

TEST_F(chrome_file, with_its_members_in_another_order_is_read_as_what_it_looks_like) {
  const nlohmann::json document = nlohmann::json::parse(text_of(full_trace()));  // sorted by name
  ASSERT_LT(document.dump().find("traceEvents"), document.dump().find(R"("varve":{"backend)"));
  const varve::trace t = read_text(document.dump());
  EXPECT_EQ(t.calls.size(), 3U);
  EXPECT_THAT(added(t), testing::Contains(Pair(HasSubstr("stands after the events"), 1U)));
}

TEST_F(chrome_file, that_lacks_events_keeps_what_refers_to_others_and_counts_what_does_not) {
  // Without the layer (range 1), which the op is in, and which one of the calls, two operators, a count and
  // an earlier service name.
  std::string text = text_of(full_trace());
  const std::size_t begin = text.find("\n{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"attention 3\"");
  ASSERT_NE(begin, std::string::npos);
  text.erase(begin, text.find("\n{", begin + 1) - begin);
  const varve::trace t = read_text(text);
  ASSERT_EQ(t.ranges.size(), 3U);
  EXPECT_EQ(t.ranges[1].parent, none);
  EXPECT_EQ(t.calls.range[0], none);
  EXPECT_EQ(t.calls.range[1], 1U);  // the op, which was 2
  ASSERT_EQ(t.requests.size(), 1U);
  EXPECT_EQ(t.requests[0].request, 2U);
  EXPECT_EQ(t.works.size(), 1U);
  EXPECT_THAT(added(t), UnorderedElementsAre(Pair(HasSubstr("references to records"), 6U)));
}

TEST_F(chrome_file, with_repeated_or_unordered_ranges_leaves_these_out) {
  const varve::trace t = read_text(changed(R"({"id":2,"kind":"op")", R"({"id":1,"kind":"op")"));
  EXPECT_EQ(t.ranges.size(), 3U);
  EXPECT_THAT(added(t), testing::Contains(Pair(HasSubstr("out of order"), 1U)));
}

TEST_F(chrome_file, with_a_label_inside_itself_has_it_at_the_top) {
  const varve::trace t = read_text(changed(R"([0,"attention",3,"layer"])", R"([1,"attention",3,"layer"])"));
  EXPECT_EQ(varve::label_text(t, t.ranges[1].label), "attention 3");
}

TEST_F(chrome_file, of_many_events_is_read_in_windows_all_the_same) {
  varve::trace t = full_trace();
  for (std::uint32_t i = 0; i < 20'000; ++i) {  // some 5 MB of text
    const varve::time_ns at = 1'000'030'000 + i;
    t.add_activity(
        {at, at + 1, 100 + i, t.strings.intern("gemm<float>"), none, 0, 0, varve::activity_kind::kernel});
    t.operator_of_activity.push_back(none);
  }
  comes_back(t);
}

/// A trace of PyTorch's own, with all that only such have.
TEST_F(chrome_file, keeps_what_a_trace_of_the_pytorch_profiler_holds) {
  const varve::trace t = read(write("kineto.json", R"({"schemaVersion": 1, "baseTimeNanoseconds": 5000,
  "distributedInfo": {"backend": "nccl", "rank": 1, "world_size": 2}, "traceEvents": [
  {"ph": "X", "cat": "user_annotation", "name": "step", "pid": 1, "tid": 2, "ts": 0, "dur": 90},
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2, "ts": 1.5, "dur": 20,
   "args": {"External id": 1, "Input Dims": [[16, 64], [64, 8]], "Input type": ["float", "float"]}},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": 2, "dur": 2,
   "args": {"correlation": 3, "External id": 1}},
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 10, "dur": 5.25,
   "args": {"device": 0, "stream": 7, "correlation": 3, "External id": 1, "grid": [1, 2, 3], "block": [4, 5, 6]}},
  {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 9, "ts": 20, "dur": 5,
   "args": {"device": 0, "stream": 9, "correlation": 4, "Collective name": "allreduce", "In msg nelems": 8,
   "Out msg nelems": 8, "dtype": "Float", "Group size": 2, "grid": [1, 1, 1], "block": [32, 1, 1]}},
  {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 2, "ts": 3, "s": "t",
   "args": {"Device Type": 1, "Bytes": 1024}}]})"));
  ASSERT_EQ(t.operators.size(), 2U);
  ASSERT_EQ(t.collectives.size(), 1U);
  ASSERT_EQ(t.memory_events.size(), 1U);
  comes_back(t);
}

}  // namespace
