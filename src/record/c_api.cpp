// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/varve.h>
extern "C" {
uint32_t varve_state_ = 0;
uint64_t varve_push_(int, const char*, int32_t) noexcept { return 0; }
void varve_pop_(uint64_t) noexcept {}
uint64_t varve_next_(uint64_t, const char*, int32_t) noexcept { return 0; }
varve_range varve_open_(int, const char*, int32_t) noexcept { return {0, 0}; }
void varve_close_(varve_range) noexcept {}
void varve_attribute_(uint64_t, int, int64_t) noexcept {}
void varve_model_(uint64_t, const char*) noexcept {}
void varve_declare_(uint64_t, const varve_work_t*) noexcept {}
void varve_sequence_(uint64_t, int, uint32_t, uint32_t) noexcept {}
uint64_t varve_request_begin_(const char*, int32_t) noexcept { return 0; }
void varve_request_end_(uint64_t) noexcept {}
void varve_serves_(uint64_t, uint64_t) noexcept {}
void varve_here_(varve_handoff_t*) noexcept {}
uint64_t varve_adopt_(const varve_handoff_t*) noexcept { return 0; }
void varve_unload_(void) noexcept {}
varve_label_t varve_label(const char* name, int32_t index) noexcept { return {name, index}; }
varve_label_t varve_label_parse(const char* text) noexcept { return {text, VARVE_NO_INDEX}; }
int varve_version(void) noexcept { return VARVE_VERSION; }
int varve_arm(void) noexcept { return 0; }
void varve_disarm(void) noexcept {}
}
