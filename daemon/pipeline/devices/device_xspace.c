/* SPDX-License-Identifier: Apache-2.0 */
/* Collectors' own traces; see device_xspace.h. */
#include "daemon/pipeline/devices/device_xspace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/diag.h"
#include "base/grow.h"
#include "daemon/pipeline/devices/device_drawing.h"
#include "daemon/pipeline/devices/devices.h"
#include "trace/model/space.h"
#include "trace/read/outline.h"
#include "trace/saturate.h"
#include "trace/xspace/graft.h"

/* Bytes that the graft rewrote: it treats them as if they lay behind the trace in its file. */
struct behind {
	size_t offset; /* the offset at which they would lie */
	uint8_t *data;
	size_t n;
	size_t n_allocated;
};

static int accept_bytes(const uint8_t *p, void *behind)
{
	(void)p;
	(void)behind;
	return 0;
}

static int store_rewritten(const struct chunks *bytes, uint64_t *offset, void *context)
{
	struct behind *b = context;

	*offset = b->offset + b->n;
	if (grow(&b->data, &b->n_allocated, b->n + bytes->total_bytes))
		return -ENOMEM;
	for (size_t i = 0; i < bytes->n_chunks; i++) {
		memcpy(b->data + b->n, bytes->chunks[i].data, bytes->chunks[i].used_bytes);
		b->n += bytes->chunks[i].used_bytes;
	}
	return 0;
}

/* --- the graft as one piece ---------------------------------------------------------------- */

/* Copies |n| bytes from the frame's offset |at| to the buffer |to|. */
static void copy_frame(const struct chunks *frame, uint64_t at, size_t n, uint8_t *to)
{
	for (size_t i = 0; i < frame->n_chunks && n; i++) {
		const struct chunk *c = &frame->chunks[i];
		size_t here = at < c->used_bytes ? c->used_bytes - (size_t)at : 0;

		here = here < n ? here : n;
		if (here)
			memcpy(to, c->data + at, here);
		to += here;
		n -= here;
		at -= at < c->used_bytes ? at : c->used_bytes;
	}
}

static const uint8_t *find_range(
	const struct graft *g, const struct behind *b, const struct graft_range *range)
{
	return range->offset < b->offset ? g->data + range->offset
					 : b->data + (range->offset - b->offset);
}

/* Returns the graft's g->total_bytes bytes, malloc'ed; NULL when memory ran out. */
static uint8_t *flatten_graft(const struct graft *g, const struct behind *b)
{
	uint8_t *bytes = malloc(g->total_bytes + 1);
	uint64_t of_frame = 0;
	size_t n = 0;

	if (!bytes)
		return NULL;
	for (size_t i = 0; i <= g->n_ranges; i++) {
		const struct graft_range *range = i < g->n_ranges ? &g->ranges[i] : NULL;
		uint64_t until = range ? range->at : g->frame.total_bytes;

		copy_frame(&g->frame, of_frame, (size_t)(until - of_frame), bytes + n);
		n += (size_t)(until - of_frame);
		of_frame = until;
		if (!range)
			break;
		memcpy(bytes + n, find_range(g, b, range), (size_t)range->n_bytes);
		n += (size_t)range->n_bytes;
	}
	return bytes;
}

static int add_graft(struct graft *g, struct behind *b, struct space *space)
{
	int r = graft_make(g);
	uint8_t *bytes = r ? NULL : flatten_graft(g, b);

	if (r)
		return r;
	return bytes ? space_take_part(space, bytes, g->total_bytes) : -ENOMEM;
}

/* --- one trace ----------------------------------------------------------------------------- */

static int add_name(struct names *names, const char *name)
{
	return names_intern(names, name, strlen(name)) == NAMES_NONE ? -ENOMEM : 0;
}

/* Lists the names of the present planes and of one that will be added. */
static int list_names(const struct space *space, struct names *names)
{
	int r = add_name(names, PLANE_ENVIRONMENT);

	for (size_t i = 0; i < space->n_planes && !r; i++)
		r = add_name(names, space->planes[i]->name);
	return r;
}

static int graft_trace(const struct device_xspace *x, int64_t shift_ns,
	const struct device_scope *scope, struct space *space)
{
	struct names taken = {.n_texts = 0};
	struct behind b = {.offset = x->n};
	struct graft g = {
		.data = x->data,
		.n_bytes = x->n,
		.pid = scope->pid,
		.taken = &taken,
		.shift_ns = shift_ns,
		.pass = accept_bytes,
		.store = store_rewritten,
		.context = &b,
	};
	int r = list_names(space, &taken);

	if (!r)
		r = add_graft(&g, &b, space);
	graft_deinit(&g);
	names_deinit(&taken);
	free(b.data);
	return r;
}

/* Checks that |x| is a trace, from the first byte to the last. */
static int check_trace(const struct device_xspace *x, struct diag *d)
{
	struct outline outline;
	int r = outline_read(&outline, x->data, x->n, NULL, NULL, d);

	outline_deinit(&outline);
	return r;
}

static int add_collector_trace(const struct device_xspace *x, const struct device_clock *clock,
	const struct device_scope *scope, struct space *space)
{
	struct diag d = DIAG_INIT;
	int64_t zero_ns;
	int r = check_trace(x, &d);

	if (r == -ENOMEM)
		return r;
	if (r)
		return space_add_warning(
			space, "gpu: a collector's own trace cannot be read: %s", d.text);
	/* The times of the trace are those of the collector's clock. */
	if (!device_clock_find_zero(clock, &zero_ns))
		return space_add_warning(space,
			"gpu: a collector's own trace is left out: the zero time of its clock is unknown");
	return graft_trace(x, sub_saturated(zero_ns, scope->base_ns), scope, space);
}

int device_xspace_add(
	const struct device_records *d, const struct device_scope *scope, struct space *space)
{
	int r = 0;

	for (unsigned i = 0; i < DEVICES_MAX_COLLECTORS && !r; i++)
		if (d->xspaces[i].n)
			r = add_collector_trace(&d->xspaces[i], &d->clocks[i], scope, space);
	return r;
}
