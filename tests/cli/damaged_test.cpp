// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What the tool says of traces that it cannot read: the file, the place and the cause.
#include "formats/input_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/process.hpp"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_support::outcome;
using testing_support::run;

class damaged_trace : public input_files {
 protected:
  /// What the tool says on standard error about a file of these bytes, which it refuses.
  std::string complaint(const std::string& bytes) {
    const outcome o = run({"report", write("t.json.gz", bytes)});
    EXPECT_EQ(o.code, 1);
    EXPECT_EQ(o.out, "");
    return o.err;
  }

  static std::string trace() {
    std::string text = R"({"schemaVersion": 1, "traceEvents": [)";
    for (int i = 0; i < 500; ++i) {
      text += R"({"ph": "X", "cat": "kernel", "name": "k)" + std::to_string(i * 7919 % 1000) +
              R"(", "pid": 0, "tid": 7, "ts": )" + std::to_string(i) + R"(, "dur": 1}, )";
    }
    return text + R"({"ph": "M"}]})";
  }
};

TEST_F(damaged_trace, of_a_flipped_bit_in_gzip_names_the_place) {
  const std::string whole = gzip(trace());
  // In the first byte of the compressed data, in the middle, and in the checksum at the end.
  for (const std::size_t at : {std::size_t{10}, whole.size() / 2, whole.size() - 6}) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    EXPECT_THAT(complaint(bytes), AllOf(HasSubstr("t.json.gz: byte "), HasSubstr("damaged gzip stream")))
        << "byte " << at;
  }
}

TEST_F(damaged_trace, of_gzip_cut_short_says_so) {
  const std::string whole = gzip(trace());
  EXPECT_THAT(complaint(whole.substr(0, 20)),
              AllOf(HasSubstr("t.json.gz: byte 20: "), HasSubstr("unexpected end of gzip stream")));
}

TEST_F(damaged_trace, that_is_empty_says_so) { EXPECT_THAT(complaint(""), HasSubstr("t.json.gz: is empty")); }

TEST_F(damaged_trace, that_is_other_json_says_so) {
  EXPECT_THAT(complaint(R"({"a": 1})"), HasSubstr("t.json.gz: is JSON but no PyTorch profiler trace"));
}

}  // namespace
