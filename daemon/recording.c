/* SPDX-License-Identifier: Apache-2.0 */
/* All processes of a capture; see recording.h. */
#include "daemon/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/grow.h"
#include "daemon/descriptors.h"
#include "daemon/family.h"
#include "daemon/headroom.h"
#include "daemon/rings.h"
#include "daemon/source.h"
#include "daemon/spill.h"
#include "daemon/spooler.h"
#include "daemon/target.h"

#define ACK_TIMEOUT_NS NS_PER_S
#define PAIR_INTERVAL_NS (20 * NS_PER_MS)
/* What a visit may take for usage; the last process begun is finished. */
#define USAGE_SLICE_NS (NS_PER_MS / 2)
/* Slots that are not spooled yet: enough for what a target writes between two visits, little beside all. */
#define WINDOW_SHARE 64
#define MAX_WINDOW_BYTES (UINT64_C(8) << 20)
#define MIN_SPOOLED_BYTES (UINT64_C(32) << 20)
/* What a source costs beside its records. */
#define SOURCE_BYTES (16u << 10)

/* A small capture needs no file. */
static uint64_t choose_window(uint64_t max_bytes, uint64_t asked)
{
	if (asked)
		return asked < max_bytes / WINDOW_SHARE ? asked : max_bytes / WINDOW_SHARE;
	if (max_bytes < MIN_SPOOLED_BYTES)
		return 0;
	return max_bytes / WINDOW_SHARE < MAX_WINDOW_BYTES ? max_bytes / WINDOW_SHARE
							   : MAX_WINDOW_BYTES;
}

void recording_init(
	struct recording *r, struct family *f, uint64_t max_bytes, uint64_t window_bytes)
{
	memset(r, 0, sizeof *r);
	r->family = f;
	r->max_bytes = max_bytes;
	r->budget.max_bytes = max_bytes / RECORDING_BYTES_PER_SLOT_BYTE;
	r->budget.window_bytes = choose_window(max_bytes, window_bytes);
	r->uses_ticks = atomic_load(&f->main->arena->clock) == ARENA_CLOCK_TICKS;
	timeline_init(&r->timeline, r->uses_ticks);
}

void recording_set_unlimited(struct recording *r)
{
	r->budget.max_bytes = UINT64_MAX;
	r->budget.window_bytes = 0;
}

/* One that comes from here on is not told to wait; one that was is among the offered already. */
static void close_to_newcomers(struct recording *r)
{
	atomic_store(&r->family->is_recording, 0);
	family_admit(r->family);
	family_greet(r->family);
}

void recording_deinit(struct recording *r)
{
	close_to_newcomers(r);
	/* Its thread works with the sources. */
	spooler_free(r->budget.spooler);
	timeline_deinit(&r->timeline);
	for (size_t i = 0; i < r->n_sources; i++)
		source_free(r->sources[i]);
	free(r->sources);
}

static int add_source(struct recording *r, struct target *t)
{
	if (grow(&r->sources, &r->n_allocated, r->n_sources + 1) ||
		source_new(t, &r->budget, &r->sources[r->n_sources]))
		return -ENOMEM;
	drain_reset_rings(&r->sources[r->n_sources]->drain);
	r->n_sources++;
	return 0;
}

/* Children that joined since the last look: 0, or -ENOMEM. */
static int meet_children(struct recording *r)
{
	struct family *f = r->family;

	family_admit(f);
	for (; r->n_met < f->n_children; r->n_met++) {
		struct target *t = &f->children[r->n_met]->target;

		if (r->budget.used_bytes + SOURCE_BYTES > r->budget.max_bytes) {
			r->n_left_out++;
			continue;
		}
		r->budget.used_bytes += SOURCE_BYTES;
		if (add_source(r, t))
			return -ENOMEM;
	}
	return 0;
}

/* What the rings of all processes hold of the memory that there is. */
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
	uint64_t room = rings_find_room(headroom_read_bytes(""), count_held(r));
	uint32_t n = rings_prepare(s->target, room, r->n_sources);

	s->rings_bytes = n * ring_stride_bytes(s->target->ring_bytes);
	return n;
}

