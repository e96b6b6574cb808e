/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What decoding an XSpace carries along: where errors go, the ids of the plane being read, and the
 * stats of the event being read. Functions return 0 or a negative errno with the text filled in.
 */
#ifndef TRACE_XSPACE_DECODER_H
#define TRACE_XSPACE_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/model/idmap.h"
#include "trace/model/space.h"
#include "trace/xspace/pbwire.h"

struct diag;

/*
 * Who takes the events instead of the plane, a bounded number at a time. Texts and bytes of their stats are left out
 * then, and all names that no metadata tells are one. Both return 0 or a negative errno, which ends the reading.
 */
struct decoder_sink {
	int (*take)(
		const struct plane *plane, const struct line *line, bool is_last, void *context);
	/* Called often: what is before |p| was read, and may be read once more later. */
	int (*pass)(const uint8_t *p, void *context);
	void *context;
};

struct decoder {
	const uint8_t *data; /* start of the input, for offsets in messages */
	struct space *space;
	struct diag *diag;
	const struct decoder_sink *sink; /* NULL: events stay in the plane */
	bool is_brief; /* an event of a sink is being read */
	uint64_t n_aggregated;
	/* Of the plane being read: */
	struct plane *plane;
	struct idmap events; /* id -> index into event_names */
	struct idmap stats; /* id -> index into stat_names */
	struct trace_stat *list; /* stats of the event being read */
	size_t n_list;
	size_t n_list_allocated;
};

/* Reads all of it. 0, or a negative errno with the text filled in. */
int decoder_read_space(struct decoder *d, size_t n_bytes);
int decoder_fail_memory(struct decoder *d);
/*
 * After a message's loop: |rc| is what pb_next() said last; an error names |message| and the
 * offset.
 */
int decoder_finish(struct decoder *d, const struct pb_reader *r, int rc, const char *message);
/* A terminated copy, the caller's; NULL when memory ran out. */
char *decoder_copy_text(const struct pb_field *f);
int decoder_intern(
	struct decoder *d, struct names *names, const struct pb_field *f, uint32_t *index);
/* The index behind an id; a name, "?<id>", is made up for one that has no metadata. */
int decoder_resolve(struct decoder *d, const struct idmap *map, struct names *names, int64_t id,
	uint32_t *index);
/* An XStat: appended to d->list, or to the plane. */
int decoder_read_event_stat(struct decoder *d, const struct pb_field *message);
int decoder_read_plane_stat(struct decoder *d, const struct pb_field *message);
/* An XLine with its events: added to the plane. */
int decoder_read_line(struct decoder *d, const struct pb_field *message);

#endif
