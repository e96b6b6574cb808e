/* SPDX-License-Identifier: Apache-2.0 */
/* One entry of a ring: a record with its extra slots, decoded from bytes that nobody vouches for. */
#ifndef DAEMON_ENTRY_H
#define DAEMON_ENTRY_H

#include <stdint.h>

#include "daemon/target/era.h"
#include "lib/wire/record.h"

/* What an entry says, before it becomes an event. */
struct entry {
	uint64_t start; /* ticks */
	uint64_t duration;
	unsigned kind; /* enum record_kind */
	unsigned depth;
	uint32_t string_id;
	const struct slot *slots;
	uint32_t n_slots;
	int is_unfinished;
};

/*
 * Decodes the record at |slot|; its extra slots (e->n_slots of them) lie behind it. Its 48 bits of ticks are completed so that
 * it ends in |era|. Returns 0 when it is not a valid record, or cannot; e->n_slots is set in any case.
 */
int entry_decode(struct entry *e, const struct slot *slot, const struct era *era);
/* The same for whom it does not matter when it was: e->start is 0. */
int entry_read(struct entry *e, const struct slot *slot);

/* The slot with the number of a kind that has one (see record.h), or NULL. */
const struct slot *entry_number(const struct entry *e);
/* Reads that number into *out. Returns 0 if there is none; *out stays then. */
int entry_read_number(const struct entry *e, double *out);

/* The text that starts in |slot|, of which |n_left| slots may be read; what is beyond them is cut. */
const char *slot_text(const struct slot *slot, uint32_t n_left, uint32_t *n_out);

/* How many slots the argument at |slot| takes; 0 if it is not one. */
uint32_t slot_span(const struct slot *slot, uint32_t n_left);

#endif
