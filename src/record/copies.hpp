// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Copies of varve in this process: each module that holds one carries an ELF note.
#ifndef VARVE_RECORD_COPIES_HPP
#define VARVE_RECORD_COPIES_HPP

#include <string>
#include <vector>

namespace varve::record {

/// "0.1.0", of a version as VARVE_VERSION counts it.
std::string version_text(int version);

/// The modules that hold another copy than this one, with their versions: "libplugin.so (varve 0.1.0)".
std::vector<std::string> other_copies();

}  // namespace varve::record

#endif  // VARVE_RECORD_COPIES_HPP
