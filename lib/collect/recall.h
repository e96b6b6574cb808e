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

/* Devices and streams beyond this are not repeated: then only their numbers are known. */
#define RECALL_MAX 512u

struct recalled {
	uint32_t name;
	uint32_t n_bytes;
	struct device_entry entry;
};

/* Unused pages of this struct take no memory. */
struct recall {
	uint32_t answered; /* the value of the arena's |repeat| at the last repetition */
	unsigned n;
	struct recalled things[RECALL_MAX];
	/* The first and the last anchor of each collector, because each has a clock of its own. */
	unsigned n_anchors[COLLECTORS_MAX];
	struct recalled anchors[COLLECTORS_MAX][2];
};

void recall_forget(struct recall *r);
/*
 * Keeps |entry| if it is of a kind that is repeated. recall_write() writes its first |n_bytes|.
 */
void recall_note(
	struct recall *r, uint32_t name, const struct device_entry *entry, uint32_t n_bytes);
/* Writes all kept records. The results are those of outlet_put(). */
int recall_write(const struct recall *r, struct outlet *o);
/*
 * Writes the kept records if the server has requested this by the arena's |repeat|. The server does
 * so after it has handed over or dropped records that later ones depend on.
 */
void recall_repeat_if_asked(struct recall *r, struct outlet *o);

#endif
