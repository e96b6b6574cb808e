/* SPDX-License-Identifier: Apache-2.0 */
/* Makes intervals of the states of threads; see thread_states.h. */
#include "daemon/pipeline/samples/thread_states.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/hash.h"
#include "daemon/pipeline/samples/samples.h"
#include "daemon/pipeline/samples/samples_copy.h"
#include "daemon/pipeline/samples/wait_reason.h"

/* With more moments in a second than this, short waits are left out. */
#define MANY_MOMENTS_HZ 50000
#define SHORT_WAIT_NS (NS_PER_MS / 50)
/* The reason of a wait is read from /proc when it has lasted for so long. */
#define LONG_WAIT_NS (100 * NS_PER_MS)
/* Threads that have ended are forgotten when there are as many as others, and this many. */
#define MANY_ENDED 1024

/* Tells how much we know of a thread's state since |since_ns|. */
enum knowledge {
	KNOWN_NOTHING, /* until its next moment */
	KNOWN_READY, /* /proc says that it runs or could run */
	KNOWN_STATE, /* |state| */
	KNOWN_ENDED,
};

struct watched_thread {
	pid_t tid;
	enum knowledge knowledge;
	enum thread_state state;
	int64_t since_ns;
	uint32_t cpu; /* of a running thread */
	/*
	 * The run before a wait. It is added with the wait's end, because it goes on if the wait is
	 * left out.
	 */
	bool has_run;
	int64_t run_start_ns;
	uint32_t stack; /* of a blocked thread, or one that is about to be; or STACKS_NONE */
	uint32_t
		n_waits; /* times of waiting that |stack| stands for, this one and some before it */
	uint32_t n_stackless; /* times of waiting since the last one with a stack */
	int64_t reason_ns; /* when |reason| was read; 0: it was not */
	char reason[WAIT_REASON_BYTES];
	uint32_t index; /* in the process structure; UINT32_MAX: unknown */
};

struct thread_states {
	const char *root; /* borrowed */
	pid_t pid;
	struct watched_thread *v;
	size_t n;
	size_t n_allocated;
	size_t n_ended;
	struct hash_table table; /* from tids to |v| */
	struct thread_moment *moments; /* not in intervals yet */
	size_t n_moments;
	size_t n_moments_allocated;
	int64_t advanced_ns; /* the |until_ns| of the last advance */
	bool leaves_out_short; /* in this advance */
	struct sampled_process *to; /* of this call */
	int error; /* of this call */
};

/* --- threads ---------------------------------------------------------------------------------- */

/* Finds or adds a thread; NULL: out of memory. The pointer is valid until the next call. */
static struct watched_thread *take_thread(struct thread_states *s, pid_t tid)
{
	uint32_t hash = hash_word(hash_seed(), (uint64_t)tid);
	struct hash_slot *slot;

	if (hash_table_make_room(&s->table) || grow(&s->v, &s->n_allocated, s->n + 1))
		return NULL;
	slot = hash_table_first(&s->table, hash);
	while (slot->number && !(slot->hash == hash && s->v[slot->number - 1].tid == tid))
		slot = hash_table_next(&s->table, slot);
	if (slot->number)
		return &s->v[slot->number - 1];
	hash_table_add(&s->table, slot, hash);
	s->v[s->n] = (struct watched_thread){
		.tid = tid, .stack = STACKS_NONE, .index = UINT32_MAX, .n_waits = 1};
	return &s->v[s->n++];
}

static void forget_ended(struct thread_states *s)
{
	struct watched_thread *old = s->v;
	size_t n = s->n;

	s->v = NULL;
	s->n = s->n_allocated = s->n_ended = 0;
	hash_table_clear(&s->table);
	for (size_t i = 0; i < n; i++) {
		struct watched_thread *t = NULL;

		if (old[i].knowledge == KNOWN_ENDED)
			continue;
		t = take_thread(s, old[i].tid);
		if (t)
			*t = old[i];
		else
			s->error = -ENOMEM;
	}
	free(old);
}

