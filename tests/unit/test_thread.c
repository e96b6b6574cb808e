/* SPDX-License-Identifier: Apache-2.0 */
/* Tests annotations by threads, forked children and signal handlers. */
#include "lib/record/thread.h"

#include <check.h>
#include <errno.h>
#include <proftap/proftap.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/unit.h"

static void setup(void)
{
	fixture_open();
	fixture_start(1);
}

static void *annotate(void *unused)
{
	PTAP_INSTANT("point");
	PTAP_INSTANT("another");
	return unused;
}

static void run_thread(void *(*f)(void *), void *argument)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, f, argument), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

START_TEST(gives_each_thread_its_own_ring)
{
	annotate(NULL);
	run_thread(annotate, NULL);
	for (uint32_t i = 0; i < 2; i++) {
		ck_assert_uint_eq(fixture_head(i), 2);
		ck_assert_uint_eq(atomic_load(&fixture.arena->ring_state[i]), RING_USED);
		ck_assert_uint_eq(fixture_ring(i)->slot_mask, FIXTURE_SLOTS - 1);
	}
	ck_assert_int_eq(atomic_load(&fixture_ring(0)->tid), getpid());
	ck_assert_int_ne(atomic_load(&fixture_ring(1)->tid), getpid());
	ck_assert_uint_eq(atomic_load(&fixture.arena->ring_state[2]), RING_FREE);
}
END_TEST

START_TEST(counts_records_of_threads_without_a_ring)
{
	atomic_store(&fixture.arena->rings_ready, 1);
	atomic_store(&fixture.arena->rings_allowed, 2);
	for (int i = 0; i < 4; i++)
		run_thread(annotate, NULL);
	ck_assert_uint_eq(atomic_load(&fixture.arena->lost_no_ring), 4);
	ck_assert_uint_eq(atomic_load(&fixture.arena->ring_state[1]), RING_USED);
	ck_assert_uint_eq(atomic_load(&fixture.arena->ring_state[2]), RING_FREE);
}
END_TEST

START_TEST(looks_for_a_ring_again_in_the_next_capture)
{
	atomic_store(&fixture.arena->rings_ready, 0);
	atomic_store(&fixture.arena->rings_allowed, 0);
	annotate(NULL);
	ck_assert_uint_eq(atomic_load(&fixture.arena->lost_no_ring), 2);
	atomic_store(&fixture.arena->rings_allowed, 1);
	annotate(NULL);
	ck_assert_uint_eq(atomic_load(&fixture.arena->lost_no_ring), 4);
	fixture_start(1);
	annotate(NULL);
	ck_assert_uint_eq(atomic_load(&fixture.arena->lost_no_ring), 4);
	ck_assert_uint_eq(fixture_head(0), 2);
}
END_TEST

static void *name_late(void *unused)
{
	PTAP_INSTANT("point");
	ptap_thread_name("named late");
	return unused;
}

static void *name_early(void *unused)
{
	ptap_thread_name("a name of more than thirty-one bytes");
	PTAP_INSTANT("point");
	return unused;
}

static void *name_by_system(void *unused)
{
	pthread_setname_np(pthread_self(), "system");
	PTAP_INSTANT("point");
	return unused;
}

START_TEST(names_rings_after_their_threads)
{
	run_thread(name_late, NULL);
	run_thread(name_early, NULL);
	run_thread(name_by_system, NULL);
	ck_assert_str_eq(ring_get_name(fixture_ring(0)), "named late");
	ck_assert_str_eq(ring_get_name(fixture_ring(1)), "a name of more than thirty-o…");
	ck_assert_str_eq(ring_get_name(fixture_ring(2)), "system");
}
END_TEST

static void *put_handle(void *handle)
{
	*(uint64_t *)handle = (uint64_t)pthread_self();
	PTAP_INSTANT("point");
	return NULL;
}

START_TEST(says_its_handle)
{
	uint64_t handle;

	run_thread(put_handle, &handle);
	ck_assert_uint_eq(atomic_load(&fixture_ring(0)->handle), handle);
}
END_TEST

