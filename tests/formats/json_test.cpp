// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/io.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <ostream>
#include <streambuf>

#include "formats/report_fields.hpp"

namespace {

using testing::HasSubstr;

/// A file that is gone when the test is over.
class file {
 public:
  explicit file(std::string_view content) {
    char name[] = "/tmp/varve-json-XXXXXX";
    ::close(::mkstemp(name));
    path_ = name;
    std::ofstream{path_, std::ios::binary} << content;
  }
  file(const file&) = delete;
  file& operator=(const file&) = delete;
  ~file() { std::remove(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// What is written to a stream, and in what pieces.
struct pieces : std::streambuf {
  std::streamsize xsputn(const char* data, std::streamsize size) override {
    text.append(data, static_cast<std::size_t>(size));
    longest = std::max(longest, static_cast<std::size_t>(size));
    ++count;
    return size;
  }
  std::string text;
  std::size_t longest = 0;
  std::size_t count = 0;
};

varve::report read_text(std::string_view text) { return varve::read_report(file{text}.path()); }

std::string error_of(std::string_view text) {
  const file f{text};
  try {
    static_cast<void>(varve::read_report(f.path()));
  } catch (const varve::error& e) {
    EXPECT_EQ(std::string{e.what()}.find(f.path() + ": "), 0U) << e.what();
    return std::string{e.what()}.substr(f.path().size() + 2);
  }
  return "read without an error";
}

TEST(json, gives_back_every_field) {
  varve::report original;
  testing_support::filler{}.fill(original);
  EXPECT_EQ(testing_support::dump(read_text(varve::to_json(original))), testing_support::dump(original));
}

TEST(json, gives_back_an_empty_report) {
  const varve::report original;
  EXPECT_EQ(testing_support::dump(read_text(varve::to_json(original))), testing_support::dump(original));
}

/// As many rows as take several pieces of 64 KiB; sizes of names that differ let a piece end anywhere.
varve::report with_many_rows() {
  varve::report r;
  testing_support::filler{}.fill(r);
  r.layers.resize(1500);
  for (std::size_t i = 0; i < r.layers.size(); ++i) {
    r.layers[i].path = std::string(i % 97, 'x');
    r.layers[i].shape.grid[0] = i % 3 == 0 ? 7 : 0;  // a shape in every third row
  }
  return r;
}

TEST(json, is_the_same_written_in_pieces) {
  const varve::report original = with_many_rows();
  const std::string text = varve::to_json(original);
  EXPECT_GT(text.size(), std::size_t{1} << 20U);  // 1500 rows of more than 900 bytes
  EXPECT_EQ(testing_support::dump(read_text(text)), testing_support::dump(original));
  pieces buffer;
  std::ostream out{&buffer};
  varve::write_json(out, original);
  EXPECT_TRUE(out);
  EXPECT_EQ(buffer.text, text);
  EXPECT_LE(buffer.longest, std::size_t{128} << 10U);
  EXPECT_GE(buffer.count, 9U);  // of at most 128 KiB in more than 1 MiB
}

TEST(json, leaves_out_objects_of_zeros) {
  varve::report r;
  r.layers.resize(1);
  r.layers[0].per_call.p99 = 5;
  r.layers[0].inclusive.declared.flops = 8;
  const std::string text = varve::to_json(r);
  EXPECT_THAT(text, HasSubstr("\"calls\":0"));  // measures are written whatever they are
  EXPECT_THAT(text, HasSubstr("\"per_call\":{\"count\":0,\"total\":0,\"min\":0,\"max\":0,\"p50\":0,"));
  EXPECT_THAT(text, HasSubstr("\"declared\":{\"flops\":8,"));
  for (const char* absent : {"\"launch_latency\":", "\"queue_delay\":", "\"shape\":", "\"starved\":"}) {
    EXPECT_EQ(text.find(absent), std::string::npos) << absent;
  }
  EXPECT_EQ(testing_support::dump(read_text(text)), testing_support::dump(r));
}

// Rows take more memory than text where most of it is left out: a reader must grant that much.
TEST(json, reads_back_many_rows_that_hold_nothing) {
  varve::report r;
  r.layers.resize(100000);
  r.operators.by_name.resize(100000);
  const varve::report again = read_text(varve::to_json(r));
  EXPECT_EQ(again.layers.size(), 100000U);
  EXPECT_EQ(again.operators.by_name.size(), 100000U);
}

TEST(json, keeps_extreme_numbers_and_absent_values) {
  varve::report original;
  original.begin = std::numeric_limits<std::int64_t>::min();
  original.end = std::numeric_limits<std::int64_t>::max();
  original.layers.resize(1);  // index and parent absent
  original.layers[0].inclusive.shared_time = std::nextafter(1.0, 2.0);
  original.layers[0].per_call.mean = std::numeric_limits<double>::denorm_min();
  original.layers[0].depth = std::numeric_limits<std::uint32_t>::max();
  original.devices.resize(1);
  original.devices[0].streams.resize(1);
  original.devices[0].streams[0].stream.context = std::numeric_limits<std::uint64_t>::max();
  original.requests.resize(1);  // times unknown
  EXPECT_EQ(testing_support::dump(read_text(varve::to_json(original))), testing_support::dump(original));
}

TEST(json, writes_null_for_what_is_absent_and_names_for_kinds) {
  varve::report r;
  r.layers.resize(1);
  const std::string text = varve::to_json(r);
  EXPECT_EQ(text.find("{\"varve_report\":1,"), 0U);
  EXPECT_THAT(text, HasSubstr("\"index\":null,\"kind\":\"layer\""));
  EXPECT_THAT(text, HasSubstr("\"parent\":null"));
  EXPECT_THAT(text, HasSubstr("\"unprofiled_wall\":null"));
}

TEST(json, names_pipes_and_leaves_out_what_is_not_known) {
  varve::report r;
  r.layers.resize(1);
  r.devices.resize(1);
  std::string text = varve::to_json(r);
  for (const char* absent : {"\"roof\":", "\"verdict\":", "\"occupied\":", "\"ceilings\":"}) {
    EXPECT_EQ(text.find(absent), std::string::npos) << absent;
  }
  r.layers[0].verdict.by = varve::bound::memory;
  r.layers[0].occupied.emplace().limited_by = varve::occupancy::limit::shared_memory;
  r.devices[0].ceilings.emplace().flops[static_cast<std::size_t>(varve::math_pipe::bf16_tensor)] = 5e14;
  r.quality.work_known = {0, 0.25, 0, 0.5};
  text = varve::to_json(r);
  EXPECT_THAT(text, HasSubstr("\"verdict\":{\"by\":\"memory\",\"side\":\"unknown\",\"pipe\":\"unknown\","));
  EXPECT_THAT(text, HasSubstr("\"limited_by\":\"shared_memory\""));
  EXPECT_THAT(text, HasSubstr("\"flops\":{\"bf16_tensor\":500000000000000.0}"));
  EXPECT_THAT(text, HasSubstr("\"work_known\":{\"engine\":0.25,\"description\":0.5}"));
  EXPECT_EQ(testing_support::dump(read_text(text)), testing_support::dump(r));
}

// As versions before work had a pipe and rows a verdict wrote it.
TEST(json, reads_reports_that_know_no_roof) {
  const varve::report r = read_text(
      "{\"varve_report\":1,\"layers\":[{\"path\":\"mlp\",\"inclusive\":{\"gpu_time\":7,\"declared\":{"
      "\"flops\":8,"
      "\"weight_bytes\":2,\"kv_bytes\":0,\"activation_bytes\":4}}}],\"quality\":{\"attributed\":1}}");
  ASSERT_EQ(r.layers.size(), 1U);
  EXPECT_EQ(r.layers[0].inclusive.declared, (varve::work{8, 2, 0, 4}));
  EXPECT_EQ(r.layers[0].verdict.by, varve::bound::unknown);
  EXPECT_EQ(r.layers[0].inclusive.roof.total, 0);
  EXPECT_FALSE(r.layers[0].occupied);
}

TEST(json, refuses_findings_about_what_is_not_there) {
  EXPECT_THAT(error_of("{\"varve_report\":1,\"phases\":[{}],\"findings\":[{\"phase\":0},{\"phase\":1}]}"),
              HasSubstr("findings[1]: is about a phase that is not there"));
  EXPECT_THAT(error_of("{\"varve_report\":1,\"predictions\":[{\"layer\":0}]}"),
              HasSubstr("predictions[0]: is about a layer that is not there"));
}

TEST(json, keeps_names_with_any_characters) {
  varve::report original;
  original.source = std::string{"tab\t quote\" back\\ nul\0 escape\x1b[31m \xC2\x9B µ 層 😀", 49};
  EXPECT_EQ(read_text(varve::to_json(original)).source, original.source);
}

TEST(json, replaces_bytes_that_are_no_utf8) {
  varve::report r;
  r.source =
      "a\xFF"
      "b\xC3";
  EXPECT_EQ(read_text(varve::to_json(r)).source, "a\uFFFDb\uFFFD");
}

TEST(json, writes_what_is_no_number_as_null) {
  varve::report r;
  r.quality.attributed = std::nan("");
  const std::string text = varve::to_json(r);
  EXPECT_THAT(text, HasSubstr("\"attributed\":null"));
  EXPECT_TRUE(std::isnan(read_text(text).quality.attributed));
}

TEST(json, ignores_fields_that_it_does_not_know_and_gives_missing_ones_their_default) {
  const varve::report r = read_text(
      R"({"novel": [{"deep": [1, 2, {}]}], "varve_report": 1, "source": "x", "layers": [{"colour": "red", "path": "p"}]})");
  EXPECT_EQ(r.source, "x");
  ASSERT_EQ(r.layers.size(), 1U);
  EXPECT_EQ(r.layers[0].path, "p");
  EXPECT_EQ(r.layers[0].index, varve::no_index);
  EXPECT_EQ(r.layers[0].parent, varve::none);
  EXPECT_EQ(r.begin, 0);
}

TEST(json, refuses_another_version_of_the_schema) {
  EXPECT_THAT(error_of(R"({"varve_report": 2})"),
              testing::AllOf(HasSubstr("version 2"), HasSubstr("reads version 1"), HasSubstr("newer varve")));
  EXPECT_THAT(error_of(R"({"varve_report": 0})"), HasSubstr("version 0"));
}

TEST(json, refuses_json_that_is_no_report) {
  EXPECT_THAT(error_of(R"({"traceEvents": []})"), HasSubstr("no varve report"));
  EXPECT_THAT(error_of(R"([1, 2])"), HasSubstr("no varve report"));
  EXPECT_THAT(error_of(R"({"varve_report": "1"})"), HasSubstr("no varve report"));
}

TEST(json, names_the_place_of_a_wrong_type) {
  EXPECT_THAT(error_of(R"({"varve_report": 1, "layers": [{}, {"inclusive": {"gpu_time": "long"}}]})"),
              HasSubstr("layers[1].inclusive.gpu_time: expected an integer, found a text"));
  EXPECT_THAT(error_of(R"({"varve_report": 1, "layers": {}})"),
              HasSubstr("layers: expected a list, found an object"));
  EXPECT_THAT(error_of(R"({"varve_report": 1, "quality": 7})"),
              HasSubstr("quality: expected an object, found an integer"));
  EXPECT_THAT(error_of(R"({"varve_report": 1, "begin": 1.5})"),
              HasSubstr("begin: expected an integer, found a fraction"));
  EXPECT_THAT(error_of(R"({"varve_report": 1, "begin": 18446744073709551615})"),
              HasSubstr("begin: expected an integer"));
  EXPECT_THAT(error_of(R"({"varve_report": 1, "layers": [{"device": -1}]})"),
              HasSubstr("layers[0].device: -1 is out of range"));
  EXPECT_THAT(error_of(R"({"varve_report": 1, "layers": [{"kind": "tier"}]})"),
              HasSubstr("layers[0].kind: unknown value"));
  EXPECT_THAT(error_of(R"({"varve_report": 1, "layers": [{"shape": {"grid": [1, 2]}}]})"),
              HasSubstr("layers[0].shape.grid: expected 3 numbers"));
  EXPECT_THAT(error_of(R"({"varve_report": 1, "quality": {"live_cpu": 1}})"),
              HasSubstr("quality.live_cpu: expected true or false"));
}

TEST(json, refuses_counts_that_no_counter_has) {
  // 2^62 = 4611686018427387904; −1 is unknown.
  const auto counted = [](const std::string& fields) {
    return R"({"varve_report": 1, "layers": [{"counted": {)" + fields + "}}]}";
  };
  EXPECT_EQ(read_text(counted(R"("dram_read": 4611686018427387392, "core_flops": -1)"))
                .layers[0]
                .counted->dram_read,
            4611686018427387392.0);
  for (const std::string field : {"dram_read", "dram_written", "tensor_ops", "core_flops", "intensity"}) {
    for (const char* const bad : {"4611686018427387904", "1e300", "null"}) {
      EXPECT_THAT(error_of(counted('"' + field + "\": " + bad)),
                  HasSubstr("layers[0].counted." + field + ": expected a number below 2^62"))
          << bad;
    }
  }
  EXPECT_THAT(error_of(counted(R"("operations": {"bf16_tensor": 1e300})")),
              HasSubstr("layers[0].counted.operations: expected a number below 2^62"));
  for (const char* const bad : {R"({"calls": 0})", R"({"calls": 2, "sum": -1})",
                                R"({"calls": 1, "sum": 1e300})", R"({"calls": 1, "sum": null})"}) {
    EXPECT_THAT(
        error_of(counted(R"("sums": [)" + std::string{bad} + ']')),
        HasSubstr("layers[0].counted.sums: expected calls, and of a call a number from 0 to below 2^62"))
        << bad;
  }
  const std::string part = R"({"what": "operations", "part": 1, "calls": 1})";
  EXPECT_THAT(
      error_of(counted(R"("sums": [)" + part + ',' + part + ']')),
      HasSubstr("layers[0].counted.sums: expected each count once, ascending by what, pipe and part"));
}

TEST(json, writes_histograms_as_pairs) {
  varve::report r;
  varve::distribution& calls = r.layers.emplace_back().per_call;
  calls.count = 3;
  EXPECT_EQ(varve::to_json(r).find("histogram"), std::string::npos);
  calls.histogram = {{5, 1}, {3711, 2}};
  const std::string text = varve::to_json(r);
  EXPECT_THAT(text, HasSubstr(R"("histogram":[[5,1],[3711,2]])"));
  const varve::report again = read_text(text);
  ASSERT_EQ(again.layers.at(0).per_call.histogram.size(), 2U);
  EXPECT_EQ(again.layers[0].per_call.histogram[1].bucket, 3711);
  EXPECT_EQ(again.layers[0].per_call.histogram[1].count, 2);
}

TEST(json, refuses_buckets_that_no_time_has) {
  const auto with = [](const std::string& bucket) {
    return R"({"varve_report": 1, "layers": [{"per_call": {"histogram": [[1,1],)" + bucket + "]}}]}";
  };
  EXPECT_THAT(error_of(with("[3712,1]")),
              HasSubstr("layers[0].per_call.histogram[1]: expected a bucket of 0 to"));
  EXPECT_THAT(error_of(with("[-1,1]")), HasSubstr("expected a bucket of 0 to 3711 and a count"));
  EXPECT_THAT(error_of(with("[7,-1]")), HasSubstr("expected a bucket"));
  EXPECT_THAT(error_of(with("[7]")), HasSubstr("expected 2 numbers"));
}

TEST(json, refuses_a_parent_that_is_no_earlier_row) {
  EXPECT_THAT(error_of(R"({"varve_report": 1, "layers": [{"parent": 1}, {"parent": 0}]})"),
              HasSubstr("layers[0].parent: 1 is no earlier row"));
}

TEST(json, names_the_byte_at_which_a_text_breaks_off) {
  // {"varve_report": 1, "source": "ab   is 33 characters long; the text ends inside the string.
  EXPECT_THAT(error_of(R"({"varve_report": 1, "source": "ab)"), HasSubstr("byte 33"));
  EXPECT_THAT(error_of(R"({"varve_report": 1, })"), HasSubstr("byte 20"));
  EXPECT_THAT(error_of(""), HasSubstr("empty"));
}

TEST(json, is_safe_against_deep_nesting) {
  const std::string deep =
      R"({"varve_report": 1, "x": )" + std::string(100000, '[') + std::string(100000, ']') + "}";
  EXPECT_THAT(error_of(deep), HasSubstr("nested more than 64 levels"));
}

TEST(json, is_safe_against_rows_that_take_more_memory_than_text) {
  // 2,000,000 empty rows are 6 MB of text; at more than 500 bytes each in memory they exceed the 64 MiB and
  // twice the text that a reader grants.
  std::string text = R"({"varve_report": 1, "layers": [{})";
  for (int i = 1; i < 2000000; ++i) {
    text += ",{}";
  }
  EXPECT_THAT(error_of(text + "]}"), HasSubstr("more entries than a report of this size holds"));
}

TEST(json, obeys_the_limit_on_bytes) {
  const file f{varve::to_json(varve::report{})};
  varve::read_options options;
  options.max_unpacked = 100;
  EXPECT_THROW(static_cast<void>(varve::read_report(f.path(), options)), varve::error);
}

TEST(json, repairs_and_counts_bytes_of_others_that_are_no_utf8) {
  const varve::report r = read_text("{\"varve_report\": 1, \"source\": \"a\xFF\"}");
  EXPECT_EQ(r.source, "a\uFFFD");
  ASSERT_EQ(r.quality.losses.size(), 1U);
  EXPECT_EQ(r.quality.losses[0].count, 1U);
}

/// Every beginning of a report, and the report with any one byte changed, is read or refused with an error;
/// what is read can be printed.
TEST(json, never_fails_otherwise_on_damaged_text) {
  varve::report full;
  testing_support::filler{}.fill(full);
  full.layers.resize(1);
  full.labels.clear();
  full.kernels.clear();
  full.categories.clear();
  const std::string whole = varve::to_json(full);
  const auto try_it = [](const std::string& text) {
    try {
      EXPECT_NE(varve::to_table(read_text(text)), "");
    } catch (const varve::error& e) {
      EXPECT_STRNE(e.what(), "");
    }
  };
  for (std::size_t i = 1; i < whole.size(); i += 29) {
    try_it(whole.substr(0, i));
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ (1 << (i % 8)));
    try_it(changed);
  }
}

}  // namespace
