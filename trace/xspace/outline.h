/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trace says of itself, and how much is in it, read in little memory however many events it has: names, facts
 * and warnings stay, events are counted.
 */
#ifndef TRACE_OUTLINE_H
#define TRACE_OUTLINE_H

#include <stddef.h>
#include <stdint.h>

#include "trace/xspace/totals.h" /* struct report_totals */

struct diag;
struct space;

struct outline {
	struct space *space; /* without lines; NULL before it was read */
	struct report_totals totals;
	uint64_t n_events; /* of all kinds, usage counters included */
	struct report_length length; /* borrows of |space| */
};

/*
 * Reads an XSpace of any origin, as xspace_decode(), and what that refuses is refused. |pass| is called
 * often, with the place up to which was read (it goes back a line at times); what it returns other than 0 ends the reading.
 * Owner: outline_deinit(), in any case.
 */
int outline_read(struct outline *o, const uint8_t *data, size_t n_bytes,
	int (*pass)(const uint8_t *p, void *context), void *context, struct diag *d);
void outline_deinit(struct outline *o);

#endif
