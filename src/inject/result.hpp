// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What an injected process leaves to `varve run`.
#ifndef VARVE_INJECT_RESULT_HPP
#define VARVE_INJECT_RESULT_HPP

#include <varve/trace.hpp>

#include <string>

namespace varve::inject {

/// Writes a file that varve reads, and puts it in its place only when it is whole. Throws varve::error.
void write_result(const trace& t, const std::string& path);

}  // namespace varve::inject

#endif  // VARVE_INJECT_RESULT_HPP