static void set_state(struct watched_thread *t, enum thread_state state, int64_t since_ns)
{
	t->knowledge = KNOWN_STATE;
	t->state = state;
	t->since_ns = since_ns;
	t->stack = STACKS_NONE;
	t->n_waits = 1;
	t->reason_ns = 0;
}

/* --- intervals -------------------------------------------------------------------------------- */

/* Returns the index of the reason's text. A reason that was read after |end_ns| is another's. */
static uint32_t intern_reason(
	struct thread_states *s, const struct watched_thread *t, int64_t end_ns)
{
	bool is_known = t->state == THREAD_BLOCKED && t->reason_ns && t->reason_ns <= end_ns;
	const char *text = is_known ? t->reason : "";

	return names_intern(&s->to->stacks.texts, text, strlen(text));
}

static uint32_t find_index(struct thread_states *s, struct watched_thread *t)
{
	if (t->index == UINT32_MAX)
		t->index = sampled_process_take_thread(s->to, t->tid);
	return t->index;
}

/* Adds the interval from |start_ns| to |end_ns|, if it has a length. */
static void put_interval(struct thread_states *s, struct watched_thread *t, enum thread_state state,
	int64_t start_ns, int64_t end_ns)
{
	struct sampled_process *to = s->to;
	struct thread_interval interval = {
		.start_ns = start_ns,
		.end_ns = end_ns,
		.thread = find_index(s, t),
		.stack = state == THREAD_BLOCKED ? t->stack : STACKS_NONE,
		.n_waits = t->n_waits,
		.reason = intern_reason(s, t, end_ns),
		.cpu = t->cpu,
		.state = state,
	};

	if (end_ns <= start_ns)
		return;
	if (interval.thread == UINT32_MAX || interval.reason == NAMES_NONE ||
		grow(&to->intervals, &to->n_intervals_allocated, to->n_intervals + 1))
		s->error = -ENOMEM;
	else
		to->intervals[to->n_intervals++] = interval;
}

/* Adds the run before a wait, which is not left out. */
static void put_run(struct thread_states *s, struct watched_thread *t)
{
	if (t->has_run)
		put_interval(s, t, THREAD_RUNNING, t->run_start_ns, t->since_ns);
	t->has_run = false;
}

/* Adds what the thread did up to |at_ns|. */
static void put_state(struct thread_states *s, struct watched_thread *t, int64_t at_ns)
{
	put_run(s, t);
	if (t->knowledge == KNOWN_STATE)
		put_interval(s, t, t->state, t->since_ns, at_ns);
}

/* --- moments ---------------------------------------------------------------------------------- */

static bool thread_is_off(const struct watched_thread *t)
{
	return t->knowledge == KNOWN_STATE && t->state != THREAD_RUNNING;
}

static void take_processor(
	struct thread_states *s, struct watched_thread *t, const struct thread_moment *m)
{
	bool is_short = s->leaves_out_short && m->at_ns - t->since_ns < SHORT_WAIT_NS;
	int64_t since_ns = m->at_ns;

	/* Without a moment in between it cannot have run. */
	if (t->knowledge == KNOWN_READY)
		set_state(t, THREAD_PREEMPTED, t->since_ns);
	if (thread_is_off(t) && t->has_run && is_short) {
		since_ns = t->run_start_ns;
		t->has_run = false;
		t->n_stackless += t->n_waits;
		s->to->n_short++;
	} else if (thread_is_off(t)) {
		put_state(s, t, m->at_ns);
		t->cpu = m->cpu;
	} else {
		t->cpu = m->cpu;
	}
	set_state(t, THREAD_RUNNING, since_ns);
}

/* Most waits have no stack. Those before one that has it count as its kind. */
static void set_stack(struct watched_thread *t, uint32_t stack)
{
	t->stack = stack;
	if (stack == STACKS_NONE) {
		t->n_stackless++;
		return;
	}
	t->n_waits = 1 + t->n_stackless;
	t->n_stackless = 0;
}

/* If a moment is missing, nobody knows what the thread did before. */
static void leave_processor(
	struct thread_states *s, struct watched_thread *t, const struct thread_moment *m)
{
	bool is_running = t->knowledge == KNOWN_READY ||
			  (t->knowledge == KNOWN_STATE && t->state == THREAD_RUNNING);
	int64_t start_ns = t->since_ns;
	uint32_t stack = is_running ? t->stack : STACKS_NONE;

