/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one part of a session leaves to the next of its async spans: the begins of those that are open at its end, and
 * marks that came while its rings were emptied one after the other, so that another thread's may still be missing.
 *
 * Threads: none inside; one at a time.
 */
#ifndef DAEMON_ASYNC_CARRY_H
#define DAEMON_ASYNC_CARRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/model/names.h"

struct trace_stat;

/* With their names, of one process. What a program leaves open beyond that is two halves when it ends. */
#define ASYNC_CARRY_MAX_BYTES (4u << 20)
/* Of one mark: an entry has no more. */
#define ASYNC_CARRY_MAX_ARGS 31u

struct async_mark {
	uint64_t ticks;
	uint64_t id;
	uint64_t
		number; /* in the order of the records: tells marks of one thread at one tick apart */
	uint32_t name; /* index into the names of who holds it */
	uint32_t args; /* index + 1 into the arguments of who holds it; 0: none */
	uint32_t thread; /* that recorded it: a number in this part; 0: it was in an earlier one */
	bool is_end;
};

/* All zero is the empty state. */
struct async_carry {
	struct async_mark *marks;
	size_t n_marks;
	size_t n_allocated;
	struct names names; /* of marks, of their arguments, and texts of these */
	struct trace_stat *args;
	size_t n_args;
	size_t n_args_allocated;
	size_t n_bytes;
};

/* Empties it. */
void async_carry_deinit(struct async_carry *c);
/*
 * |mark|, whose name is |name| here, with |args| up to the one that is the last (NULL: none), whose names and texts are in
 * |stat_names|. 0, also where there is no more room, or -ENOMEM.
 */
int async_carry_add(struct async_carry *c, const struct async_mark *mark, const char *name,
	const struct trace_stat *args, const struct names *stat_names);
/* The arguments of |mark|, one of |c|'s: |*n| of them, at most ASYNC_CARRY_MAX_ARGS, by |stat_names|. 0 or -ENOMEM. */
int async_carry_get_args(const struct async_carry *c, const struct async_mark *mark,
	struct names *stat_names, struct trace_stat *args, uint32_t *n);

/* Of the processes of a session, in the order of its sources. All zero is the empty state. */
struct async_carries {
	struct async_carry **v;
	size_t n;
	size_t n_allocated;
};

void async_carries_deinit(struct async_carries *c);
/* Borrowed. NULL: no memory. */
struct async_carry *async_carries_get(struct async_carries *c, size_t source);

#endif
