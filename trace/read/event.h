/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one event of an archive from its bytes. */
#ifndef TRACE_READ_EVENT_H
#define TRACE_READ_EVENT_H

#include <stdint.h>

#include "trace/read/archive.h"
#include "trace/xspace/wire.h"

struct archive_event {
	int64_t start_ns; /* the line's base included */
	int64_t duration_ns; /* >= 0 */
	bool has_duration; /* the file has a duration, which may be 0; otherwise it is an instant */
	uint32_t name; /* index into the plane's event_names; ARCHIVE_NO_NAME: the file has none */
	int64_t id; /* id of the event's metadata */
	bool is_aggregated; /* it has no time */
};

/* The facts that the stats of an event tell about it. */
struct event_marks {
	bool is_step;
	bool is_unfinished;
	bool is_async;
	bool has_flow; /* a flow leaves it, or enters it */
};

struct event_marks event_find_marks(
	const struct archive_plane *plane, const struct archive_stats *stats);

/*
 * Reads the XEvent in |field|, which may be broken. Its stats are appended to |stats|, or skipped
 * if that is NULL. 0, or -ENOMEM, or -EBADMSG with |fault|.
 */
int event_read(const struct archive_plane *plane, int64_t base_ns, const struct pb_field *field,
	struct archive_event *out, struct archive_stats *stats, struct wire_fault *fault);
/*
 * Reads an XStat and appends it. A stat without a value, or whose key has no name in the file, is
 * skipped.
 */
int stat_read(const struct archive_plane *plane, const struct pb_field *field,
	struct archive_stats *stats, struct wire_fault *fault);

#endif
