/* SPDX-License-Identifier: Apache-2.0 */
/* A track's events in their order: pieces of its runs with the stragglers between them. */
#ifndef DAEMON_MERGE_H
#define DAEMON_MERGE_H

#include <stddef.h>
#include <stdint.h>

struct spool;
struct track;

struct merge {
	const struct track *track;
	const struct spool *spool;
	size_t run; /* the next one */
	uint32_t at; /* bytes of it that are done */
	size_t straggler; /* the next one */
	uint8_t *room; /* for the run in which a straggler's place is searched */
	size_t room_bytes;
};

/* In memory, or at an offset of the spool. */
struct piece {
	const uint8_t *bytes; /* NULL: in the spool */
	uint64_t offset;
	uint64_t n_bytes; /* > 0 */
};

/* |track| is finished; both outlive it. */
void merge_init(struct merge *m, const struct track *track, const struct spool *spool);
void merge_deinit(struct merge *m);

/* 1 and a piece that is as long as possible, 0 at the end, or a negative errno. */
int merge_next(struct merge *m, struct piece *out);

#endif
