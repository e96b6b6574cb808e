/* SPDX-License-Identifier: Apache-2.0 */
/* The collectors' thread; see collect.h. */
#include "lib/collect/collect.h"

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/futex.h"
#include "lib/collect/collector.h"
#include "lib/collect/plugin.h"
#include "lib/collect/run.h"
#include "lib/record/guest.h"
#include "lib/wire/vendor.h"

/* bytes; a vendor's library is loaded and runs on this stack */
#define COLLECT_STACK_BYTES (256u << 10)
#define POLL_INTERVAL_NS (100 * NS_PER_MS)
/*
 * The longest wait for the collectors of an earlier capture, of this server or of a server that was
 * stopped.
 */
#define TURN_NS (1500 * NS_PER_MS)
#define TURN_POLL_NS (20 * NS_PER_MS)

/*
 * One run at a time in a process, under the lock. It is static because it is too large for a stack.
 */
static struct collect_run current_run;
static struct recall current_recall;
static struct collector collectors[COLLECTORS_MAX];
static unsigned n_collectors;

static void wake_server(struct arena *arena)
{
	futex_wake(&arena->collect.state, INT_MAX);
	futex_wake(&arena->guest, 1);
}

static bool move_state(
	struct arena *arena, enum arena_collect_state from, enum arena_collect_state to)
{
	uint32_t expected = from;
	bool is_moved = atomic_compare_exchange_strong(&arena->collect.state, &expected, to);

	if (is_moved)
		wake_server(arena);
	return is_moved;
}

static void finish_collection(struct arena *arena)
{
	atomic_store(&arena->collect.step, ARENA_COLLECT_NOWHERE);
	atomic_store(&arena->collect.state, ARENA_COLLECT_DONE);
	wake_server(arena);
}

/* --- a capture ----------------------------------------------------------------------------- */

/*
 * Splits the options' lines into strings, with an empty one behind them. The server writes whole
 * lines; a line without an end is the last one.
 */
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

static void warn_of_left_out_plugins(struct collect_run *run)
{
	unsigned n = plugins_count_left_out();
	char text[96];

	if (!n)
		return;
	snprintf(text, sizeof text,
		"PROFTAP_COLLECTOR names more than %u collectors; %u were left out",
		COLLECTORS_MAX_NAMED, n);
	collect_warn(&run->warnings, NULL, text);
}

static void prepare_run(struct arena *arena)
{
	struct plugin *p;

	memset(&current_run, 0, sizeof current_run);
	current_run.arena = arena;
	current_run.warnings.to = &arena->collect;
	current_run.recall = &current_recall;
	recall_forget(&current_recall);
	copy_options(&current_run);
	warn_of_left_out_plugins(&current_run);
	memset(collectors, 0, sizeof collectors);
	for (n_collectors = 0; n_collectors < COLLECTORS_MAX && (p = plugins_get(n_collectors));
		n_collectors++) {
		collectors[n_collectors].plugin = p;
		collectors[n_collectors].number = n_collectors;
	}
}

/*
 * Begins the collectors that wait, if they can. Returns whether any collector records or may still
 * begin.
 */
static bool begin_collectors(struct collect_run *run)
{
	uint64_t was_running = (uint64_t)atomic_load(&run->arena->collect.running_since_ns);
	bool any = false;

	for (unsigned i = 0; i < n_collectors && !collect_run_is_over(run); i++) {
		collector_begin(&collectors[i], run);
		any |= collectors[i].stage != COLLECTOR_OVER;
		if (collectors[i].stage != COLLECTOR_RECORDING || was_running)
			continue;
		was_running = 1;
		atomic_store(&run->arena->collect.running_since_ns, monotonic_ns_by_call());
	}
	return any;
}

static void poll_collectors(struct collect_run *run)
{
	for (unsigned i = 0; i < n_collectors && !collect_run_is_over(run); i++)
		collector_poll(&collectors[i], run);
}

