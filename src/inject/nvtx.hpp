// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The engine's NVTX ranges become ranges of the recorder.
#ifndef VARVE_INJECT_NVTX_HPP
#define VARVE_INJECT_NVTX_HPP

namespace varve::inject {

/// What a module's copy of NVTX hands to a tool: a function that gives tables of functions.
using export_table_function = const void* (*)(unsigned);

/// Takes over the ranges of the copy of NVTX behind `table`. False where it has no such functions.
bool attach(export_table_function table) noexcept;

}  // namespace varve::inject

#endif  // VARVE_INJECT_NVTX_HPP
