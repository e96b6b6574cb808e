/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that turns raw slots into encoded events and writes them to a capture's spool, so that who empties the rings
 * never waits for that.
 *
 * Threads: all functions from one thread, the worker's.
 */
#ifndef DAEMON_SPOOLER_H
#define DAEMON_SPOOLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct assembly;
struct diag;
struct slot_sink;
struct spool;
struct spooler;

struct spooler_config {
	const char *dir; /* as spool_new() takes it */
	int in_memory; /* no file: spool_new_in_memory() */
	uint64_t max_bytes; /* of the spool */
	uint64_t reserve_bytes; /* of these: for what is under way when no more is taken */
	uint64_t keep_bytes; /* for what stays in memory */
	bool uses_ticks; /* the timeline's */
	int encodes_apart; /* in a thread of its own, if there is a processor for it */
};

/* Owner: *out belongs to the caller. A negative errno with |d|. */
int spooler_new(const struct spooler_config *config, struct spooler **out, struct diag *d);
/* Ends at once: what was not written yet is lost. NULL ok; returns NULL. */
struct spooler *spooler_free(struct spooler *s);

/* The assembly of a process; its logs can be given away from here on, and it is the thread's until spooler_finish(). */
void spooler_adopt(struct spooler *s, struct assembly *as);

/*
 * The sink of the drains whose slots it spools; the receiver of a process is its assembly, which spooler_adopt() has had. Borrowed.
 */
struct slot_sink *spooler_get_sink(struct spooler *s);

/* Of slots that were taken and are not written yet. */
uint64_t spooler_get_held_bytes(const struct spooler *s);
/* Waits until some of what is held was written; not when nothing is. */
void spooler_wait(struct spooler *s);
/* Waits for all. 0 or -ENOMEM: some was lost for want of memory. */
int spooler_finish(struct spooler *s);

/* Borrowed; for the caller alone after spooler_finish(), but for the functions that any thread may call. */
struct spool *spooler_get_spool(const struct spooler *s);

#endif
