// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/collector.hpp>
#include <varve/varve.hpp>
#if defined(CONSUMER_IO)
#include <varve/io.hpp>
#endif

#include <iostream>

static_assert(__cplusplus == 201703L, "the consumer is a C++17 project");

int main() {
  if (varve::version() != VARVE_VERSION) {
    std::cerr << "headers are " << VARVE_VERSION << ", the library is " << varve::version() << '\n';
    return 1;
  }
  varve::session session;
  {
    varve::phase pass{varve::decode};
    const varve::layer attention{"attention", 3};
  }
  const varve::report report = varve::analyze(session.stop());
  const varve::row* row = report.find({"attention", 3, "decode"});
  if (row == nullptr || row->inclusive.calls != 1) {
    std::cerr << "the report has no single call of decode / attention 3\n" << report;
    return 1;
  }
#if defined(CONSUMER_IO)
  if (varve::to_json(report).find("\"attention\"") == std::string::npos) {
    std::cerr << "the JSON has no attention\n";
    return 1;
  }
#endif
  std::cout << report;
  return 0;
}
