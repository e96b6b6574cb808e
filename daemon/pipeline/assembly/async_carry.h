/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The marks of async spans that one part of a session leaves to the next: begins that are open at
 * its end, and marks that were written while its rings were emptied one after the other, when marks
 * of other threads may still be missing.
 *
 * Threads: one at a time.
 */
#ifndef DAEMON_ASYNC_CARRY_H
#define DAEMON_ASYNC_CARRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/model/names.h"

struct trace_stat;

/*
 * The most bytes of one process's marks and names. Further marks are not carried, so their spans
 * become two halves.
 */
#define ASYNC_CARRY_MAX_BYTES (4u << 20)
/* Arguments of one mark: an entry has no more. */
#define ASYNC_CARRY_MAX_ARGS 31u

struct async_mark {
	uint64_t ticks;
	uint64_t id;
	uint64_t number; /* in the order of the records, for marks of one thread at one tick */
	uint32_t name; /* index into the names of its holder */
	uint32_t args; /* index + 1 into the arguments of its holder; 0: none */
	/* number, in this part, of the thread that recorded it; 0: it came from an earlier part */
	uint32_t thread;
	bool is_end;
};

/* All zero is the empty state. */
struct async_carry {
	struct async_mark *marks;
	size_t n_marks;
	size_t n_allocated;
	struct names names; /* of marks and arguments, and texts of arguments */
	struct trace_stat *args;
	size_t n_args;
	size_t n_args_allocated;
	size_t n_bytes;
};

/* Empties |c|. */
void async_carry_deinit(struct async_carry *c);
/*
 * Adds |mark| with the name |name| and the arguments |args|, up to the one with is_last
 * (NULL: none). Names and texts of arguments are in |stat_names|. 0, also when there is no
 * more room, or -ENOMEM.
 */
int async_carry_add(struct async_carry *c, const struct async_mark *mark, const char *name,
	const struct trace_stat *args, const struct names *stat_names);
/*
 * Copies the arguments of |mark|, which belongs to |c|, to |args|, at most
 * ASYNC_CARRY_MAX_ARGS; |*n| becomes their number. Adds their names and texts to
 * |stat_names|. 0 or -ENOMEM.
 */
int async_carry_get_args(const struct async_carry *c, const struct async_mark *mark,
	struct names *stat_names, struct trace_stat *args, uint32_t *n);

/* A carry for each process of a session, in the order of its sources. All zero is empty. */
struct async_carries {
	struct async_carry **v;
	size_t n;
	size_t n_allocated;
};

void async_carries_deinit(struct async_carries *c);
/* Borrowed. NULL when memory ran out. */
struct async_carry *async_carries_get(struct async_carries *c, size_t source);

#endif
