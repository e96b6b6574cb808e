/* SPDX-License-Identifier: Apache-2.0 */
/* A Chrome trace while it is written: what its document (chrome.c) and its events (chrome_item.c) share. */
#ifndef TRACE_CODEC_CHROME_H
#define TRACE_CODEC_CHROME_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/read/lanes.h"

struct codec_result;
struct item;
struct sink;
struct view;
struct view_track;

struct chrome {
	const struct view *view;
	struct sink *sink;
	struct codec_result *result;
	int64_t *pids; /* of the view's processes: different from each other */
	int64_t shift_ns; /* added to all times, so that none is negative, or larger than need be */
	uint64_t n_events;
	int64_t next_tid; /* of rows beyond a track's first */
	uint32_t *series; /* by name: index + 1 of the last track that had samples of it */
	/* Of the track that is being written: */
	const struct view_track *track;
	struct lanes lanes;
	int64_t tid; /* of the first row */
	int64_t second_tid; /* of the second; others follow */
};

/* The braces and commas around, and what every event has. chrome_end() closes it. */
void chrome_begin(struct chrome *c, const char *phase, const char *name, int64_t tid);
void chrome_end(struct chrome *c);
/* The tid of one more row of the track; a viewer is told its name and place. */
int64_t chrome_add_row(struct chrome *c);
/* 1, 0 if it cannot be said (that is counted), or -ENOMEM. */
int chrome_put_item(struct chrome *c, const struct item *item);

#endif
