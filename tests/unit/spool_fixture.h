/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The logs of log_fixture.h, by way of a spool, in parts that are cut anywhere; and what a client
 * gets of them.
 */
#ifndef TESTS_UNIT_SPOOL_FIXTURE_H
#define TESTS_UNIT_SPOOL_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/kernel/memory_budget.h"
#include "daemon/pipeline/assembly/assembly.h"
#include "daemon/pipeline/assembly/spool.h"

struct delivery;
struct part_writer;
struct space;
struct thread_log;

/*
 * One at a time. A test may put another spool or assembly in their place; what is there at the end
 * is freed.
 */
extern struct spool_fixture {
	unsigned seed; /* of spooled_pick() */
	struct spool *spool;
	struct part_writer *writer; /* NULL: none */
	struct memory_budget keep;
	struct assembly *assembly; /* between begin and assemble */
} spooled;

void spooled_open(void);
void spooled_open_in_memory(void);
void spooled_open_apart(void); /* in memory, and another thread writes */
void spooled_close(void);

/* Random, less than |n|. */
unsigned spooled_pick(unsigned n);

void spooled_begin(void);
/* All but a tail of |log|, which may be all, too, goes in parts of up to |max_part| slots. */
void spooled_put(struct thread_log *log, unsigned max_part);
/* Makes logs.space of the spooled slots and of those left in the logs. */
void spooled_assemble(void);

/* |of|: NULL when there is none. |max_bytes| 0: any number. Owner: the caller (delivery_free). */
struct delivery *spooled_deliver(struct space *space, struct spool *of, uint64_t max_bytes);
/* All of |d|, read in pieces. Owner: the caller (free). */
uint8_t *spooled_flatten(struct delivery *d, size_t *n_out);
struct space *spooled_decode(const uint8_t *bytes, size_t n);

#endif
