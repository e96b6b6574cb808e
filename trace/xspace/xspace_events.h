/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of a line that is too long for memory, encoded a part at a time while the plane is still being made: the same
 * bytes that xspace_encode() would write for them, and the way back to their order.
 */
#ifndef TRACE_XSPACE_EVENTS_H
#define TRACE_XSPACE_EVENTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct chunks;
struct plane;
struct trace_event;

struct xspace_events {
	const struct plane *plane; /* NULL ok */
	uint8_t *rules; /* of the plane's stat names so far */
	size_t n_rules;
	size_t n_allocated;
};

/*
 * |plane| outlives it; names may be added to it, and its stats replaced, between two calls. NULL: events that have no stats
 * are all that it encodes; then nothing of the plane is looked at.
 */
void xspace_events_init(struct xspace_events *x, const struct plane *plane);
void xspace_events_deinit(struct xspace_events *x);

/* Room that is enough for |n| events; SIZE_MAX: that is not known. */
size_t xspace_events_max_bytes(const struct xspace_events *x, size_t n);

/* Appends |n| events of the plane, in their order. 0 or -ENOMEM. */
int xspace_events_encode(
	struct xspace_events *x, const struct trace_event *events, size_t n, struct chunks *out);

/*
 * Among the encoded events at |data|, in (start ascending, duration descending): how many bytes those take that come
 * before |key|. -EBADMSG when these are no such events.
 */
ssize_t xspace_events_find(const uint8_t *data, size_t n_bytes, const struct trace_event *key);

#endif