static int child_sees_nothing(uint32_t word)
{
	if (ptap_enabled(1) || ptap_impl_word() != 0 || ptap_server_port() != 0)
		return 1;
	PTAP_INSTANT("child");
	PTAP_COUNTER("child", 1);
	PTAP_END();
	/* A thread that has no ring yet cannot record either, even with the parent's |word|. */
	memset(&thread_self, 0, sizeof thread_self);
	ptap_impl_instant_dyn("child", word);
	return 0;
}

START_TEST(records_nothing_in_a_forked_child)
{
	uint32_t word = ptap_impl_word();
	int status = -1;
	pid_t pid;

	ck_assert_int_eq(fixture_wipe_on_fork(), 0);
	{
		PTAP_SPAN("across");
		pid = fork();
		if (pid == 0)
			_exit(child_sees_nothing(word));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(fixture_head(0), 1);
	ck_assert_uint_eq(atomic_load(&fixture_ring(0)->depth), 0);
	ck_assert_uint_eq(atomic_load(&fixture.arena->lost_no_ring), 0);
	ck_assert_uint_eq(atomic_load(&fixture.arena->ring_state[1]), RING_FREE);
}
END_TEST

START_TEST(ends_no_span_of_its_parent_in_a_child)
{
	int status = -1;
	pid_t pid;

	ck_assert_int_eq(fixture_wipe_on_fork(), 0);
	{
		PTAP_SPAN("across");
		pid = fork();
	}
	if (pid == 0)
		_exit(0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_uint_eq(fixture_head(0), 1);
}
END_TEST

START_TEST(drops_annotations_that_interrupt_another)
{
	struct ring *ring = fixture_ring(0);
	struct ptap_impl_token token;
	static struct ptap_impl_site site = {0, {0}, "interrupted"};

	token = ptap_impl_begin(&site, ptap_impl_word());
	thread_self.idle = 0;
	{
		PTAP_SPAN("span");
		PTAP_SPAN_DYN("span");
		PTAP_SPAN_ARGS("span", PTAP_I("k", 1));
		PTAP_STEP("step", 1);
		PTAP_INSTANT("instant");
		PTAP_INSTANT_DYN("instant");
		PTAP_COUNTER("counter", 1);
		PTAP_COUNTER("counter", 1.5);
	}
	ck_assert_uint_eq(atomic_load(&ring->lost[LOSS_REENTRY]), 8);
	ptap_impl_end(token);
	ck_assert_uint_eq(atomic_load(&ring->lost[LOSS_REENTRY]), 9);
	ck_assert_uint_eq(atomic_load(&ring->head), 0);
	ck_assert_uint_eq(atomic_load(&ring->depth), 1);
	thread_self.idle = thread_get_idle_word(&thread_self);
	ptap_impl_end(token);
	ck_assert_uint_eq(atomic_load(&ring->head), 1);
}
END_TEST

static int n_interrupting;

/*
 * Replaces libc's prctl(): a thread reads its name on the way to its ring, where a
 * handler may annotate, too.
 */
int prctl(int option, ...)
{
	va_list ap;
	void *name;

	va_start(ap, option);
	name = va_arg(ap, void *);
	va_end(ap);
	while (n_interrupting > 0) {
		n_interrupting--;
		PTAP_INSTANT("in the handler");
	}
	return (int)syscall(SYS_prctl, option, name, 0, 0, 0);
}

START_TEST(counts_annotations_that_interrupt_the_claim_of_a_ring)
{
	const int n = 3 * FIXTURE_SLOTS;

	n_interrupting = n;
	PTAP_INSTANT("interrupted");
	ck_assert_uint_eq(fixture_head(0) + fixture_lost(0, LOSS_FULL) +
				  atomic_load(&fixture.arena->lost_no_ring),
		(unsigned)n + 1);
	ck_assert_uint_eq(atomic_load(&fixture.arena->ring_state[1]), RING_FREE);
}
END_TEST

static volatile uint64_t n_handled;
static struct ptap_impl_site work_site = {0, {0}, "work"};

static void annotate_in_handler(int signal)
{
	int saved = errno;
	(void)signal;
	n_handled++;
	{
		PTAP_SPAN_DYN("in the handler");
	}
	errno = saved;
}

static timer_t start_timer(void)
{
	struct sigaction action = {.sa_handler = annotate_in_handler, .sa_flags = SA_RESTART};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
	struct itimerspec often = {{0, 20000}, {0, 20000}};
	timer_t timer;

	ck_assert_int_eq(sigaction(SIGRTMIN, &action, NULL), 0);
	ck_assert_int_eq(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	ck_assert_int_eq(timer_settime(timer, 0, &often, NULL), 0);
	return timer;
}

struct tally {
	uint64_t at; /* the next slot to check */
	uint64_t n_spans;
	uint64_t n_handlers;
	uint64_t n_damaged;
};

static bool is_span(const struct slot *slot)
{
	return record_n_extra(slot->word[0]) == 0 && slot->word[1] >> RECORD_DURATION_BITS == 1;
}

static bool is_handler(const struct slot *slot, const struct slot *name, const struct slot *rest)
{
	return record_n_extra(slot->word[0]) == 2 &&
	       slot->word[1] >> RECORD_DURATION_BITS == STRING_ID_DYNAMIC &&
	       name->word[0] == slot_word0(0, SLOT_NAME, 14) &&
	       memcmp(&name->word[1], "in the h", 8) == 0 && memcmp(rest, "andler\0", 8) == 0;
}

/* Checks the records in the ring, and removes them. An assertion for each would take too long. */
static void check_records(struct tally *t)
{
	uint64_t head = fixture_head(0);

	while (t->at < head) {
		const struct slot *slot = fixture_slot(0, t->at);

		if (record_kind(slot->word[0]) != RECORD_SPAN)
			t->n_damaged++;
		else if (is_span(slot))
			t->n_spans++;
		else if (is_handler(slot, fixture_slot(0, t->at + 1), fixture_slot(0, t->at + 2)))
			t->n_handlers++;
		else
			t->n_damaged++;
		t->at += 1 + record_n_extra(slot->word[0]);
	}
	if (t->at != head)
		t->n_damaged++;
	atomic_store(&fixture_ring(0)->tail, head);
}

/* Every record is whole, and each missing one is counted. */
START_TEST(survives_a_storm_of_signals)
{
	struct ring *ring = fixture_ring(0);
	struct tally tally = {0, 0, 0, 0};
	uint64_t n_emitted = 0;
	int64_t end;
	timer_t timer;

	ck_assert_uint_eq(fixture_add_string("work"), 1);
	work_site.id = 1;
	PTAP_INSTANT_DYN("enters the capture");
	tally.at = atomic_load(&ring->head);
	timer = start_timer();
	end = monotonic_ns() + 300 * NS_PER_MS;
	while (monotonic_ns() < end || n_handled < 100) {
		for (int i = 0; i < 200; i++)
			ptap_impl_end(ptap_impl_begin(&work_site, ptap_impl_word()));
		n_emitted += 200;
		check_records(&tally);
	}
	timer_delete(timer);
	check_records(&tally);
	ck_assert_uint_eq(tally.n_damaged, 0);
	ck_assert_uint_eq(tally.n_spans + tally.n_handlers +
				  atomic_load(&ring->lost[LOSS_REENTRY]) +
				  atomic_load(&ring->lost[LOSS_FULL]) +
				  atomic_load(&fixture.arena->lost_no_ring),
		n_emitted + n_handled);
	ck_assert_uint_eq(atomic_load(&ring->depth), 0);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(gives_each_thread_its_own_ring),
	UNIT_TEST(counts_records_of_threads_without_a_ring),
	UNIT_TEST(looks_for_a_ring_again_in_the_next_capture),
	UNIT_TEST(names_rings_after_their_threads),
	UNIT_TEST(says_its_handle),
	UNIT_TEST(records_nothing_in_a_forked_child),
	UNIT_TEST(ends_no_span_of_its_parent_in_a_child),
	UNIT_TEST(drops_annotations_that_interrupt_another),
	UNIT_TEST(counts_annotations_that_interrupt_the_claim_of_a_ring),
	UNIT_TEST(survives_a_storm_of_signals),
	{NULL},
};

UNIT_MAIN("thread", .set_up = setup, .tear_down = fixture_close, .tests = tests)
