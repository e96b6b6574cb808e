/* SPDX-License-Identifier: Apache-2.0 */
/* What a client warns of besides what the trace says itself. */
#ifndef CLIENT_PART_WARNINGS_H
#define CLIENT_PART_WARNINGS_H

#include <stdbool.h>
#include <stdint.h>

struct names;
struct part;
struct summary;

/* |s| has read the trace. */
void part_warnings_add(const struct part *p, const struct summary *s, struct names *warnings);

/* Adds the warning of options that this server does not know, which needs no trace. */
void part_warnings_add_of_options(const struct part *p, struct names *warnings);

/* Whether it is known how long after the agreed instant that target could record; of one target alone it is not. */
bool part_find_late(const struct part *p, const struct summary *s, int64_t *late_ns);

#endif