	put_run(s, t);
	if (t->knowledge == KNOWN_READY)
		t->cpu = m->cpu;
	set_state(t, m->change == THREAD_WAS_BLOCKED ? THREAD_BLOCKED : THREAD_PREEMPTED, m->at_ns);
	if (t->state == THREAD_BLOCKED)
		set_stack(t, stack);
	t->has_run = is_running;
	t->run_start_ns = start_ns;
}

static void end_thread(struct thread_states *s, struct watched_thread *t, int64_t at_ns)
{
	put_state(s, t, at_ns);
	s->n_ended += t->knowledge != KNOWN_ENDED;
	t->knowledge = KNOWN_ENDED;
}

static void end_others(struct thread_states *s, const struct thread_moment *m)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].tid != m->tid)
			end_thread(s, &s->v[i], m->at_ns);
}

static void apply(struct thread_states *s, const struct thread_moment *m)
{
	struct watched_thread *t = take_thread(s, m->tid);

	if (!t) {
		s->error = -ENOMEM;
		return;
	}
	/* The rest happened before /proc was read, which says more. */
	if (t->knowledge != KNOWN_ENDED && m->at_ns < t->since_ns)
		return;
	if (t->knowledge == KNOWN_ENDED && m->change != THREAD_ENDED) {
		s->n_ended--;
		t->knowledge = KNOWN_NOTHING;
	}
	switch (m->change) {
	case THREAD_STARTED:
		put_state(s, t, m->at_ns);
		set_state(t, THREAD_PREEMPTED, m->at_ns);
		break;
	case THREAD_GOT_CPU:
		take_processor(s, t, m);
		break;
	case THREAD_GAVE_STACK:
		t->stack = m->stack;
		break;
	case THREAD_WAS_PREEMPTED:
	case THREAD_WAS_BLOCKED:
		leave_processor(s, t, m);
		break;
	case THREAD_ENDED:
		end_thread(s, t, m->at_ns);
		break;
	case THREAD_EXECUTED:
		end_others(s, m);
		break;
	}
}

/* At the same time, a thread starts before it runs, and ends last. */
static int compare_moments(const void *left, const void *right)
{
	const struct thread_moment *a = left;
	const struct thread_moment *b = right;

	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns ? -1 : 1;
	return (int)a->change - (int)b->change;
}

/* --- reasons ---------------------------------------------------------------------------------- */

/* Reads the reasons of waits that have lasted for long by |now_ns|. */
static void read_reasons(struct thread_states *s, int64_t now_ns)
{
	for (size_t i = 0; i < s->n; i++) {
		struct watched_thread *t = &s->v[i];
		struct wait_reason reason;

		if (!thread_is_off(t) || t->state != THREAD_BLOCKED || t->reason_ns ||
			now_ns - t->since_ns < LONG_WAIT_NS)
			continue;
		t->reason_ns = now_ns;
		t->reason[0] = '\0';
		if (!wait_reason_read(s->root, s->pid, t->tid, &reason))
			memcpy(t->reason, reason.text, sizeof t->reason);
	}
}

/* --- the process ------------------------------------------------------------------------------ */

struct thread_states *thread_states_new(const char *root, pid_t pid)
{
	struct thread_states *s = calloc(1, sizeof *s);

	if (s) {
		s->root = root;
		s->pid = pid;
	}
	return s;
}

void thread_states_free(struct thread_states *s)
{
	if (!s)
		return;
	hash_table_deinit(&s->table);
	free(s->v);
	free(s->moments);
	free(s);
}

static int begin_thread(struct thread_states *s, pid_t tid, int64_t now_ns)
{
	struct wait_reason reason;
	struct watched_thread *t;

	if (wait_reason_read(s->root, s->pid, tid, &reason))
		return 0;
	t = take_thread(s, tid);
	if (!t)
		return -ENOMEM;
	set_state(t, THREAD_BLOCKED, now_ns);
	if (reason.is_ready)
		t->knowledge = KNOWN_READY;
	t->reason_ns = now_ns;
	memcpy(t->reason, reason.text, sizeof t->reason);
	return 0;
}

