/* SPDX-License-Identifier: Apache-2.0 */
/* One event of an archive, read from its bytes. */
#ifndef TRACE_READ_EVENT_H
#define TRACE_READ_EVENT_H

#include <stdint.h>

#include "trace/read/archive.h"

struct pb_field;
struct pb_reader;

struct archive_event {
	int64_t start_ns; /* the line's base included */
	int64_t duration_ns; /* >= 0 */
	bool has_duration; /* the file tells one, which may be 0: no instant */
	uint32_t
		name; /* index into the plane's event_names; ARCHIVE_NO_NAME: the file does not tell it */
	int64_t id; /* of that metadata */
	bool is_aggregated; /* has no time */
};

/*
 * Reads the XEvent in |field|, which was walked before or was not. Its stats are appended to |stats|, and skipped
 * where that is NULL. 0, or -ENOMEM, or -EBADMSG with the place and what is wrong there in *|bad|.
 */
int event_read(const struct archive_plane *plane, int64_t base_ns, const struct pb_field *field,
	struct archive_event *out, struct archive_stats *stats, struct pb_reader *bad);
/* An XStat, appended. One whose key the file does not tell, or that has no value, is skipped. */
int stat_read(const struct archive_plane *plane, const struct pb_field *field,
	struct archive_stats *stats, struct pb_reader *bad);

#endif
