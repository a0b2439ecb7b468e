// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// As much of a libcupti as the search for one looks at.
#include <cstdint>

#define VARVE_EXPORT extern "C" __attribute__((visibility("default")))
#define VARVE_PRESENT(name) \
  VARVE_EXPORT int name();  \
  int name() { return 999; }

// NOLINTNEXTLINE(readability-identifier-naming): CUPTI's
VARVE_EXPORT int cuptiGetVersion(std::uint32_t* version);
// NOLINTNEXTLINE(readability-identifier-naming)
int cuptiGetVersion(std::uint32_t* version) {
  *version = VARVE_FAKE_VERSION;
  return 0;
}

VARVE_PRESENT(cuptiGetTimestamp)
VARVE_PRESENT(cuptiGetCallbackName)
VARVE_PRESENT(cuptiUnsubscribe)
VARVE_PRESENT(cuptiEnableCallback)
VARVE_PRESENT(cuptiActivityRegisterCallbacks)
VARVE_PRESENT(cuptiActivityEnable)
VARVE_PRESENT(cuptiActivityDisable)
VARVE_PRESENT(cuptiActivityFlushAll)
VARVE_PRESENT(cuptiActivityGetNextRecord)
VARVE_PRESENT(cuptiActivityGetNumDroppedRecords)
#if !defined(VARVE_FAKE_INCOMPLETE)
VARVE_PRESENT(cuptiSubscribe)
VARVE_PRESENT(cuptiEnableDomain)
#endif
