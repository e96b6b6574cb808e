/* SPDX-License-Identifier: Apache-2.0 */
/* Tests ptap_snapshot(): the request in the arena, and the result for the program. */
#define PTAP_IMPL_BUILDING
#include <check.h>
#include <errno.h>
#include <proftap/proftap.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/futex.h"
#include "lib/record/guest.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/unit.h"

#define GUEST_TID 4242u
#define PATIENCE_NS (10 * NS_PER_S)

static void expect_failure(int error, const char *words)
{
	ck_assert_int_eq(ptap_snapshot("why"), error);
	ck_assert_msg(strstr(ptap_last_error(), words), "%s", ptap_last_error());
}

static struct arena_snapshot *get_snapshot(void)
{
	return &fixture.arena->snapshot;
}

static uint32_t get_state(void)
{
	return arena_snapshot_state(atomic_load(&get_snapshot()->word));
}

static const char *get_why(void)
{
	return get_snapshot()->why[arena_snapshot_text(atomic_load(&get_snapshot()->word))];
}

/* The server's step when the run is written. */
static void finish(void)
{
	atomic_store(&get_snapshot()->word,
		arena_snapshot_next(atomic_load(&get_snapshot()->word), ARENA_SNAPSHOT_NONE));
}

static uint64_t now_ms(void)
{
	return (uint64_t)(monotonic_ns() / NS_PER_MS);
}

START_TEST(hands_the_reason_over)
{
	ck_assert_int_eq(ptap_snapshot("slow query"), 0);
	ck_assert_uint_eq(get_state(), ARENA_SNAPSHOT_ASKED);
	ck_assert_str_eq(get_why(), "slow query");
}
END_TEST

START_TEST(needs_no_reason)
{
	ck_assert_int_eq(ptap_snapshot(NULL), 0);
	ck_assert_str_eq(get_why(), "");
}
END_TEST

START_TEST(cuts_a_long_reason)
{
	char why[300];

	memset(why, 'w', sizeof why);
	why[sizeof why - 1] = '\0';
	ck_assert_int_eq(ptap_snapshot(why), 0);
	strcpy(&why[127 - strlen("…")], "…");
	ck_assert_str_eq(get_why(), why);
}
END_TEST

START_TEST(a_second_request_is_busy)
{
	static const uint32_t taken[] = {
		ARENA_SNAPSHOT_FILLING, ARENA_SNAPSHOT_ASKED, ARENA_SNAPSHOT_TAKEN};

	for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
		uint32_t word = arena_snapshot_next(arena_snapshot_fill(0, now_ms()), taken[i]);

		atomic_store(&get_snapshot()->word, word);
		expect_failure(PTAP_ERR_BUSY, "still being written");
		ck_assert_uint_eq(atomic_load(&get_snapshot()->word), word);
	}
	finish();
	ck_assert_int_eq(ptap_snapshot("again"), 0);
}
END_TEST

/* Only an incomplete request can become stale; a complete one is the server's. */
START_TEST(a_filling_has_its_time)
{
	uint64_t now = now_ms();
	uint32_t word = arena_snapshot_fill(0, now);

	ck_assert_int_eq(arena_snapshot_is_stale(word, now), 0);
	ck_assert_int_eq(arena_snapshot_is_stale(word, now + ARENA_SNAPSHOT_FILLING_MS), 0);
	ck_assert_int_eq(arena_snapshot_is_stale(word, now + ARENA_SNAPSHOT_FILLING_MS + 1), 1);
	word = arena_snapshot_fill(0, UINT32_MAX >> 4);
	ck_assert_int_eq(arena_snapshot_is_stale(word, (UINT32_MAX >> 4) + UINT64_C(2)), 0);
	word = arena_snapshot_next(word, ARENA_SNAPSHOT_ASKED);
	ck_assert_int_eq(arena_snapshot_is_stale(word, now), 0);
}
END_TEST

START_TEST(each_filling_has_another_text)
{
	uint32_t before = arena_snapshot_text(atomic_load(&get_snapshot()->word));

	for (uint32_t i = 1; i <= ARENA_SNAPSHOT_TEXTS; i++) {
		ck_assert_int_eq(ptap_snapshot("why"), 0);
		ck_assert_uint_eq(arena_snapshot_text(atomic_load(&get_snapshot()->word)),
			(before + i) % ARENA_SNAPSHOT_TEXTS);
		finish();
	}
}
END_TEST

/* Forks a child that is stopped while it fills the request, between two instructions. */
static pid_t stop_one_that_fills(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		ptap_snapshot("late");
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSTOPPED(status));
	while (get_state() != ARENA_SNAPSHOT_FILLING) {
		ck_assert_int_eq(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert(WIFSTOPPED(status));
	}
	return pid;
}

/* Until the request is accepted, the child may continue. */
static void ask_until_it_is_taken(const char *why)
{
	int64_t give_up = monotonic_ns() + PATIENCE_NS;
	int r;

	while ((r = ptap_snapshot(why)) == PTAP_ERR_BUSY && monotonic_ns() < give_up)
		usleep(10000);
	ck_assert_int_eq(r, 0);
}

START_TEST(a_process_killed_in_mid_request_keeps_nobody_out)
{
	pid_t pid = stop_one_that_fills();

	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ask_until_it_is_taken("next");
	ck_assert_uint_eq(get_state(), ARENA_SNAPSHOT_ASKED);
	ck_assert_str_eq(get_why(), "next");
}
END_TEST

