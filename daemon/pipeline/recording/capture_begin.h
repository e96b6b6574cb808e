/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A capture that runs, and its way there: it waits for its time, is armed, has collectors and threads told to record, and
 * starts.
 */
#ifndef DAEMON_CAPTURE_BEGIN_H
#define DAEMON_CAPTURE_BEGIN_H

#include <stdbool.h>

#include "daemon/pipeline/recording/capture_trace.h"
#include "daemon/pipeline/recording/recording.h"
#include "daemon/pipeline/recording/snapshots.h"
#include "lib/wire/arena.h"

struct capture_request;
struct diag;
struct target;

struct capture {
	struct target *target; /* the program that started the server */
	const struct capture_request *request;
	struct recording recording;
	struct snapshots snapshots; /* of one that keeps the newest */
	struct capture_trace trace;
	uint64_t max_bytes;
	bool is_unbegun; /* it was over before its time */
	char collect_options[sizeof((struct arena_collect *)0)->options];
};

/* The program is gone. */
bool capture_is_gone(const struct capture *c);
/* Or the capture is to end; who asked for it looks, too. */
bool capture_is_over(const struct capture *c);

/* Whether devices are recorded, and how. 0 or -ENOMEM. */
int capture_set_devices(struct capture *c);
/* Returns when it records, or is over before its time (c->is_unbegun). Outcomes as capture_run(). */
int capture_begin(struct capture *c, struct diag *d);

#endif