static void send(struct recording *r, struct source *s, enum arena_op op)
{
	uint32_t arg = 0;

	if (op == ARENA_OP_PREPARE)
		arg = prepare_rings(r, s);
	else if (op == ARENA_OP_START)
		arg = r->level;
	target_send(s->target, op, arg);
}

/* Does not record, then; and shall not start when it goes on and nobody listens any more. */
static void give_up(struct recording *r, struct source *s, int error)
{
	if (error == -ETIMEDOUT) {
		r->n_deaf++;
		target_send(s->target, ARENA_OP_STOP, 0);
	}
	s->state = SOURCE_ENDED;
}

/* Without waiting for answers. */
static void silence_all(struct recording *r)
{
	for (size_t i = 0; i < r->n_sources; i++)
		target_send(r->sources[i]->target, ARENA_OP_STOP, 0);
}

/* All processes at the same time. Returns the answer of the first, the program; children may fail. */
static int tell(struct recording *r, enum arena_op op)
{
	int64_t deadline = monotonic_ns() + ACK_TIMEOUT_NS;
	int result = 0;

	for (size_t i = 0; i < r->n_sources; i++)
		if (r->sources[i]->state != SOURCE_ENDED)
			send(r, r->sources[i], op);
	for (size_t i = 0; i < r->n_sources; i++) {
		struct source *s = r->sources[i];
		int error = s->state == SOURCE_ENDED ? 0 : target_await(s->target, deadline);

		if (i == 0)
			result = error;
		else if (error && op != ARENA_OP_STOP)
			give_up(r, s, error);
	}
	return result;
}

static int tell_to_begin(struct recording *r, enum arena_op op, struct diag *d)
{
	int error = tell(r, op);

	if (error == -ESRCH)
		return RECORDING_NO_TARGET;
	if (!error)
		return 0;
	silence_all(r);
	return diag_set(d, error,
		"the program (pid %d) is stopped (SIGSTOP or a debugger) and cannot record",
		(int)r->family->main->pid);
}

static int start_all(struct recording *r, struct diag *d)
{
	int error = tell_to_begin(r, ARENA_OP_START, d);

	for (size_t i = 0; i < r->n_sources && !error; i++)
		if (r->sources[i]->state == SOURCE_STARTING)
			source_begin(r->sources[i]);
	return error;
}

/* What both clocks said at |at_ns|, between two readings of them. */
static struct clock_pair interpolate(struct clock_pair a, struct clock_pair b, int64_t at_ns)
{
	double share = (double)(at_ns - a.monotonic_ns) / (double)(b.monotonic_ns - a.monotonic_ns);

	return (struct clock_pair){
		a.ticks + (uint64_t)(share * (double)(b.ticks - a.ticks)), at_ns};
}

/* One that was ended before its time, or armed after it, begins now. */
static int is_on_time(const struct recording *r, int64_t at_ns)
{
	return r->armed.monotonic_ns < at_ns && at_ns < r->start.monotonic_ns;
}

/* An agreed start is a point in time: this thread was woken for it, a little late, or more on a busy machine. */
static void set_start(struct recording *r, int64_t at_ns)
{
	struct clock_pair now = clock_pair_read(r->uses_ticks);

	r->start = now;
	r->start_unix_ns = realtime_ns();
	if (!is_on_time(r, at_ns))
		return;
	r->start = interpolate(r->armed, now, at_ns);
	r->start_unix_ns -= now.monotonic_ns - at_ns;
}

static void begin_usage(struct recording *r, size_t first)
{
	for (size_t i = first; i < r->n_sources; i++) {
		struct source *s = r->sources[i];
		/* The program's always; clients need some, too. */
		int has_room =
			i == 0 || descriptors_are_left(USAGE_DESCRIPTORS, DESCRIPTORS_OF_CHILDREN);

		r->n_without_usage += r->usage_interval_ms && !has_room;
		usage_open(&s->usage, "", s->target->pid, has_room ? r->usage_interval_ms : 0);
	}
	for (size_t i = 0; i < r->n_sources; i++)
		r->sources[i]->usage.n_sharing = r->n_sources;
}

