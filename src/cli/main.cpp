// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cli/arguments.hpp"
#include "cli/baselines.hpp"
#include "cli/budget.hpp"
#include "cli/calibrate.hpp"
#include "cli/check.hpp"
#include "cli/devices.hpp"
#include "cli/diff.hpp"
#include "cli/output.hpp"
#include "cli/predict.hpp"
#include "cli/report.hpp"
#include "cli/run.hpp"

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
  using namespace varve::cli;
  try {
    const arguments asked = parse(argc, argv);
    if (asked.report) {
      return run(*asked.report);
    }
    if (asked.run) {
      return run(*asked.run);
    }
    if (asked.predict) {
      return run(*asked.predict);
    }
    if (asked.diff) {
      return run(*asked.diff);
    }
    if (asked.baseline) {
      return run(*asked.baseline);
    }
    if (asked.devices) {
      return run(*asked.devices);
    }
    if (asked.calibrate) {
      return run(*asked.calibrate);
    }
    if (asked.calibrate_gpu) {
      return run(*asked.calibrate_gpu);
    }
    if (asked.check) {
      return run(*asked.check);
    }
    if (asked.budget) {
      return run(*asked.budget);
    }
    if (asked.code == success) {
      write_standard_output(asked.text);
    } else {
      std::fputs(asked.text.c_str(), stderr);
    }
    return asked.code;
  } catch (const output_error& e) {
    if (*e.what() != '\0') {
      complain(e.what());
    }
    return unwritable;
  } catch (const std::exception& e) {
    complain(e.what());
    return unreadable;
  }
}
