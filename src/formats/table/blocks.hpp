// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The blocks that a model repeats: decoder layers, transformer blocks.
#ifndef VARVE_FORMATS_TABLE_BLOCKS_HPP
#define VARVE_FORMATS_TABLE_BLOCKS_HPP

#include <varve/report.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace varve::table {

struct blocks {
  std::size_t level = 0;          ///< that they stand at, 1 for roots; 0 where there are none
  std::vector<std::size_t> rows;  ///< positions, in order
};

/// Of the rows at `members`, the highest level at which three or more with one label and different indices
/// stand below the same row, and these together have more than half of the GPU time. Layers count before ops;
/// kernels that are told by their place in a graph are no blocks.
blocks find_blocks(const std::vector<row>& rows, const std::vector<std::size_t>& members);

/// How many blocks there are below one row, their share of `whole`, and what parts share their time: "24 ×
/// DecoderLayer of 1.32 ms, 98.5 %" or "24 × DecoderLayer of 1.32 ms in each of 2 graphs, 98.5 %", "in them
/// Attention 49.1 %", "MLP 25.4 %".
std::vector<std::string> describe(const blocks& found, const std::vector<row>& rows, double whole);

}  // namespace varve::table

#endif  // VARVE_FORMATS_TABLE_BLOCKS_HPP
