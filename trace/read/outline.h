/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outline of a trace: its facts, warnings and numbers of events. Events are counted as they are
 * read, so that little memory is needed however many there are.
 */
#ifndef TRACE_OUTLINE_H
#define TRACE_OUTLINE_H

#include <stddef.h>
#include <stdint.h>

#include "trace/read/archive.h"
#include "trace/xspace/totals.h" /* struct report_totals */

struct diag;

struct outline {
	/*
	 * Made by archive_survey(). The texts of stats lie in the bytes that were read. NULL before
	 * outline_read(), or if memory ran out.
	 */
	struct archive *archive;
	char *process; /* name of the recorded program; NULL: unknown */
	int64_t pid; /* 0: unknown */
	struct report_totals totals;
	uint64_t n_events; /* of all kinds, usage counters included */
	struct report_length length;
};

/*
 * Reads an XSpace of any origin. The bytes are untrusted: a bad one gives -EBADMSG and a text with
 * its offset and the fault there; then the outline has what was in front of this byte. The bytes
 * stay the caller's; texts of stats in the outline are valid as long as the bytes stay in place.
 * |pass| may be NULL; it is called often, with the place up to which the bytes were read (once for
 * each line the place goes back to the line's begin), and a result other than 0 ends the reading.
 * Call outline_deinit() in any case.
 */
int outline_read(struct outline *o, const uint8_t *data, size_t n_bytes,
	int (*pass)(const uint8_t *p, void *context), void *context, struct diag *d);
void outline_deinit(struct outline *o);

#endif
