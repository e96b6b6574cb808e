/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the totals of a trace model, which outlines and digests count from the encoded trace. It
 * shares no code with them.
 */
#ifndef TESTS_UNIT_SPACE_TOTALS_H
#define TESTS_UNIT_SPACE_TOTALS_H

#include <stdint.h>

#include "trace/xspace/totals.h"

struct space;

void space_count_totals(const struct space *space, struct report_totals *totals);
/* Returns the number of events of all kinds. */
uint64_t space_count_events(const struct space *space);

#endif
