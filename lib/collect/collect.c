/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of the collectors; see collect.h. */
#include "lib/collect/collect.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/futex.h"
#include "lib/collect/life.h"
#include "lib/collect/plugin.h"
#include "lib/collect/run.h"
#include "lib/collect/services.h"
#include "lib/record/guest.h"
#include "lib/record/lock.h"

/* A vendor's library is loaded and works on it. */
#define STACK_BYTES (256u << 10)
#define POLL_INTERVAL_NS (100 * NS_PER_MS)
/* For the collectors of a capture before, of this server or of one that was stopped. */
#define TURN_NS (1500 * NS_PER_MS)
#define TURN_LOOK_NS (20 * NS_PER_MS)

/* One at a time in a process, under the lock; it is much for a stack. */
static struct collect_run the_run;
static struct recall the_recall;
static struct life lives[PLUGINS_MAX];
static unsigned n_lives;

static void wake_server(struct arena *arena)
{
	futex_wake(&arena->collect.state, INT_MAX);
	futex_wake(&arena->guest, 1);
}

static int move_state(
	struct arena *arena, enum arena_collect_state from, enum arena_collect_state to)
{
	uint32_t expected = from;
	int is_moved = atomic_compare_exchange_strong(&arena->collect.state, &expected, to);

	if (is_moved)
		wake_server(arena);
	return is_moved;
}

static void finish(struct arena *arena)
{
	atomic_store(&arena->collect.step, ARENA_COLLECT_NOWHERE);
	atomic_store(&arena->collect.state, ARENA_COLLECT_DONE);
	wake_server(arena);
}

/* --- a capture ----------------------------------------------------------------------------- */

/* Lines of the options become texts, an empty one behind them. The server's are whole; a line without an end is its last. */
static void copy_options(struct collect_run *run)
{
	const char *from = run->arena->collect.options;
	size_t n = strnlen(from, sizeof run->arena->collect.options);

	memset(run->options, 0, sizeof run->options);
	memcpy(run->options, from, n < sizeof run->options - 2 ? n : sizeof run->options - 2);
	for (char *c = run->options; *c; c++)
		if (*c == '\n')
			*c = '\0';
}

static void say_left_out(struct collect_run *run)
{
	unsigned n = plugins_count_left_out();
	char text[96];

	if (!n)
		return;
	snprintf(text, sizeof text,
		"PROFTAP_COLLECTOR names more than %u collectors; %u were left out",
		PLUGINS_MAX_NAMED, n);
	said_add(&run->said, NULL, text);
}

static void prepare(struct arena *arena)
{
	struct plugin *p;

	memset(&the_run, 0, sizeof the_run);
	the_run.arena = arena;
	the_run.said.to = &arena->collect;
	the_run.recall = &the_recall;
	recall_forget(&the_recall);
	copy_options(&the_run);
	say_left_out(&the_run);
	memset(lives, 0, sizeof lives);
	for (n_lives = 0; n_lives < PLUGINS_MAX && (p = plugins_get(n_lives)); n_lives++) {
		lives[n_lives].plugin = p;
		lives[n_lives].number = n_lives;
	}
}

/* Those that wait may begin; 1 when there is anybody who records or may. */
static int begin_all(struct collect_run *run)
{
	uint64_t was_running = (uint64_t)atomic_load(&run->arena->collect.running_since_ns);
	int any = 0;

	for (unsigned i = 0; i < n_lives && !collect_run_is_over(run); i++) {
		life_begin(&lives[i], run);
		any |= lives[i].stage != LIFE_OVER;
		if (lives[i].stage != LIFE_RECORDING || was_running)
			continue;
		was_running = 1;
		atomic_store(&run->arena->collect.running_since_ns, monotonic_ns_by_call());
	}
	return any;
}

static void poll_all(struct collect_run *run)
{
	for (unsigned i = 0; i < n_lives && !collect_run_is_over(run); i++)
		life_poll(&lives[i], run);
}

