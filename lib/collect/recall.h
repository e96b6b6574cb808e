/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a capture's collectors have said of things (devices, streams, their clock), to be said again: a session is handed over in
 * parts, and its oldest records go, but no part is understood without these.
 *
 * Threads: that of the collectors.
 */
#ifndef COLLECT_RECALL_H
#define COLLECT_RECALL_H

#include <stdint.h>

#include "lib/collect/plugin.h"
#include "lib/wire/device.h"

struct outlet;

/* Further streams are not said again: they keep their numbers, and lose their names. */
#define RECALL_MAX 512u

struct recalled {
	uint32_t name;
	uint32_t n_bytes;
	struct device_entry entry;
};

/* Much of it is never touched. */
struct recall {
	uint32_t heeded; /* the arena's |repeat| that was */
	unsigned n;
	struct recalled things[RECALL_MAX];
	/* Of each collector the first one, and the last: it has a clock of its own. */
	unsigned n_anchors[PLUGINS_MAX];
	struct recalled anchors[PLUGINS_MAX][2];
};

void recall_forget(struct recall *r);
/* What is of no kind that is kept is not. |n_bytes| of |entry| are what is written. */
void recall_note(
	struct recall *r, uint32_t name, const struct device_entry *entry, uint32_t n_bytes);
/* Writes all of it. As outlet_put(). */
int recall_write(const struct recall *r, struct outlet *o);
/* The same where the server has handed over, or given up, what is needed for what comes (the arena's |repeat|). */
void recall_heed(struct recall *r, struct outlet *o);

#endif
