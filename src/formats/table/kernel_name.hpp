// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_FORMATS_TABLE_KERNEL_NAME_HPP
#define VARVE_FORMATS_TABLE_KERNEL_NAME_HPP

#include <string>
#include <string_view>

namespace varve::table {

/// What tells a kernel from others in a demangled C++ name: no return type, parameters, casts, unnamed or
/// library namespaces; of lambdas only their parameters. Other names come back as they are.
///     void at::native::elementwise_kernel<4, at::native::f()::{lambda(c10::Half)#1}>(int, char*)
///     elementwise_kernel<4, f[Half]>
std::string kernel_name(std::string_view name);

}  // namespace varve::table

#endif  // VARVE_FORMATS_TABLE_KERNEL_NAME_HPP
