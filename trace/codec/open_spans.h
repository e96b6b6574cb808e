/* SPDX-License-Identifier: Apache-2.0 */
/* The spans of one lane that have begun and not ended, the innermost last, and how much of each is no other's. */
#ifndef TRACE_CODEC_OPEN_SPANS_H
#define TRACE_CODEC_OPEN_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct open_span {
	uint32_t id; /* the caller's */
	int64_t end_ns;
	int64_t self_ns; /* its duration without what lies directly inside of it: >= 0 */
};

/* All zero is empty. */
struct open_spans {
	struct open_span *v;
	size_t n;
	size_t n_allocated;
};

void open_spans_deinit(struct open_spans *o);
/* Takes away the innermost if it ended at |ns| or before; false: none did. INT64_MAX: all end. */
bool open_spans_close(struct open_spans *o, int64_t ns, struct open_span *closed);
/* The innermost, after all that ended before were closed. NULL: none. */
static inline const struct open_span *open_spans_get(const struct open_spans *o)
{
	return o->n ? &o->v[o->n - 1] : NULL;
}
/* One that lies inside of the innermost. 0 or -ENOMEM. */
int open_spans_push(struct open_spans *o, uint32_t id, int64_t start_ns, int64_t duration_ns);

/* The same of every lane (lanes.h). All zero is empty. */
struct open_lanes {
	struct open_spans *v;
	size_t n;
	size_t n_allocated;
};

void open_lanes_deinit(struct open_lanes *o);
/* Those of the lane, which may be a new one. NULL: out of memory. */
struct open_spans *open_lanes_get(struct open_lanes *o, int64_t lane);

#endif