int thread_states_begin(struct thread_states *s, int64_t now_ns)
{
	_cleanup_closedir_ DIR *dir = NULL;
	char path[PATH_MAX];
	struct dirent *entry;
	int r = 0;

	s->advanced_ns = now_ns;
	snprintf(path, sizeof path, "%s/proc/%d/task", s->root, (int)s->pid);
	dir = opendir(path);
	while (dir && !r && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			r = begin_thread(s, atoi(entry->d_name), now_ns);
	return r;
}

int thread_states_add(struct thread_states *s, const struct thread_moment *m)
{
	if (grow(&s->moments, &s->n_moments_allocated, s->n_moments + 1))
		return -ENOMEM;
	s->moments[s->n_moments++] = *m;
	return 0;
}

int thread_states_advance(struct thread_states *s, int64_t until_ns, struct sampled_process *to)
{
	int64_t length_ns = until_ns - s->advanced_ns;
	size_t n = 0;

	s->to = to;
	s->error = 0;
	if (s->n_moments)
		qsort(s->moments, s->n_moments, sizeof *s->moments, compare_moments);
	while (n < s->n_moments && s->moments[n].at_ns < until_ns)
		n++;
	s->leaves_out_short = (double)n * NS_PER_S > (double)MANY_MOMENTS_HZ * (double)length_ns;
	for (size_t i = 0; i < n; i++)
		apply(s, &s->moments[i]);
	s->n_moments -= n;
	memmove(s->moments, s->moments + n, s->n_moments * sizeof *s->moments);
	s->advanced_ns = until_ns;
	if (s->n_ended > MANY_ENDED && s->n_ended > s->n / 2)
		forget_ended(s);
	read_reasons(s, monotonic_ns());
	/* Names of threads are read while they live, so |to| knows them before their intervals. */
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].knowledge != KNOWN_ENDED && find_index(s, &s->v[i]) == UINT32_MAX)
			s->error = -ENOMEM;
	return s->error;
}

/* Adds what the thread does up to |until_ns|. */
static void show_thread(struct thread_states *s, struct watched_thread *t, int64_t until_ns)
{
	if (t->knowledge == KNOWN_READY)
		set_state(t, THREAD_RUNNING, t->since_ns);
	put_state(s, t, until_ns);
}

/* Does the same, and goes on from there. */
static void cut_thread(struct thread_states *s, struct watched_thread *t, int64_t until_ns)
{
	show_thread(s, t, until_ns);
	if (t->since_ns < until_ns)
		t->since_ns = until_ns;
	t->stack = STACKS_NONE;
	t->index = UINT32_MAX;
}

int thread_states_cut(struct thread_states *s, int64_t until_ns, struct sampled_process *to)
{
	if (s->advanced_ns < until_ns)
		until_ns = s->advanced_ns;
	s->to = to;
	s->error = 0;
	for (size_t i = 0; i < s->n; i++)
		cut_thread(s, &s->v[i], until_ns);
	for (size_t i = 0; i < s->n_moments; i++)
		s->moments[i].stack = STACKS_NONE;
	return s->error;
}

int thread_states_show(struct thread_states *s, int64_t until_ns, struct sampled_process *to)
{
	if (s->advanced_ns < until_ns)
		until_ns = s->advanced_ns;
	s->to = to;
	s->error = 0;
	for (size_t i = 0; i < s->n; i++) {
		struct watched_thread copy = s->v[i];

		show_thread(s, &copy, until_ns);
	}
	return s->error;
}

void thread_states_move(struct thread_states *s, struct samples_copy *c)
{
	for (size_t i = 0; i < s->n; i++) {
		uint32_t stack = s->v[i].knowledge == KNOWN_ENDED ? STACKS_NONE : s->v[i].stack;

		s->v[i].stack = samples_copy_take_stack(c, stack);
		s->v[i].index = UINT32_MAX;
	}
	for (size_t i = 0; i < s->n_moments; i++)
		s->moments[i].stack = samples_copy_take_stack(c, s->moments[i].stack);
}
