/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of lines: unique in their plane. */
#ifndef DAEMON_LINE_ID_H
#define DAEMON_LINE_ID_H

#include <stdint.h>

struct plane;

/* |wanted|, or, when a line of |plane| has it, one that is a multiple of 2^22 beyond: no tid is that large. */
int64_t line_id_find_unused(const struct plane *plane, int64_t wanted);

#endif
