/* SPDX-License-Identifier: Apache-2.0 */
/* Asserts that two encoded traces have the same content, in whatever order their names are. */
#ifndef TESTS_UNIT_SAME_TRACE_H
#define TESTS_UNIT_SAME_TRACE_H

#include <stddef.h>
#include <stdint.h>

void same_trace_expect(const uint8_t *left, size_t n_left, const uint8_t *right, size_t n_right);

#endif
