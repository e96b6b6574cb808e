/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collectors of a recording's processes, which record devices (docs/internals/collectors.md). A
 * recording without |options| has none.
 */
#ifndef DAEMON_COLLECTORS_H
#define DAEMON_COLLECTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

struct recording;
struct space;

/* The time that a recording waits for collectors, before it starts and after it has stopped. */
#define COLLECTORS_PATIENCE_NS (2 * NS_PER_S)

/* The time that a part waits until the collectors have handed on complete records. */
#define COLLECTORS_HAND_ON_NS (200 * NS_PER_MS)

/* The collectors of a recording. */
struct collectors {
	const char *root; /* "" or a test's fake root; set after init */
	const char *options; /* lines key=value; NULL: devices are not recorded. Set after init */
	/*
	 * Called while the collectors are waited for at the end; returns false when the recording
	 * is not wanted any more. NULL ok.
	 */
	bool (*are_wanted)(void *context);
	void *context;
	size_t next; /* the next source to be visited */
	/* CLOCK_MONOTONIC: end of the wait for collectors to hand on their records */
	int64_t handed_on_by_ns;
};

/* Called when the recording is armed: asks the collectors of processes that use a device. */
void collectors_arm(struct recording *r);
/* True when some collectors were asked, and have neither begun nor failed. */
bool collectors_are_beginning(const struct recording *r);
/* Called at each visit: finds new users of devices, asks their collectors, and notes the state. */
void collectors_visit(struct recording *r);
/* Called before a part is cut off: asks for complete records. */
void collectors_hand_on(struct recording *r);
/*
 * True when the collectors have handed on the records that collectors_hand_on() asked for, or the
 * time for it is over: later records are in the next part.
 */
bool collectors_have_handed_on(const struct recording *r);
/*
 * Called when a part was cut off, or the oldest records were dropped: facts about devices must be
 * written again.
 */
void collectors_repeat(struct recording *r);
/*
 * Called when the threads' recording has ended: waits for the rest of the collectors' records, and
 * drains meanwhile.
 */
void collectors_end(struct recording *r);
/*
 * Cancels the collectors: their records are not wanted. Does nothing the second time, or
 * when they have ended.
 */
void collectors_cancel(struct recording *r);

/* True when a process has the library of a GPU's driver mapped. */
bool collectors_see_device(const struct recording *r);
/* Adds the collectors' sentences, and warnings about missing records. 0 or -ENOMEM. */
int collectors_add_warnings(const struct recording *r, struct space *space);

#endif
