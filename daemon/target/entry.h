/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes an entry of a ring: a record with its extra slots. Its bytes may be anything. */
#ifndef DAEMON_ENTRY_H
#define DAEMON_ENTRY_H

#include <stdint.h>

#include "daemon/target/era.h"
#include "lib/wire/record.h"

/* A decoded entry, before it becomes an event. */
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
 * Decodes the record at |slot|; its extra slots (e->n_slots of them) lie behind it. Its 48 bits of
 * ticks are completed so that it ends in |era|. Returns 0 when it is not a valid record or cannot
 * end there; e->n_slots is set in any case.
 */
int entry_decode(struct entry *e, const struct slot *slot, const struct era *era);
/* Decodes the record without its time: e->start is 0. */
int entry_read(struct entry *e, const struct slot *slot);

/* The slot with the number of a kind that has one (see record.h), or NULL. */
const struct slot *entry_number(const struct entry *e);
/* Reads that number into *out. Returns 0 if there is none, and leaves *out as it is. */
int entry_read_number(const struct entry *e, double *out);

/* The text that starts in |slot|. |n_left| slots may be read; the text is cut at their end. */
const char *slot_text(const struct slot *slot, uint32_t n_left, uint32_t *n_out);

/* The number of slots that the argument at |slot| takes; 0 if it is not an argument. */
uint32_t slot_span(const struct slot *slot, uint32_t n_left);

#endif
