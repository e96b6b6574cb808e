/* SPDX-License-Identifier: Apache-2.0 */
/* The open spans of one lane, the innermost last, and the self time of each: its duration without the spans inside of it. */
#ifndef TRACE_CODEC_OPEN_SPANS_H
#define TRACE_CODEC_OPEN_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct open_span {
	uint32_t id; /* chosen by the caller */
	int64_t end_ns;
	int64_t self_ns; /* duration without the spans directly inside of it; >= 0 */
};

/* A stack of all zero bytes is empty. */
struct open_spans {
	struct open_span *v;
	size_t n;
	size_t n_allocated;
};

void open_spans_deinit(struct open_spans *o);
/* Removes the innermost span if it ended at |ns| or before; otherwise false. With INT64_MAX all spans end. */
bool open_spans_close(struct open_spans *o, int64_t ns, struct open_span *closed);
/* Returns the innermost span, or NULL. Close spans that have ended first. */
static inline const struct open_span *open_spans_get(const struct open_spans *o)
{
	return o->n ? &o->v[o->n - 1] : NULL;
}
/* Adds a span inside of the innermost one. 0 or -ENOMEM. */
int open_spans_push(struct open_spans *o, uint32_t id, int64_t start_ns, int64_t duration_ns);

/* The open spans of every lane (lanes.h). All zero bytes are empty. */
struct open_lanes {
	struct open_spans *v;
	size_t n;
	size_t n_allocated;
};

void open_lanes_deinit(struct open_lanes *o);
/* Returns the open spans of a lane, which may be new. NULL: out of memory. */
struct open_spans *open_lanes_get(struct open_lanes *o, int64_t lane);

#endif
