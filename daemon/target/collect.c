/* SPDX-License-Identifier: Apache-2.0 */
/* The collectors of one process; see collect.h, and lib/collect/collect.c for the other side. */
#include "daemon/target/collect.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/futex.h"
#include "base/printable.h"
#include "daemon/target/target.h"

static struct arena_collect *collect_get(const struct target *t)
{
	return &t->arena->collect;
}

/*
 * Until has_collect is set, the arena's |collect| has no memory, and even a read would allocate it.
 */
static uint32_t collect_get_state(const struct target *t)
{
	return t->has_collect ? atomic_load(&collect_get(t)->state) : ARENA_COLLECT_NONE;
}

static int collect_change_state(
	struct target *t, enum arena_collect_state from, enum arena_collect_state to)
{
	uint32_t expected = from;

	if (!atomic_compare_exchange_strong(&collect_get(t)->state, &expected, to))
		return 0;
	futex_wake(&collect_get(t)->state, INT_MAX);
	return 1;
}

/* --- Begin ----------------------------------------------------------------------------------- */

/*
 * Allocates the memory of the arena's |collect| here: a failure is an error here, but would be a
 * SIGBUS in the program.
 */
static int collect_make_memory(struct target *t)
{
	if (t->has_collect)
		return 0;
	if (fallocate(t->memfd, 0, (off_t)offsetof(struct arena, collect),
		    (off_t)(sizeof(struct arena) - offsetof(struct arena, collect))))
		return -errno;
	t->has_collect = true;
	return 0;
}

/* Clears the remains of an earlier recording. */
static void collect_clear(struct arena_collect *c)
{
	atomic_store(&c->is_cancelled, 0);
	atomic_store(&c->ring, 0);
	atomic_store(&c->repeat, 0);
	atomic_store(&c->hand_on, 0);
	atomic_store(&c->handed_on, 0);
	atomic_store(&c->running_since_ns, 0);
	atomic_store(&c->n_said, 0);
	atomic_store(&c->step, ARENA_COLLECT_NOWHERE);
}

int collect_ask(struct target *t, const char *options)
{
	int r = collect_make_memory(t);

	if (r)
		return r;
	collect_forget(t);
	if (collect_get_state(t) != ARENA_COLLECT_NONE)
		return t->is_collect_given_up ? COLLECT_STUCK : COLLECT_BUSY;
	t->is_collect_given_up = false;
	collect_clear(collect_get(t));
	snprintf(collect_get(t)->options, sizeof collect_get(t)->options, "%s", options);
	atomic_store(&collect_get(t)->state, ARENA_COLLECT_ASKED);
	target_send(t, ARENA_OP_COLLECT, 0);
	return 0;
}

enum collect_stage collect_get_stage(const struct target *t)
{
	switch (collect_get_state(t)) {
	case ARENA_COLLECT_NONE:
		return COLLECT_IDLE;
	case ARENA_COLLECT_ASKED:
	case ARENA_COLLECT_TAKEN:
		return COLLECT_BEGINNING;
	case ARENA_COLLECT_RUNNING:
		return COLLECT_RUNNING;
	case ARENA_COLLECT_ENDING:
		return COLLECT_ENDING;
	default:
		return COLLECT_DONE;
	}
}

uint32_t collect_find_ring(const struct target *t)
{
	uint32_t ring = t->has_collect ? atomic_load(&collect_get(t)->ring) : 0;

	return ring <= t->n_rings ? ring : 0;
}

int64_t collect_get_since_ns(const struct target *t)
{
	int64_t since_ns = t->has_collect ? atomic_load(&collect_get(t)->running_since_ns) : 0;

	return since_ns ? since_ns - t->clock_ahead_ns : 0;
}

void collect_repeat(struct target *t)
{
	if (!t->has_collect)
		return;
	atomic_fetch_add(&collect_get(t)->repeat, 1);
	futex_wake(&collect_get(t)->state, INT_MAX);
}

void collect_hand_on(struct target *t)
{
	if (!t->has_collect)
		return;
	atomic_fetch_add(&collect_get(t)->hand_on, 1);
	futex_wake(&collect_get(t)->state, INT_MAX);
}

bool collect_has_handed_on(const struct target *t)
{
	return collect_get_stage(t) != COLLECT_RUNNING ||
	       atomic_load(&collect_get(t)->handed_on) == atomic_load(&collect_get(t)->hand_on);
}

/* --- End ------------------------------------------------------------------------------------- */

void collect_end(struct target *t)
{
	/* A stopped program's control thread may not have seen collect_ask()'s request yet. */
	if (!t->has_collect || collect_change_state(t, ARENA_COLLECT_ASKED, ARENA_COLLECT_NONE))
		return;
	if (!collect_change_state(t, ARENA_COLLECT_TAKEN, ARENA_COLLECT_ENDING))
		collect_change_state(t, ARENA_COLLECT_RUNNING, ARENA_COLLECT_ENDING);
}

void collect_cancel(struct target *t)
{
	if (!t->has_collect)
		return;
	atomic_store(&collect_get(t)->is_cancelled, 1);
	collect_end(t);
}

void collect_give_up(struct target *t)
{
	collect_cancel(t);
	t->is_collect_given_up = true;
}

void collect_forget(struct target *t)
{
	if (collect_get_stage(t) == COLLECT_DONE)
		atomic_store(&collect_get(t)->state, ARENA_COLLECT_NONE);
}

void collect_wait(struct target *t, int64_t deadline_ns)
{
	uint32_t state = collect_get_state(t);

	if (state == ARENA_COLLECT_TAKEN || state == ARENA_COLLECT_RUNNING ||
		state == ARENA_COLLECT_ENDING || state == ARENA_COLLECT_ASKED)
		futex_wait_until(&collect_get(t)->state, state, deadline_ns);
}

/* --- Texts ----------------------------------------------------------------------------------- */

size_t collect_read_said(const struct target *t, char *to, size_t size)
{
	const struct arena_collect *c = collect_get(t);
	size_t n = t->has_collect ? atomic_load_explicit(&c->n_said, memory_order_acquire) : 0;

	if (n > sizeof c->said)
		n = sizeof c->said;
	if (n > size - 1)
		n = size - 1;
	memcpy(to, c->said, n);
	to[n] = '\0';
	return strlen(to);
}

void collect_describe_step(const struct target *t, char *to, size_t size)
{
	static const char *const steps[ARENA_COLLECT_STEPS] = {
		[ARENA_COLLECT_LOAD] = "load",
		[ARENA_COLLECT_PROBE] = "probe",
		[ARENA_COLLECT_OPEN] = "open",
		[ARENA_COLLECT_ARM] = "arm",
		[ARENA_COLLECT_START] = "start",
		[ARENA_COLLECT_POLL] = "poll",
		[ARENA_COLLECT_STOP] = "stop",
		[ARENA_COLLECT_DRAIN] = "drain",
		[ARENA_COLLECT_STATS] = "stats",
		[ARENA_COLLECT_CLOSE] = "close",
		[ARENA_COLLECT_FLUSH] = "flush",
	};
	const struct arena_collect *c = collect_get(t);
	uint32_t step = t->has_collect ? atomic_load(&c->step) : 0;
	char who[sizeof c->who];

	to[0] = '\0';
	if (!step || step >= ARENA_COLLECT_STEPS)
		return;
	memcpy(who, c->who, sizeof who);
	who[sizeof who - 1] = '\0';
	printable_clean(who);
	snprintf(to, size, "%s (%s)", who, steps[step]);
}
