// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Everything that an engine needs: markers, a session, a report.
#ifndef VARVE_VARVE_HPP
#define VARVE_VARVE_HPP

#include <varve/marker.hpp>
#include <varve/report.hpp>
#include <varve/running_report.hpp>
#include <varve/session.hpp>
#include <varve/trace.hpp>
#include <varve/work.hpp>
#include <varve/work_formulas.hpp>

#endif  // VARVE_VARVE_HPP
