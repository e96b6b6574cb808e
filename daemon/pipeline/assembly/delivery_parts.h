/* SPDX-License-Identifier: Apache-2.0 */
/* What a delivery is made of: for its own two files, which read it and lend it. */
#ifndef DAEMON_DELIVERY_PARTS_H
#define DAEMON_DELIVERY_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/chunk_reader.h"
#include "daemon/pipeline/assembly/merge.h"

struct spool;
struct track;

/* Behind so many bytes of the chunks all of a track, or a piece of the spool. */
struct gap {
	uint64_t at;
	const struct track *track; /* NULL: the piece */
	struct piece piece;
};

struct delivery {
	uint64_t n_bytes;
	struct chunk_reader chunks;
	struct spool *spool; /* NULL: all is in the chunks */
	struct gap *gaps;
	size_t n_gaps;
	size_t gap; /* the next one, or that |merge| fills */
	bool is_merging;
	struct merge merge;
	struct piece piece; /* what is left of it */
	struct delivery *next; /* what follows */
	int error;
};

/* Has d->piece filled, if a piece comes next. */
void delivery_look(struct delivery *d);

#endif
