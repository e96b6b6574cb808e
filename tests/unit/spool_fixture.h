/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends the logs of log_fixture.h through a spool, in parts that are cut anywhere, and decodes what
 * a client gets.
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
 * The only fixture. A test may replace its spool or assembly; the teardown frees those that it
 * finds.
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
void spooled_open_apart(void); /* in memory, with a second thread that writes */
void spooled_close(void);

/* A random number less than |n|. */
unsigned spooled_pick(unsigned n);

void spooled_begin(void);
/* Spools |log| in parts of up to |max_part| slots, except for a tail, which may be empty. */
void spooled_put(struct thread_log *log, unsigned max_part);
/* Makes logs.space of the spooled slots and those that are left in the logs. */
void spooled_assemble(void);

/*
 * |of| may be NULL: no spool. |max_bytes| 0: no limit. The caller frees the result (delivery_free).
 */
struct delivery *spooled_deliver(struct space *space, struct spool *of, uint64_t max_bytes);
/* All bytes of |d|, read in pieces. The caller frees them (free). */
uint8_t *spooled_flatten(struct delivery *d, size_t *n_out);
struct space *spooled_decode(const uint8_t *bytes, size_t n);

#endif
