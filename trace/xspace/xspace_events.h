/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes the events of a line that is too long for memory, a part at a time, while the plane is
 * still being built. The bytes are those that xspace_encode() would write. xspace_events_find()
 * finds the place of an event among encoded ones.
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
	uint8_t *rules; /* enum name_rule of the plane's stat names so far */
	size_t n_rules;
	size_t n_allocated;
};

/*
 * |plane| outlives |x|; between two calls names may be added to it, and its stats replaced. With
 * NULL, all events that are encoded must be without stats.
 */
void xspace_events_init(struct xspace_events *x, const struct plane *plane);
void xspace_events_deinit(struct xspace_events *x);

/* The most bytes that |n| events can take; SIZE_MAX if events may have stats. */
size_t xspace_events_max_bytes(const struct xspace_events *x, size_t n);

/* Appends |n| events of the plane, in their order. 0 or -ENOMEM. */
int xspace_events_encode(
	struct xspace_events *x, const struct trace_event *events, size_t n, struct chunks *out);

/*
 * Counts the bytes of those encoded events at |data| that come before |key| in the order of a line
 * (start ascending, duration descending). -EBADMSG when |data| is not such events.
 */
ssize_t xspace_events_find(const uint8_t *data, size_t n_bytes, const struct trace_event *key);

#endif
