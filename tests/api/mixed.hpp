// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The same engine code, compiled twice into one program: mixed_on with markers, mixed_off without.
#ifndef VARVE_TESTS_API_MIXED_HPP
#define VARVE_TESTS_API_MIXED_HPP

/// Uses every kind of marker once, with the index 0. Returns how often declared work was evaluated.
int mixed_on();
int mixed_off();

#endif  // VARVE_TESTS_API_MIXED_HPP
