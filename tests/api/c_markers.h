/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: the varve authors
 */
#ifndef VARVE_TESTS_API_C_MARKERS_H
#define VARVE_TESTS_API_C_MARKERS_H

#ifdef __cplusplus
extern "C" {
#endif
/* Each runs the pass of c_markers.c; 0 when it could. */
int c_markers_on(void);
int c_markers_off(void);
#ifdef __cplusplus
}
#endif

#endif /* VARVE_TESTS_API_C_MARKERS_H */