/* One process after the other, some at a visit: there may be many, and the rings fill meanwhile. */
static void visit_usage(struct recording *r)
{
	int64_t give_up = monotonic_ns() + USAGE_SLICE_NS;

	for (size_t n = 0; n < r->n_sources && monotonic_ns() < give_up; n++) {
		struct source *s = r->sources[r->next_usage++ % r->n_sources];

		if (target_get_life(s->target) == TARGET_DEAD)
			usage_finish(&s->usage, 1);
		else
			usage_visit(&s->usage);
	}
}

static void end_usage(struct recording *r)
{
	for (size_t i = 0; i < r->n_sources; i++) {
		struct source *s = r->sources[i];

		/* One that only stopped its server still is there. */
		usage_finish(&s->usage, target_get_life(s->target) == TARGET_DEAD);
		if (s->usage.error || s->usage.threads.error)
			r->error = -ENOMEM;
	}
}

int recording_arm(struct recording *r, unsigned level, struct diag *d)
{
	int error = add_source(r, r->family->main);

	atomic_store(&r->family->is_recording, level != 0);
	if (!error && level)
		error = meet_children(r);
	if (!error && level)
		error = tell_to_begin(r, ARENA_OP_PREPARE, d);
	r->armed = clock_pair_read(r->uses_ticks);
	return error;
}

int recording_begin(struct recording *r, unsigned level, int64_t at_ns, struct diag *d)
{
	int error = 0;

	r->level = level;
	set_start(r, at_ns);
	r->earliest_ticks = r->start.ticks;
	if (level)
		error = start_all(r, d);
	r->late_ns = monotonic_ns() - r->start.monotonic_ns;
	r->last_pair_ns = r->start.monotonic_ns;
	if (!error)
		error = timeline_add(&r->timeline, r->start);
	family_greet(r->family);
	if (!error)
		begin_usage(r, 0);
	return error;
}

static void add_pair(struct recording *r)
{
	struct clock_pair pair;

	if (monotonic_ns() - r->last_pair_ns < PAIR_INTERVAL_NS)
		return;
	pair = clock_pair_read(r->uses_ticks);
	r->last_pair_ns = pair.monotonic_ns;
	if (timeline_add(&r->timeline, pair))
		r->error = -ENOMEM;
}

/* Its rings are mapped by its threads, one by one: a second command would have to wait for the first. */
static void start_newcomers(struct recording *r, size_t first)
{
	for (size_t i = first; i < r->n_sources; i++) {
		prepare_rings(r, r->sources[i]);
		send(r, r->sources[i], ARENA_OP_START);
	}
}

unsigned recording_visit(struct recording *r)
{
	size_t n_before = r->n_sources;
	size_t n_met_before = r->n_met;
	unsigned fullest = 0;

	visit_usage(r);
	if (!r->level) {
		add_pair(r);
		return 0;
	}
	if (meet_children(r))
		r->error = -ENOMEM;
	start_newcomers(r, n_before);
	if (r->n_met != n_met_before)
		family_greet(r->family);
	if (r->n_sources > n_before)
		begin_usage(r, n_before);
	for (size_t i = 0; i < r->n_sources; i++) {
		unsigned full = source_visit(r->sources[i], &r->error);

		if (full > fullest)
			fullest = full;
	}
	if (spill_look(r))
		r->error = -ENOMEM;
	add_pair(r);
	return fullest;
}

int recording_end(struct recording *r)
{
	int result;

	close_to_newcomers(r);
	result = r->level ? tell(r, ARENA_OP_STOP) : 0;
	r->stop = clock_pair_read(r->uses_ticks);
	if (timeline_add(&r->timeline, r->stop))
		return -ENOMEM;
	for (size_t i = 0; i < r->n_sources && r->level; i++) {
		spill_catch_up(r, r->sources[i]);
		source_end(r->sources[i], &r->error);
	}
	end_usage(r);
	return result == -ETIMEDOUT ? result : 0;
}

void recording_finish(struct recording *r)
{
	if (r->budget.spooler && spooler_finish(r->budget.spooler))
		r->error = -ENOMEM;
}
