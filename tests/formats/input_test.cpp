// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Opening, unpacking and telling files apart, through the public functions.
#include "formats/input_files.hpp"

#include <varve/io.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

const std::string trace = R"({"schemaVersion": 1, "traceEvents": [
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 10, "dur": 5, "args": {}}]})";

class input_test : public input_files {
 protected:
  std::string error_of_reading(const std::string& file, const varve::read_options& options = {}) {
    return error_of([&] { static_cast<void>(varve::read_pytorch(file, options)); });
  }
};

TEST_F(input_test, reads_plain_and_gzip_alike) {
  const varve::trace plain = varve::read_pytorch(write("t.json", trace));
  const varve::trace packed = varve::read_pytorch(write("t.json.gz", gzip(trace)));
  const varve::trace misnamed = varve::read_pytorch(write("u.json", gzip(trace)));
  EXPECT_EQ(plain.activities.size(), 1U);
  EXPECT_EQ(packed.activities.begin, plain.activities.begin);
  EXPECT_EQ(misnamed.activities.begin, plain.activities.begin);
}

TEST_F(input_test, reads_gzip_of_several_members) {
  const auto file = write("t.json.gz", gzip(trace.substr(0, 40)) + gzip("") + gzip(trace.substr(40)));
  EXPECT_EQ(varve::read_pytorch(file).activities.size(), 1U);
}

TEST_F(input_test, reads_what_exceeds_its_chunks) {
  // Letters that hardly repeat, so that the packed file too is longer than a chunk of 256 KiB.
  std::string text = R"({"filler": ")";
  std::uint32_t state = 1;
  while (text.size() < 3'000'000) {
    state = state * 1664525U + 1013904223U;
    text += static_cast<char>('a' + (state >> 28U));
  }
  text += "\"," + trace.substr(1);
  const std::string packed = gzip(text);
  ASSERT_GT(packed.size(), 600'000U);
  EXPECT_EQ(varve::read_pytorch(write("t.json", text)).activities.size(), 1U);
  EXPECT_EQ(varve::read_pytorch(write("t.json.gz", packed)).activities.size(), 1U);
}

TEST_F(input_test, names_a_missing_file_and_what_to_do) {
  EXPECT_EQ(error_of_reading(path("none.json")),
            "none.json: cannot be opened: No such file or directory; check the path and its permissions");
}

TEST_F(input_test, refuses_folders_and_pipes) {
  std::filesystem::create_directory(path("folder"));
  EXPECT_EQ(error_of_reading(path("folder")), "folder: is a directory; name one file in it");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(
      error_of_reading(path("pipe")),
      "pipe: is not a regular file; save the stream to a file first");  // and does not wait for a writer
}

TEST_F(input_test, names_missing_permission) {
  const auto file = write("t.json", trace);
  std::filesystem::permissions(file, std::filesystem::perms::none);
  const auto user = ::geteuid();
  const bool root = user == 0;  // who may read everything
  ASSERT_TRUE(!root || ::seteuid(65534) == 0);
  const std::string error = error_of_reading(file);
  ASSERT_TRUE(!root || ::seteuid(user) == 0);
  EXPECT_EQ(error, "t.json: cannot be opened: Permission denied; check the path and its permissions");
}

TEST_F(input_test, refuses_empty_files) {
  EXPECT_THAT(error_of_reading(write("t.json", "")), StartsWith("t.json: is empty"));
  EXPECT_THAT(error_of_reading(write("t.json.gz", gzip(""))),
              StartsWith("t.json.gz: byte 0 of the unpacked text: holds no JSON"));
}

TEST_F(input_test, names_the_byte_where_gzip_is_cut_off) {
  const std::string whole = gzip(trace);
  // Up to here nothing useful can be unpacked.
  for (const std::size_t size : {std::size_t{2}, std::size_t{9}, std::size_t{20}, whole.size() / 2}) {
    EXPECT_EQ(error_of_reading(write("t.json.gz", whole.substr(0, size))),
              "t.json.gz: byte " + std::to_string(size) +
                  ": unexpected end of gzip stream: the file is incomplete; copy or record it again");
  }
}

TEST_F(input_test, names_the_byte_where_gzip_is_damaged) {
  std::string bytes = gzip(trace);
  bytes[bytes.size() - 6] = static_cast<char>(bytes[bytes.size() - 6] ^ 1);  // of the checksum
  EXPECT_THAT(error_of_reading(write("t.json.gz", bytes)),
              ContainsRegex("t.json.gz: byte [0-9]+: damaged gzip stream .incorrect data check.; copy"));
  EXPECT_THAT(error_of_reading(write("u.json.gz", "\x1F\x8B" + std::string(100, 'x'))),
              HasSubstr("damaged gzip stream"));
}

