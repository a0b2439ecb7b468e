// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Labels of graph nodes: their versions, and that what is gone is forgotten in a session that runs for days.
#include "record/graph_labels.hpp"
#include "record/registry.hpp"

#include <varve/marker.hpp>
#include <varve/session.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using varve::record::graph_labels;
using varve::record::labels_of_graphs;

class node_labels : public testing::Test {
 protected:
  node_labels() { varve::arm(); }
  ~node_labels() override {
    labels.end_reading();
    varve::disarm();
  }
  void capture(std::uint64_t node, const char* name) {
    const varve::label made{name, 0};
    const varve::layer layer{made};
    labels.capture(node, *varve::record::this_log);
  }
  void capture_step(std::uint64_t node, std::uint64_t index) {
    const varve::layer layer{"layer", static_cast<std::int32_t>(index)};
    labels.capture(node, *varve::record::this_log);
  }
  static std::uint64_t lost_labels(const varve::trace& t) {
    std::uint64_t count = 0;
    for (const varve::loss& l : t.losses) {
      count += l.what.find("graph nodes captured without their label") != std::string::npos ? l.count : 0;
    }
    return count;
  }
  /// What a launch with this correlation has: "attention 0", with a '?' where that is not sure.
  std::string label(std::uint64_t node, std::uint32_t correlation) {
    varve::trace t;
    varve::graph_node record;
    labels.resolve(node, labels.version(node, correlation), t, record);
    return varve::label_text(t, record.label) + (record.stale ? "?" : "");
  }
  graph_labels& labels = labels_of_graphs();
};

TEST_F(node_labels, hold_for_the_launches_between_two_updates) {
  capture(1, "first");
  capture(2, "second");
  labels.begin_reading();
  labels.copy(1, 10);
  labels.copy(2, 10, 100);
  labels.mark_stale(10, 200);
  EXPECT_EQ(label(10, 99), "first 0");
  EXPECT_EQ(label(10, 101), "second 0");
  EXPECT_EQ(label(10, 201), "second 0?");
  EXPECT_EQ(label(10, 0), "second 0?");  // launched by no call: as it is now
  labels.copy(3, 10, 300);               // of an unlabelled one
  EXPECT_EQ(label(10, 301), "");
}

TEST_F(node_labels, that_do_not_change_make_no_version) {
  capture(1, "first");
  labels.begin_reading();
  labels.copy(1, 10);
  const std::size_t before = labels.size();
  labels.copy(1, 10, 100);
  EXPECT_EQ(labels.size(), before);
  EXPECT_EQ(labels.version(10, 101), 0U);
}

TEST_F(node_labels, are_forgotten_two_purges_after_their_node_has_gone) {
  capture(1, "first");
  labels.begin_reading();
  labels.copy(1, 10);
  labels.copy(1, 11);
  labels.destroy(10, true);
  labels.destroy(1, false);  // no record carries it
  EXPECT_EQ(labels.size(), 2U);
  labels.purge();
  EXPECT_EQ(label(10, 5), "first 0");
  labels.purge();
  EXPECT_EQ(label(10, 5), "");
  EXPECT_EQ(label(11, 5), "first 0");
  EXPECT_EQ(labels.size(), 1U);
}

TEST_F(node_labels, of_former_versions_are_forgotten_likewise_and_what_is_shown_instead_says_so) {
  capture(1, "first");
  capture(2, "second");
  capture(3, "third");
  labels.begin_reading();
  labels.copy(1, 10);
  labels.copy(2, 10, 100);
  labels.purge();
  labels.copy(3, 10, 200);
  labels.purge();  // the first version has gone
  EXPECT_EQ(label(10, 99), "second 0?");
  EXPECT_EQ(label(10, 150), "second 0");
  EXPECT_EQ(label(10, 250), "third 0");
}

// Calls are numbered modulo 2^32: after 2^31 of them, and twice that, an update lies before all launches.
TEST_F(node_labels, of_an_update_hold_however_many_calls_later) {
  capture(1, "first");
  capture(2, "second");
  labels.begin_reading();
  labels.copy(1, 10);
  EXPECT_EQ(label(10, 999), "first 0");
  labels.copy(2, 10, 1000);
  const std::uint64_t second = labels.version(10, 1001);
  EXPECT_NE(second, labels.version(10, 999));
  labels.purge();
  labels.purge();
  for (const std::uint32_t calls : {0x7FFF'FFFFU, 0x8000'0001U, 0xFFFF'FFFFU}) {
    EXPECT_EQ(labels.version(10, 1000 + calls), second);
    EXPECT_EQ(label(10, 1000 + calls), "second 0");
  }
  // The next update is told from it.
  labels.copy(1, 10, 1000 + 0x8000'0001U);
  EXPECT_EQ(labels.version(10, 1000 + 0x8000'0000U), second);
  EXPECT_EQ(label(10, 1000 + 0x8000'0002U), "first 0");
}

// What ran a version that is gone is not taken for the one before all updates.
TEST_F(node_labels, of_a_forgotten_version_are_those_of_no_other) {
  capture(1, "first");
  capture(2, "second");
  labels.begin_reading();
  labels.copy(1, 10);
  labels.copy(2, 10, 100);
  labels.purge();
  labels.copy(1, 10, 200);
  labels.purge();  // the first version has gone
  EXPECT_EQ(labels.version(10, 99), graph_labels::forgotten);
  EXPECT_EQ(label(10, 99), "second 0?");
}

TEST_F(node_labels, are_bounded_between_purges) {
  capture(1, "first");
  capture(2, "second");
  labels.begin_reading();
  for (std::uint64_t i = 0; i < 2 * graph_labels::most_leaving; ++i) {
    labels.copy(1, 10 + i);
    labels.destroy(10 + i, true);
  }
  EXPECT_EQ(labels.size(), graph_labels::most_leaving + 2);
  labels.copy(1, 5);
  for (std::uint32_t i = 1; i <= 2 * graph_labels::most_leaving; ++i) {
    labels.copy(1 + i % 2, 5, i);
  }
  EXPECT_LE(labels.size(), graph_labels::most_leaving + 3);
  labels.end_reading();
  EXPECT_EQ(labels.size(), 3U);  // 1, 2 and 5
}

TEST_F(node_labels, are_forgotten_at_once_where_nobody_reads) {
  capture(1, "first");
  labels.copy(1, 10);
  labels.destroy(10, true);
  EXPECT_EQ(labels.size(), 1U);
  labels.copy(1, 11);
  labels.copy(1, 11, 100);
  EXPECT_EQ(labels.size(), 2U);
}

TEST_F(node_labels, are_of_no_more_paths_than_there_is_room_for) {
  constexpr std::uint64_t enough = graph_labels::most_steps + 10;
  for (std::uint64_t i = 0; i < enough; ++i) {
    capture_step(i + 1, i);
  }
  EXPECT_EQ(label(1, 0), "layer 0");
  EXPECT_EQ(label(graph_labels::most_steps, 0), "layer " + std::to_string(graph_labels::most_steps - 1));
  EXPECT_EQ(label(enough, 0), "");
  EXPECT_EQ(labels.without_path(), 10U);
  for (std::uint64_t i = 0; i < enough; ++i) {
    labels.destroy(i + 1, false);
  }
  // Known paths are told on; what is left out is counted, also by a session.
  capture_step(1, 7);
  EXPECT_EQ(label(1, 0), "layer 7");
  varve::session session;
  EXPECT_EQ(lost_labels(session.stop()), 10U);
  varve::disarm();
  EXPECT_EQ(labels.without_path(), 0U);
}

}  // namespace
