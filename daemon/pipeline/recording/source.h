/* SPDX-License-Identifier: Apache-2.0 */
/* A source is one process in a capture: its state, its records, usage and collectors. */
#ifndef DAEMON_SOURCE_H
#define DAEMON_SOURCE_H

#include <stdbool.h>

#include "daemon/pipeline/drain/drain.h"
#include "daemon/pipeline/recording/collecting.h"
#include "daemon/pipeline/usage/usage.h"

struct assembly;
struct plane;
struct target;

enum source_state {
	SOURCE_STARTING, /* the process was told to record, and has not answered yet */
	SOURCE_RECORDING,
	SOURCE_ENDED, /* no more records come; its records are kept */
};

struct source {
	struct target *target;
	struct drain drain;
	struct usage usage;
	struct collecting collecting;
	struct assembly *assembly; /* NULL: nothing was spooled */
	enum source_state state;
	uint32_t word_before; /* the arena's word before it was told to record */
	uint64_t rings_bytes; /* of the rings that were prepared for it */
	bool goes_on; /* for a part (recording_cut.h): its process goes on recording */
	/*
	 * the process recorded for the flight recorder before, and the drain has begun:
	 * source_begin_over()
	 */
	bool is_over;
	struct plane *plane; /* in the trace that is being made, which owns it; NULL: it has none */
};

/* Owner: *out belongs to the caller. |target| and |budget| outlive it. 0 or -ENOMEM. */
int source_new(struct target *target, struct drain_budget *budget, struct source **out);
struct source *source_free(struct source *s); /* NULL ok; returns NULL */

/*
 * Begins to drain a process that already records: its records count from here on, even before it
 * has answered.
 */
void source_begin_over(struct source *s, int *error);
/* Called when the process has answered: its records count from here on. */
void source_begin(struct source *s);
/* Begins to drain without threads: only the collectors' records count. */
void source_begin_without_threads(struct source *s);
/* Copies new records out, as drain_visit() does; ends the source when its process is gone. */
unsigned source_visit(struct source *s, int *error);
/* Reads the last records, the open spans and the losses. Does nothing the second time. */
void source_end(struct source *s, int *error);

/* True when the source has a record, an open span or a loss. */
bool source_has_content(const struct source *s);

#endif
