/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A spooler has a thread that converts raw slots into encoded events and writes them to a capture's
 * spool, so that the drain does not wait for this work.
 *
 * Threads: only the worker calls these functions.
 */
#ifndef DAEMON_SPOOLER_H
#define DAEMON_SPOOLER_H

#include <stdbool.h>
#include <stdint.h>

struct assembly;
struct diag;
struct slot_sink;
struct spool;
struct spooler;

struct spooler_config {
	const char *dir; /* as for spool_new() */
	int in_memory; /* no file: spool_new_in_memory() */
	uint64_t max_bytes; /* of the spool */
	/* part of the spool's size that is kept for slots taken before the spool counts as full */
	uint64_t reserve_bytes;
	uint64_t keep_bytes; /* the most memory for data that is never spooled, such as names */
	bool uses_ticks; /* as in struct timeline */
	int encodes_apart; /* by a second thread, if there is a processor for it */
};

/* Owner: *out belongs to the caller. A negative errno with |d|. */
int spooler_new(const struct spooler_config *config, struct spooler **out, struct diag *d);
/* Ends the thread at once: slots that were not written yet are lost. NULL ok; returns NULL. */
struct spooler *spooler_free(struct spooler *s);

/*
 * Prepares |as|, the assembly of a process, to receive slots. |as| belongs to the thread until
 * spooler_finish().
 */
void spooler_adopt(struct spooler *s, struct assembly *as);

/*
 * Returns the sink for drains. The receiver of a process is its assembly, after
 * spooler_adopt(). Borrowed.
 */
struct slot_sink *spooler_get_sink(struct spooler *s);

/* Bytes of slots that were taken and are not written yet. */
uint64_t spooler_get_held_bytes(const struct spooler *s);
/* Waits until some of the held slots were written. Returns at once when there are none. */
void spooler_wait(struct spooler *s);
/* Waits until all slots were written. 0, or -ENOMEM: some were lost for want of memory. */
int spooler_finish(struct spooler *s);

/*
 * Borrowed. Before spooler_finish() the caller may use only the functions that any thread may call.
 */
struct spool *spooler_get_spool(const struct spooler *s);

#endif
