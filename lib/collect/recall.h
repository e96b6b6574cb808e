/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the records in which a capture's collectors describe devices, streams and their clock, and
 * writes them again on request: a session is handed over in parts, its oldest records are dropped,
 * and no part can be understood without these descriptions.
 *
 * Threads: the collectors' thread.
 */
#ifndef COLLECT_RECALL_H
#define COLLECT_RECALL_H

#include <stdint.h>

#include "lib/wire/device.h"
#include "lib/wire/vendor.h"

struct outlet;

/* Further streams are not repeated: they keep their numbers, and lose their names. */
#define RECALL_MAX 512u

struct recalled {
	uint32_t name;
	uint32_t n_bytes;
	struct device_entry entry;
};

/* Most of this struct is never touched. */
struct recall {
	uint32_t answered; /* the last |repeat| of the arena that was answered */
	unsigned n;
	struct recalled things[RECALL_MAX];
	/* The first and the last anchor of each collector, because each has a clock of its own. */
	unsigned n_anchors[COLLECTORS_MAX];
	struct recalled anchors[COLLECTORS_MAX][2];
};

void recall_forget(struct recall *r);
/*
 * Keeps |entry| if it is of a kind that is repeated. |n_bytes| bytes of |entry| are written later.
 */
void recall_note(
	struct recall *r, uint32_t name, const struct device_entry *entry, uint32_t n_bytes);
/* Writes all kept records. Returns as outlet_put(). */
int recall_write(const struct recall *r, struct outlet *o);
/*
 * Writes them if the server has requested it (the arena's |repeat|) because it has handed over or
 * dropped records that later ones depend on.
 */
void recall_repeat_if_asked(struct recall *r, struct outlet *o);

#endif