/* The server waits for it. */
static void flush_all(struct collect_run *run, uint32_t asked)
{
	for (unsigned i = 0; i < n_lives && !collect_run_is_over(run); i++)
		life_flush(&lives[i], run);
	run->handed_on = asked;
	atomic_store(&run->arena->collect.handed_on, asked);
	wake_server(run->arena);
}

static void hand_on(struct collect_run *run)
{
	uint32_t asked = atomic_load(&run->arena->collect.hand_on);

	recall_heed(run->recall, &run->outlet);
	if (asked != run->handed_on)
		flush_all(run, asked);
	else
		poll_all(run);
}

static void wait_for_turn(const struct collect_run *run)
{
	struct arena_collect *c = &run->arena->collect;

	if (atomic_load(&c->hand_on) == run->handed_on)
		futex_wait_until(&c->state, ARENA_COLLECT_RUNNING,
			monotonic_ns_by_call() + POLL_INTERVAL_NS);
}

static void end_all(struct collect_run *run)
{
	int64_t deadline_ns = monotonic_ns_by_call() + COLLECT_STOP_NS;

	for (unsigned i = 0; i < n_lives; i++)
		life_end(&lives[i], run, deadline_ns);
}

static void record(struct collect_run *run)
{
	if (!begin_all(run) || !move_state(run->arena, ARENA_COLLECT_TAKEN, ARENA_COLLECT_RUNNING))
		return;
	do {
		wait_for_turn(run);
		hand_on(run);
	} while (begin_all(run) && !collect_run_is_over(run) && !outlet_is_closed(run->arena));
}

static void serve(struct collect_run *run)
{
	if (outlet_open(&run->outlet, run->arena)) {
		said_add(&run->said, NULL,
			"there is no memory for their records, or too many threads have some");
		return;
	}
	services_serve(run);
	record(run);
	end_all(run);
	services_serve(NULL);
}

/* --- the thread ---------------------------------------------------------------------------- */

/* Those of a capture before have not come back yet, or never will. */
static int take_turn(struct arena *arena)
{
	_Atomic uint32_t *lock = &guest_get()->collect_lock;
	int64_t give_up = monotonic_ns_by_call() + TURN_NS;

	while (!lock_try(lock)) {
		if (monotonic_ns_by_call() >= give_up || outlet_is_closed(arena))
			return 0;
		futex_wait_until(lock, 1, monotonic_ns_by_call() + TURN_LOOK_NS);
	}
	return 1;
}

static void *collect_main(void *p)
{
	struct arena *arena = p;
	struct said said = {.to = &arena->collect};

	prctl(PR_SET_NAME, "ptap-collect");
	if (!move_state(arena, ARENA_COLLECT_ASKED, ARENA_COLLECT_TAKEN))
		return NULL;
	if (take_turn(arena)) {
		prepare(arena);
		serve(&the_run);
		lock_release(&guest_get()->collect_lock);
	} else {
		said_add(&said, NULL,
			"those of an earlier recording have not come back; restart the program to record devices");
	}
	finish(arena);
	return NULL;
}

static int create_thread(struct arena *arena, size_t stack_bytes)
{
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (stack_bytes)
		pthread_attr_setstacksize(&attr, stack_bytes);
	r = pthread_create(&thread, &attr, collect_main, arena);
	pthread_attr_destroy(&attr);
	return r;
}

void collect_start(struct arena *arena)
{
	struct said said = {.to = &arena->collect};
	char text[128];
	int r = create_thread(arena, STACK_BYTES);

	/* A host with much thread-local storage needs more than that. */
	if (r)
		r = create_thread(arena, 0);
	if (!r)
		return;
	snprintf(text, sizeof text, "no thread for them: %s; raise the limit on processes",
		errno_words(r));
	said_add(&said, NULL, text);
	move_state(arena, ARENA_COLLECT_ASKED, ARENA_COLLECT_DONE);
}
