// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/device.hpp>
#include <varve/io.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "formats/input_files.hpp"

namespace {

using testing::HasSubstr;
using testing::StartsWith;
using varve::ceilings;
using varve::math_pipe;

class ceilings_file : public input_files {
 protected:
  [[nodiscard]] ceilings read(const std::string& text) const {
    return varve::read_ceilings(write("device.json", text));
  }
  [[nodiscard]] std::string error_in(const std::string& text) const {
    const std::string file = write("device.json", text);
    const std::string whole = error_of([&] { static_cast<void>(varve::read_ceilings(file)); });
    EXPECT_THAT(whole, StartsWith("device.json: "));
    return whole.substr(std::min<std::size_t>(whole.size(), 13));
  }
  /// Of an otherwise good file with one field more.
  [[nodiscard]] std::string error_with(const std::string& field) const {
    return error_in(R"({"name": "x", "bandwidth": 1e12, )" + field + "}");
  }
};

TEST_F(ceilings_file, a_hand_written_one_is_read) {
  const ceilings c = read(R"({
    "name": "my GPU",
    "flops": {"fp32": 67e12, "bf16_tensor": 989.4e12},
    "bandwidth": 3350000000000,
    "l2_bytes": 52428800,
    "multiprocessors": 132,
    "compute_capability": 90,
    "clock": 1.83e9
  })");
  EXPECT_EQ(c.name, "my GPU");
  EXPECT_EQ(c.peak(math_pipe::fp32), 67e12);
  EXPECT_EQ(c.peak(math_pipe::bf16_tensor), 989.4e12);
  EXPECT_EQ(c.peak(math_pipe::fp16_tensor), 0);
  EXPECT_EQ(c.bandwidth, 3.35e12);
  EXPECT_EQ(c.l2_bytes, 52428800);
  EXPECT_EQ(c.multiprocessors, 132);
  EXPECT_EQ(c.compute_capability, 90);
  EXPECT_EQ(c.clock, 1.83e9);
  EXPECT_FALSE(c.measured);
}

TEST_F(ceilings_file, every_row_of_the_table_comes_back_as_it_was) {
  for (ceilings c : varve::all_ceilings()) {
    c.measured = c.multiprocessors % 2 == 0;
    c.l2_bandwidth = 5.5e12;
    std::ostringstream out;
    varve::write_json(out, c);
    const ceilings back = read(out.str());
    const auto& [name, flops, bandwidth, l2_bytes, l2_bandwidth, link, host, multiprocessors, capability,
                 clock, top_clock, measured, source] = back;
    EXPECT_EQ(name, c.name);
    EXPECT_EQ(flops, c.flops);
    EXPECT_EQ(bandwidth, c.bandwidth);
    EXPECT_EQ(l2_bytes, c.l2_bytes);
    EXPECT_EQ(l2_bandwidth, c.l2_bandwidth);
    EXPECT_EQ(link, c.link_bandwidth);
    EXPECT_EQ(host, c.host_bandwidth);
    EXPECT_EQ(multiprocessors, c.multiprocessors);
    EXPECT_EQ(capability, c.compute_capability);
    EXPECT_EQ(clock, c.clock);
    EXPECT_EQ(top_clock, c.top_clock);
    EXPECT_EQ(measured, c.measured);
    EXPECT_EQ(source, c.source);
  }
}

TEST_F(ceilings_file, a_rate_in_the_wrong_unit_is_named) {
  EXPECT_THAT(error_with(R"("flops": {"fp16_tensor": 989.4})"),
              StartsWith("flops.fp16_tensor: 989.4 is too small; it is in FLOP a second, such as"));
  EXPECT_THAT(error_with(R"("flops": {"fp32": 1e30})"), StartsWith("flops.fp32: 1e+30 is too large"));
  EXPECT_THAT(error_in(R"({"name": "x", "bandwidth": 3350})"),
              StartsWith("bandwidth: 3350 is too small; it is in bytes a second"));
  EXPECT_THAT(error_with(R"("clock": 1830)"), StartsWith("clock: 1830 is too small; it is in Hz"));
  EXPECT_THAT(error_with(R"("compute_capability": 9.0)"), StartsWith("compute_capability: 9.0 is too small"));
  EXPECT_THAT(error_with(R"("compute_capability": 90.5)"),
              StartsWith("compute_capability: 90.5 is no whole number"));
  EXPECT_THAT(error_with(R"("multiprocessors": 99999999999)"), HasSubstr("too large"));
}

TEST_F(ceilings_file, nothing_negative_and_no_zero_is_taken) {
  EXPECT_EQ(error_with(R"("l2_bytes": 0)"), "l2_bytes: is 0; leave out what is unknown");
  EXPECT_EQ(error_in(R"({"name": "x", "bandwidth": 0})"), "bandwidth: is 0; leave out what is unknown");
  EXPECT_EQ(error_with(R"("flops": {"fp32": -1e12})"), "flops.fp32: is negative");
}

TEST_F(ceilings_file, wrong_types_and_unknown_fields_are_named) {
  EXPECT_EQ(error_with(R"("bandwith": 1e12)"),
            "bandwith: there is no such field; docs/devices.md lists them");
  EXPECT_THAT(error_with(R"("flops": {"fp12": 1e12})"), StartsWith("flops.fp12: there is no such pipe"));
  EXPECT_THAT(error_with(R"("flops": {"": 1e12})"), StartsWith("flops.: there is no such pipe"));
  EXPECT_THAT(error_with(R"("flops": 1e12)"), StartsWith("flops: expected an object"));
  EXPECT_EQ(error_with(R"("clock": "fast")"), "clock: expected a number, found string");
  EXPECT_EQ(error_with(R"("clock": null)"), "clock: expected a number, found null");
  EXPECT_EQ(error_with(R"("source": 1)"), "source: expected a text, found number");
  EXPECT_EQ(error_with(R"("measured": 1)"), "measured: expected true or false, found number");
  EXPECT_EQ(error_with(R"("varve_device": 2)"), "varve_device: this varve reads version 1");
  std::string endless = R"("": 1)";
  endless.insert(1, std::string(100'000, 'x'));
  EXPECT_LT(error_with(endless).size(), 200U);
}

TEST_F(ceilings_file, what_is_needed_is_named) {
  EXPECT_THAT(error_in(R"({"bandwidth": 1e12})"), StartsWith("name: is missing"));
  EXPECT_THAT(error_in(R"({"name": "x"})"), StartsWith("has neither \"flops\" nor \"bandwidth\""));
  EXPECT_THAT(error_in("[]"), StartsWith("expected an object"));
  EXPECT_EQ(read(R"({"name": "x", "flops": {"fp32": 1e12}})").bandwidth, 0);  // one is enough
}

TEST_F(ceilings_file, damage_is_told_with_its_place) {
  EXPECT_THAT(error_in("{\"name\": \"x\",\n\"bandwidth\": }"),
              testing::AllOf(StartsWith("is not valid JSON"), HasSubstr("line 2")));
  EXPECT_THAT(error_with(R"("clock": 1e999)"), StartsWith("is not valid JSON"));
  EXPECT_THAT(error_in(std::string(1000, '[')), StartsWith("is not valid JSON"));
  EXPECT_THAT(error_in(std::string((1U << 20U) + 1, ' ')), HasSubstr("more than 1 MiB"));
  EXPECT_THAT(error_in("{\"name\": \"\xff\"}"), StartsWith("is not valid JSON"));
  EXPECT_THROW(static_cast<void>(varve::read_ceilings(path("none.json"))), varve::error);
}

}  // namespace