START_TEST(a_process_stopped_in_mid_request_spoils_nothing)
{
	pid_t pid = stop_one_that_fills();
	uint32_t word;

	ask_until_it_is_taken("next");
	word = atomic_load(&get_snapshot()->word);
	ck_assert_int_eq(ptrace(PTRACE_DETACH, pid, NULL, NULL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_uint_eq(atomic_load(&get_snapshot()->word), word);
	ck_assert_str_eq(get_why(), "next");
}
END_TEST

static sigjmp_buf back;

static void jump(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

/* The fault comes before the text occupies the place of the request. */
START_TEST(a_text_that_cannot_be_read_leaves_nothing)
{
	char *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(nowhere, MAP_FAILED);
	signal(SIGSEGV, jump);
	if (sigsetjmp(back, 1) == 0)
		ptap_snapshot(nowhere);
	signal(SIGSEGV, SIG_DFL);
	ck_assert_int_eq(ptap_snapshot("why"), 0);
}
END_TEST

START_TEST(says_that_no_recorder_runs)
{
	atomic_store(&fixture.arena->recorder_is_on, 0);
	expect_failure(PTAP_ERR_NODATA, "PROFTAP_RECORDER=1");
	ck_assert_uint_eq(get_state(), ARENA_SNAPSHOT_NONE);
}
END_TEST

/* The server has died, or has never run. */
START_TEST(says_that_no_server_runs)
{
	atomic_store(&guest_get()->is_serving, 0);
	expect_failure(PTAP_ERR_NODATA, "PROFTAP_RECORDER=1");
}
END_TEST

START_TEST(says_that_there_is_no_directory)
{
	fixture.arena->log_dir[0] = '\0';
	expect_failure(PTAP_ERR_NOTSUP, ".log_dir");
	ck_assert_uint_eq(get_state(), ARENA_SNAPSHOT_NONE);
}
END_TEST

static _Atomic int server_tid;

static void *sleep_as_server(void *unused)
{
	const int64_t deadline_ns = monotonic_ns() + PATIENCE_NS;

	atomic_store(&server_tid, (int)syscall(SYS_gettid));
	while (get_state() != ARENA_SNAPSHOT_ASKED && monotonic_ns() < deadline_ns)
		futex_wait_until(&fixture.arena->guest, GUEST_TID, deadline_ns);
	return unused;
}

/* The state follows the name, which is in parentheses. */
static char read_state(int tid)
{
	char path[64];
	char text[128] = "";
	char *name_end;
	FILE *f;

	snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
	f = fopen(path, "r");
	if (f)
		text[fread(text, 1, sizeof text - 1, f)] = '\0';
	if (f)
		fclose(f);
	name_end = strrchr(text, ')');
	return name_end ? name_end[2] : '?';
}

/* The server must be woken before its own deadline. */
START_TEST(wakes_the_server)
{
	int64_t before_ns = monotonic_ns();
	pthread_t server;

	atomic_store(&fixture.arena->guest, GUEST_TID);
	ck_assert_int_eq(pthread_create(&server, NULL, sleep_as_server, NULL), 0);
	while (!atomic_load(&server_tid) || read_state(atomic_load(&server_tid)) != 'S')
		usleep(1000);
	ck_assert_int_eq(ptap_snapshot("now"), 0);
	pthread_join(server, NULL);
	ck_assert_int_lt(monotonic_ns() - before_ns, PATIENCE_NS);
}
END_TEST

static void set_up(void)
{
	fixture_open();
	snprintf(fixture.arena->log_dir, sizeof fixture.arena->log_dir, "/tmp");
	atomic_store(&fixture.arena->recorder_is_on, 1);
	atomic_store(&guest_get()->is_serving, 1);
}

/* The first answer after a failure reports it, even if the newer run is written. */
START_TEST(a_failed_run_is_reported_at_the_next_request)
{
	ck_assert_int_eq(ptap_snapshot("first"), 0);
	atomic_store(&get_snapshot()->trouble, -ENOSPC);
	expect_failure(PTAP_ERR_BUSY, "still being written");
	finish();
	expect_failure(PTAP_ERR_NOSPC, fixture.arena->log_dir);
	ck_assert_uint_eq(get_state(), ARENA_SNAPSHOT_ASKED);
	ck_assert_str_eq(get_why(), "why");
	finish();
	atomic_store(&get_snapshot()->trouble, 0);
	ck_assert_int_eq(ptap_snapshot("again"), 0);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(hands_the_reason_over),
	UNIT_TEST(a_failed_run_is_reported_at_the_next_request),
	UNIT_TEST(needs_no_reason),
	UNIT_TEST(cuts_a_long_reason),
	UNIT_TEST(a_second_request_is_busy),
	UNIT_TEST(a_filling_has_its_time),
	UNIT_TEST(each_filling_has_another_text),
	UNIT_TEST(a_process_killed_in_mid_request_keeps_nobody_out),
	UNIT_TEST(a_process_stopped_in_mid_request_spoils_nothing),
	UNIT_TEST(a_text_that_cannot_be_read_leaves_nothing),
	UNIT_TEST(says_that_no_recorder_runs),
	UNIT_TEST(says_that_no_server_runs),
	UNIT_TEST(says_that_there_is_no_directory),
	UNIT_TEST(wakes_the_server),
	{NULL},
};

UNIT_MAIN("snapshot_request", .set_up = set_up, .tear_down = fixture_close, .timeout_s = 30,
	.tests = tests)
