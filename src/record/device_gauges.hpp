// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The gauges of devices. Implemented in cuda/, which sees this interface and is seen by nobody.
#ifndef VARVE_RECORD_DEVICE_GAUGES_HPP
#define VARVE_RECORD_DEVICE_GAUGES_HPP

#include <varve/trace.hpp>

#include <memory>
#include <string>
#include <vector>

namespace varve::record {

class device_gauges {
 public:
  virtual ~device_gauges();

  /// False where it will never read anything: status() says why.
  [[nodiscard]] virtual bool available() const noexcept = 0;
  /// Adds one reading of every gauge of every device that the process uses; none as long as it uses none.
  /// Called by one thread.
  virtual void read(std::vector<gauge_sample>& to) noexcept = 0;
  /// Thread safe, as losses().
  [[nodiscard]] virtual collector_status status() const = 0;
  [[nodiscard]] virtual std::vector<loss> losses() const = 0;
};

/// For one session. Loads the library that it reads by, and asks it nothing yet.
std::unique_ptr<device_gauges> open_device_gauges(const std::string& library);

}  // namespace varve::record

#endif  // VARVE_RECORD_DEVICE_GAUGES_HPP
