// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Exists so that one precompiled GoogleTest header serves all test executables.
