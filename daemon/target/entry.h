/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes an entry of a ring: a record with its extra slots. The bytes may be anything. */
#ifndef DAEMON_ENTRY_H
#define DAEMON_ENTRY_H

#include <stdbool.h>
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
	bool is_unfinished;
};

/*
 * Decodes the record at |slot|; its extra slots (e->n_slots of them) follow it. Completes the 48
 * bits of ticks to a time at which the record can have ended in |era|. false if it is no valid
 * record or cannot end in the era; e->n_slots is set in any case.
 */
bool entry_decode(struct entry *e, const struct slot *slot, const struct era *era);
/* The same without the time: e->start is 0. */
bool entry_read(struct entry *e, const struct slot *slot);

/* Returns the slot that holds the entry's number, if its kind has one (see record.h), or NULL. */
const struct slot *entry_number(const struct entry *e);
/* Reads that number into *out. false if there is none; *out is unchanged then. */
bool entry_read_number(const struct entry *e, double *out);

/*
 * Returns the text that starts in |slot|. |n_left| slots may be read; the text is cut at their end.
 */
const char *slot_text(const struct slot *slot, uint32_t n_left, uint32_t *n_out);

/* Returns the number of slots of the argument at |slot|; 0 if it is not an argument. */
uint32_t slot_span(const struct slot *slot, uint32_t n_left);

#endif