TEST_F(input_test, names_the_byte_of_garbage_after_gzip) {
  const std::string whole = gzip(trace);
  EXPECT_EQ(error_of_reading(write("t.json.gz", whole + "rest")),
            "t.json.gz: byte " + std::to_string(whole.size()) +
                ": bytes after the end of the gzip stream; cut the file here or copy it again");
}

TEST_F(input_test, stops_at_the_limit) {
  varve::read_options options;
  options.max_unpacked = trace.size();
  EXPECT_EQ(varve::read_pytorch(write("t.json.gz", gzip(trace)), options).activities.size(), 1U);
  EXPECT_EQ(varve::read_pytorch(write("t.json", trace), options).activities.size(), 1U);
  --options.max_unpacked;
  const std::string limit = std::to_string(options.max_unpacked);
  EXPECT_THAT(error_of_reading(path("t.json.gz"), options),
              HasSubstr("unpacks to more than " + limit + " bytes, the limit"));
  EXPECT_THAT(error_of_reading(path("t.json"), options),
              HasSubstr("holds more than " + limit + " bytes, the limit"));
}

TEST_F(input_test, stops_a_gzip_bomb_early) {
  // 64 MiB of spaces in about 64 KiB: stopped near the first MiB, so near byte 1000 of the file.
  const std::string bomb = gzip(std::string(std::size_t{64} << 20U, ' '));
  ASSERT_LT(bomb.size(), 100'000U);
  varve::read_options options;
  options.max_unpacked = std::uint64_t{1} << 20U;
  const std::string message = error_of_reading(write("bomb.gz", bomb), options);
  EXPECT_THAT(message, HasSubstr("unpacks to more than 1048576 bytes, the limit; raise"));
  ASSERT_THAT(message, StartsWith("bomb.gz: byte "));
  EXPECT_LT(std::stoul(message.substr(14)), 5000U);
}

TEST_F(input_test, reports_progress_up_to_the_whole_file) {
  std::string text = R"({"filler": ")" + std::string(std::size_t{20} << 20U, 'x') + "\"," + trace.substr(1);
  for (const auto& file : {write("t.json", text), write("t.json.gz", gzip(text))}) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> calls;
    varve::read_options options;
    options.progress = [&](std::uint64_t done, std::uint64_t all) { calls.emplace_back(done, all); };
    static_cast<void>(varve::read_pytorch(file, options));
    const std::uint64_t size = std::filesystem::file_size(file);
    ASSERT_GE(calls.size(), 3U);
    std::uint64_t before = 0;
    for (const auto& [done, all] : calls) {
      EXPECT_EQ(all, size);
      EXPECT_GE(done, before);
      before = done;
    }
    EXPECT_EQ(before, size);
  }
}

TEST_F(input_test, a_callback_that_throws_stops_reading) {
  varve::read_options options;
  options.progress = [](std::uint64_t, std::uint64_t) { throw std::runtime_error{"enough"}; };
  EXPECT_THROW(static_cast<void>(varve::read_pytorch(write("t.json", trace), options)), std::runtime_error);
}

TEST_F(input_test, tells_files_apart) {
  EXPECT_EQ(varve::identify(write("a", trace)), varve::file_kind::pytorch);
  EXPECT_EQ(varve::identify(write("b", gzip(trace))), varve::file_kind::pytorch);
  EXPECT_EQ(varve::identify(write("c", "\xEF\xBB\xBF \n" + trace)), varve::file_kind::pytorch);
  // Whatever stands before the events: one trace has 26 KB of it.
  EXPECT_EQ(
      varve::identify(write("d", R"({"metadata": ")" + std::string(100'000, 'x') + "\"," + trace.substr(1))),
      varve::file_kind::pytorch);
  EXPECT_EQ(varve::identify(write("e", R"([{"ph": "X", "name": "gemm"}])")), varve::file_kind::pytorch);
  EXPECT_EQ(varve::identify(write("r", "{\n  \"varve_report\": 1, \"layers\": [\"traceEvents\"]}")),
            varve::file_kind::report_json);
  EXPECT_EQ(varve::identify(write("s", R"({"note": {"varve_report": 1}, "traceEvents": []})")),
            varve::file_kind::pytorch);
  EXPECT_EQ(varve::identify(write("f", R"({"results": [1, 2]})")), varve::file_kind::unknown);
  EXPECT_EQ(varve::identify(write("g", "SQLite format 3")), varve::file_kind::unknown);
  EXPECT_EQ(varve::identify(write("h", "\x1F\x8B")), varve::file_kind::unknown);
  EXPECT_EQ(varve::identify(write("i", "")), varve::file_kind::unknown);
  // Cut off, but what is there says what it is: reading it names the damage.
  EXPECT_EQ(varve::identify(write("j", gzip(trace).substr(0, gzip(trace).size() - 9))),
            varve::file_kind::pytorch);
  EXPECT_THAT(error_of([&] { static_cast<void>(varve::identify(path("none"))); }),
              StartsWith("none: cannot be opened"));
}

}  // namespace
