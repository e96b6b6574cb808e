/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of decoding an XSpace: the diag for errors, the ids of the plane being read, and the
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
 * A sink takes the events instead of the plane, a bounded number at a time. Texts and bytes of
 * their stats are then left out, and all ids without metadata share one name. Both functions return
 * 0 or a negative errno, which ends the reading.
 */
struct decoder_sink {
	int (*take)(
		const struct plane *plane, const struct line *line, bool is_last, void *context);
	/* Called often: the bytes before |p| were read, and may be read once more later. */
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
	struct plane *plane; /* being read, as are the ids and stats below */
	struct idmap events; /* id -> index into event_names */
	struct idmap stats; /* id -> index into stat_names */
	struct trace_stat *list; /* stats of the event being read */
	size_t n_list;
	size_t n_list_allocated;
};

/* Decodes the space at d->data. 0, or a negative errno with the text filled in. */
int decoder_read_space(struct decoder *d, size_t n_bytes);
int decoder_fail_memory(struct decoder *d);

#endif
