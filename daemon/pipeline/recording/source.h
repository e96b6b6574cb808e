/* SPDX-License-Identifier: Apache-2.0 */
/* One process's part in a capture: what it was told, and what came out of its rings. */
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
	SOURCE_STARTING, /* it was told to, and has not answered yet */
	SOURCE_RECORDING,
	SOURCE_ENDED, /* nothing more will come; what came is kept */
};

struct source {
	struct target *target;
	struct drain drain;
	struct usage usage;
	struct collecting collecting;
	struct assembly *assembly; /* NULL: nothing was spooled */
	enum source_state state;
	uint32_t word_before; /* its arena's, when it was told nothing yet */
	uint64_t rings_bytes; /* that were prepared for it */
	bool goes_on; /* of a part (recording_cut.h): its process records on */
	bool is_over; /* it recorded before for the flight recorder, and its drain has begun; see source_begin_over() */
	struct plane *
		plane; /* in the trace that is being made of it, which owns it; NULL: it has none */
};

/* Owner: *out belongs to the caller. |target| and |budget| outlive it. 0 or -ENOMEM. */
int source_new(struct target *target, struct drain_budget *budget, struct source **out);
struct source *source_free(struct source *s); /* NULL ok; returns NULL */

/* Of a process that records already: what it writes from here on counts, also before it has answered. */
void source_begin_over(struct source *s, int *error);
/* It has answered: what it writes from here on counts. */
void source_begin(struct source *s);
/* Nothing of its threads counts, only what collectors write. */
void source_begin_without_threads(struct source *s);
/* Copies out what is new, as drain_visit() does; ends it when its process is gone. */
unsigned source_visit(struct source *s, int *error);
/* The last records, the open spans, the losses. Nothing the second time. */
void source_end(struct source *s, int *error);

/* 1 when there is anything to tell: a record, an open span, a loss. */
bool source_has_content(const struct source *s);

#endif
