// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef DECODER_GRAPH_PREDICTION_HPP
#define DECODER_GRAPH_PREDICTION_HPP

#include <varve/report.hpp>

#include <string>

namespace decoder {

/// What decode passes were predicted to take as graphs when they were launched one by one, beside what they
/// took as graphs; a line on why where nothing was predicted. Ends in a new line.
[[nodiscard]] std::string predicted_and_measured(const varve::report& eager, const varve::report& replayed);

}  // namespace decoder

#endif  // DECODER_GRAPH_PREDICTION_HPP