/* Has the collectors write all complete records, and wakes the server, which waits for that. */
static void flush_collectors(struct collect_run *run, uint32_t asked)
{
	for (unsigned i = 0; i < n_collectors && !collect_run_is_over(run); i++)
		collector_flush(&collectors[i], run);
	run->handed_on = asked;
	atomic_store(&run->arena->collect.handed_on, asked);
	wake_server(run->arena);
}

static void hand_on_records(struct collect_run *run)
{
	uint32_t asked = atomic_load(&run->arena->collect.hand_on);

	recall_repeat_if_asked(run->recall, &run->outlet);
	if (asked != run->handed_on)
		flush_collectors(run, asked);
	else
		poll_collectors(run);
}

static void wait_for_poll(const struct collect_run *run)
{
	struct arena_collect *c = &run->arena->collect;

	if (atomic_load(&c->hand_on) == run->handed_on)
		futex_wait_until(&c->state, ARENA_COLLECT_RUNNING,
			monotonic_ns_by_call() + POLL_INTERVAL_NS);
}

static void end_collectors(struct collect_run *run)
{
	int64_t deadline_ns = monotonic_ns_by_call() + COLLECT_STOP_NS;

	for (unsigned i = 0; i < n_collectors; i++)
		collector_end(&collectors[i], run, deadline_ns);
}

static void record_devices(struct collect_run *run)
{
	if (!begin_collectors(run) ||
		!move_state(run->arena, ARENA_COLLECT_TAKEN, ARENA_COLLECT_RUNNING))
		return;
	do {
		wait_for_poll(run);
		hand_on_records(run);
	} while (begin_collectors(run) && !collect_run_is_over(run) &&
		 !outlet_is_closed(run->arena));
}

static void serve_run(struct collect_run *run)
{
	if (outlet_open(&run->outlet, run->arena)) {
		collect_warn(&run->warnings, NULL,
			"there is no memory for the collectors' records, or too many "
			"threads have rings");
		return;
	}
	services_serve(run);
	record_devices(run);
	end_collectors(run);
	services_serve(NULL);
}

/* --- the thread ---------------------------------------------------------------------------- */

/*
 * Waits, for TURN_NS at most, until no other capture uses the collectors: those of an earlier
 * capture may never return.
 */
static bool take_turn(struct arena *arena)
{
	_Atomic uint32_t *lock = &guest_get()->collect_lock;
	int64_t give_up = monotonic_ns_by_call() + TURN_NS;

	while (!lock_try(lock)) {
		if (monotonic_ns_by_call() >= give_up || outlet_is_closed(arena))
			return false;
		futex_wait_until(lock, 1, monotonic_ns_by_call() + TURN_POLL_NS);
	}
	return true;
}

static void *collect_main(void *p)
{
	struct arena *arena = p;
	struct collect_warnings warnings = {.to = &arena->collect};

	prctl(PR_SET_NAME, "ptap-collect");
	if (!move_state(arena, ARENA_COLLECT_ASKED, ARENA_COLLECT_TAKEN))
		return NULL;
	if (take_turn(arena)) {
		prepare_run(arena);
		serve_run(&current_run);
		lock_release(&guest_get()->collect_lock);
	} else {
		collect_warn(&warnings, NULL,
			"the collectors of an earlier recording have not returned; restart the "
			"program to record devices");
	}
	finish_collection(arena);
	return NULL;
}

static int create_collect_thread(struct arena *arena, size_t stack_bytes)
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
	struct collect_warnings warnings = {.to = &arena->collect};
	char text[128];
	int r = create_collect_thread(arena, COLLECT_STACK_BYTES);

	/* A program with much thread-local storage needs a larger stack: the default. */
	if (r)
		r = create_collect_thread(arena, 0);
	if (!r)
		return;
	snprintf(text, sizeof text,
		"no thread for the collectors: %s; raise the limit on processes", errno_words(r));
	collect_warn(&warnings, NULL, text);
	move_state(arena, ARENA_COLLECT_ASKED, ARENA_COLLECT_DONE);
}
