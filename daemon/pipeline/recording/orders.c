/* SPDX-License-Identifier: Apache-2.0 */
/* Orders to the processes of a recording; see orders.h. */
#include "daemon/pipeline/recording/orders.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "daemon/kernel/crash_watch.h"
#include "daemon/kernel/headroom.h"
#include "daemon/kernel/proc_file.h"
#include "daemon/pipeline/drain/rings.h"
#include "daemon/pipeline/recording/recording.h"
#include "daemon/pipeline/recording/source.h"
#include "daemon/target/family.h"
#include "daemon/target/target.h"

#define ACK_TIMEOUT_NS NS_PER_S
/* More time for a process that is not stopped but got no processor, because the machine is busy. */
#define BUSY_TIMEOUT_NS (4 * NS_PER_S)

/* The memory of the rings of all processes. */
static uint64_t count_held(const struct recording *r)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->n_sources; i++)
		if (r->sources[i]->state != SOURCE_ENDED)
			n += r->sources[i]->rings_bytes;
	return n;
}

static uint32_t prepare_rings(struct recording *r, struct source *s)
{
	uint64_t room = rings_find_room(
		headroom_take(&r->family->headroom, "", monotonic_ns()), count_held(r));
	uint32_t n = rings_prepare(s->target, room, r->n_sources);

	s->rings_bytes = n * ring_stride_bytes(s->target->ring_bytes);
	return n;
}

/*
 * The part of the argument of ARENA_OP_START with the time for which ptap_enabled() still returns
 * false. It is 0 with a flight recorder: spans that begin now are in its snapshots.
 */
static uint32_t find_early(const struct family *f)
{
	int64_t now_ns = monotonic_ns();
	int64_t early_us;

	if (f->recorder_level || f->enabled_ns <= now_ns)
		return 0;
	/*
	 * Two more microseconds, because clocks are read with an error, and ptap_enabled() must
	 * never be true too early.
	 */
	early_us = (f->enabled_ns - now_ns) / 1000 + 2;
	return (uint32_t)(early_us < ARENA_START_MAX_EARLY_US ? early_us : ARENA_START_MAX_EARLY_US)
	       << ARENA_START_EARLY_SHIFT;
}

/*
 * Watches only while something is recorded, because with the watch the kernel works at each
 * fork on the machine.
 */
static void watch_crashes(struct target *t)
{
	if (t->is_told_to_record && !t->crash_fd) {
		t->crash_fd = crash_watch_open() + 1;
	} else if (!t->is_told_to_record && t->crash_fd && target_get_life(t) == TARGET_ALIVE) {
		close(t->crash_fd - 1);
		t->crash_fd = 0;
	}
}

/* Sends START or STOP to |t|, as the levels of the family require. Does not wait for the answer. */
static void orders_send(const struct family *f, struct target *t)
{
	uint32_t level =
		f->capture_level > f->recorder_level ? f->capture_level : f->recorder_level;

	if (!level)
		target_send(t, ARENA_OP_STOP, 0);
	else
		target_send(t, ARENA_OP_START,
			level | (f->recorder_level ? ARENA_START_OVERWRITES : 0) |
				(t->is_told_to_record ? ARENA_START_GOES_ON : 0) | find_early(f));
	t->is_told_to_record = level != 0;
	if (t == f->main)
		watch_crashes(t);
}

static void send_order(struct recording *r, struct source *s, enum arena_op op)
{
	if (op == ARENA_OP_PREPARE)
		target_send(s->target, op, prepare_rings(r, s));
	else
		orders_send(r->family, s->target);
}

/*
 * Gives up a process that did not answer. If it goes on later, when no recording is
 * left, it must not start.
 */
static void give_up_process(struct recording *r, struct source *s, int error)
{
	unsigned level = *r->asked;

	if (error == -ETIMEDOUT) {
		r->n_deaf++;
		*r->asked = 0;
		orders_send(r->family, s->target);
		*r->asked = level;
	}
	s->state = SOURCE_ENDED;
}

/* Tells all processes to stop, without waiting for answers. */
static void silence_all(struct recording *r)
{
	*r->asked = 0;
	for (size_t i = 0; i < r->n_sources; i++)
		orders_send(r->family, r->sources[i]->target);
}

/*
 * Awaits the answer, and counts the time in which the program is stopped: this time can be part of
 * the recording, which may have begun with the order.
 */
static int await_and_poll(struct recording *r, struct target *t, int64_t deadline_ns)
{
	int error;

	do {
		int64_t poll_ns = monotonic_ns() + RECORDING_HALT_POLL_NS;

		error = target_await(t, poll_ns < deadline_ns ? poll_ns : deadline_ns);
		recording_poll_halt(r);
	} while (error == -ETIMEDOUT && monotonic_ns() < deadline_ns);
	return error;
}

static int await_answer(
	struct recording *r, struct target *t, enum arena_op op, int64_t deadline_ns)
{
	return op == ARENA_OP_START && r->halt_polled_ns ? await_and_poll(r, t, deadline_ns)
							 : target_await(t, deadline_ns);
}

static int await_process(
	struct recording *r, struct target *t, enum arena_op op, int64_t deadline_ns)
{
	int error = await_answer(r, t, op, deadline_ns);

	return error == -ETIMEDOUT && !proc_is_stopped(t->pid)
		       ? await_answer(r, t, op, deadline_ns + BUSY_TIMEOUT_NS)
		       : error;
}

/*
 * Sends the order |op| to all processes at the same time. Returns the result of the first, the
 * program; children may fail.
 */
static int order_all(struct recording *r, enum arena_op op)
{
	int64_t deadline = monotonic_ns() + ACK_TIMEOUT_NS;
	int result = 0;

	for (size_t i = 0; i < r->n_sources; i++)
		if (r->sources[i]->state != SOURCE_ENDED)
			send_order(r, r->sources[i], op);
	for (size_t i = 0; i < r->n_sources; i++) {
		struct source *s = r->sources[i];
		int error = 0;

		if (s->state != SOURCE_ENDED)
			error = await_process(r, s->target, op, deadline);
		if (i == 0)
			result = error;
		else if (error && op != ARENA_OP_STOP)
			give_up_process(r, s, error);
	}
	return result;
}

int orders_begin(struct recording *r, enum arena_op op, struct diag *d)
{
	int error;

	if (op == ARENA_OP_START)
		*r->asked = r->level;
	error = order_all(r, op);
	if (error == -ESRCH)
		return RECORDING_NO_TARGET;
	if (!error)
		return 0;
	silence_all(r);
	return diag_set(d, error,
		"the program (pid %d) is stopped (SIGSTOP or a debugger) and cannot record",
		(int)r->family->main->pid);
}

int orders_end(struct recording *r)
{
	*r->asked = 0;
	return order_all(r, ARENA_OP_STOP);
}

/*
 * Newcomers get no PREPARE, because START would have to wait for its answer. Instead, their threads
 * map their rings one by one.
 */
void orders_start_newcomers(struct recording *r, size_t first)
{
	for (size_t i = first; i < r->n_sources; i++) {
		prepare_rings(r, r->sources[i]);
		send_order(r, r->sources[i], ARENA_OP_START);
	}
}
