/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices in a recording: the collectors of all its processes (docs/internals/collectors.md). A recording without |options| has
 * none, and nobody looks at anything.
 */
#ifndef DAEMON_COLLECTORS_H
#define DAEMON_COLLECTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

struct recording;
struct space;

/* So long a recording waits for collectors, before it starts and after it has stopped. */
#define COLLECTORS_PATIENCE_NS (2 * NS_PER_S)

/* And a part of it until they have handed on what is complete. */
#define COLLECTORS_HAND_ON_NS (200 * NS_PER_MS)

/* Of a recording. */
struct collectors {
	const char *root; /* "" or a test's fake root; set after init */
	const char *options; /* lines key=value; NULL: devices are not recorded. Set after init */
	/* While they are waited for at the end: 0 when nobody wants the recording any more. NULL ok. */
	bool (*look)(void *context);
	void *context;
	size_t next; /* the source whose turn it is to be visited */
	int64_t handed_on_by_ns; /* CLOCK_MONOTONIC: those that have not by then are not waited for */
};

/* When it is armed: those of processes that use a device are asked. */
void collectors_arm(struct recording *r);
/* Some of them were asked, and have neither begun nor failed. */
bool collectors_are_beginning(const struct recording *r);
/* At each visit: processes may begin to use a device, and some are later than others. */
void collectors_visit(struct recording *r);
/* Before a part is cut off: what is complete is to be in it. */
void collectors_hand_on(struct recording *r);
/* 1 when it is, or has been waited for long enough: what comes later is in the next part. */
int collectors_have_handed_on(const struct recording *r);
/* A part was cut off, or the oldest of it was given up: what is known of devices is to be written again. */
void collectors_repeat(struct recording *r);
/* When the threads have stopped: what they have is waited for, and drained meanwhile. */
void collectors_end(struct recording *r);
/* Nobody wants what they have; nothing if that was said already, or they have ended. */
void collectors_cancel(struct recording *r);

/* A process of it has the library of a GPU's driver mapped. */
int collectors_see_device(const struct recording *r);
/* What they said, and what is missing of theirs. 0 or -ENOMEM. */
int collectors_add_warnings(const struct recording *r, struct space *space);

#endif
