// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_FORMATS_PYTORCH_READ_HPP
#define VARVE_FORMATS_PYTORCH_READ_HPP

#include "formats/pytorch/captures.hpp"

#include <varve/io.hpp>

#include <string>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// Reads one file. `notes`, where given, gets what a trace of captures holds beside the records; `captured`
/// lends its layers to replayed graphs. Throws varve::error and std::bad_alloc.
[[nodiscard]] trace read_file(const std::string& path, const read_options& options, const captures& captured,
                              capture_notes* notes);

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_READ_HPP
