/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the page with the library's state: in forked children, and when a server is replaced. */
#define PTAP_IMPL_BUILDING
#include "lib/record/guest.h"

#include <check.h>
#include <errno.h>
#include <proftap/proftap.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/record/strings.h"
#include "lib/record/thread.h"
#include "tests/unit/unit.h"

/*
 * Forked children get a wiped page even in a program that never started a server: nothing but
 * guest_lock() has asked for that here.
 */
START_TEST(forked_children_find_no_lock_taken)
{
	struct guest *guest = guest_get();
	int status = -1;
	pid_t pid;

	guest_lock(&guest->lock);
	guest_lock(&guest->error_lock);
	pid = fork();
	if (pid == 0)
		_exit(!lock_try(&guest->lock) || !lock_try(&guest->error_lock));
	lock_release(&guest->error_lock);
	lock_release(&guest->lock);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

static char *name;
static struct arena *arenas[2];

/* Makes an arena with one ring, which is ready. */
static struct arena *make_arena(uint32_t ring_bytes)
{
	struct arena *arena = mmap(NULL, arena_size_bytes(1, ring_bytes), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(arena, MAP_FAILED);
	arena->n_rings = 1;
	arena->ring_bytes = ring_bytes;
	atomic_store(&arena->rings_ready, 1);
	atomic_store(&arena->strings_used, 8);
	return arena;
}

/* Replaces the server while a thread is about to register a name. */
static void replace_server(int signal)
{
	(void)signal;
	guest_get()->arena = arenas[1];
	strings_append(arenas[1], "another place");
	mprotect(name, 4096, PROT_READ | PROT_WRITE);
}

START_TEST(sites_keep_no_id_of_a_server_that_was_replaced)
{
	const struct sigaction action = {.sa_handler = replace_server};
	uint32_t id = 0;

	for (int i = 0; i < 2; i++)
		arenas[i] = make_arena(ARENA_MIN_RING_BYTES);
	guest_get()->arena = thread_self.arena = arenas[0];
	name = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(name, MAP_FAILED);
	strcpy(name, "a place");
	ck_assert_int_eq(mprotect(name, 4096, PROT_NONE), 0);
	ck_assert_int_eq(sigaction(SIGSEGV, &action, NULL), 0);
	site_register(&id, name);
	ck_assert_uint_eq(id, 0);
	ck_assert_str_eq(arena_strings(arenas[0]) + 8 + sizeof id, "a place");
	thread_self.arena = arenas[1];
	site_register(&id, name);
	ck_assert_str_eq(arena_strings(arenas[1]) + id * 8 + sizeof id, "a place");
}
END_TEST

static bool is_late;

/*
 * Replaces libc's prctl(), by which a thread on the way to its ring finds out whether it may read
 * the time stamp counter.
 */
int prctl(int option, ...)
{
	va_list ap;
	void *argument;

	va_start(ap, option);
	argument = va_arg(ap, void *);
	va_end(ap);
	if (option == PR_GET_TSC && is_late) {
		is_late = false;
		atomic_store(&guest_get()->word, 0);
		guest_get()->arena = arenas[1];
	}
	if (option != PR_GET_TSC)
		return (int)syscall(SYS_prctl, option, argument, 0, 0, 0);
	/* PR_GET_TSC fails like this on a processor without a time stamp counter. */
	errno = EINVAL;
	return -1;
}

START_TEST(a_late_thread_enters_nothing_of_the_next_server)
{
	const uint32_t word = guest_next_word(1);

	for (uint32_t i = 0; i < 2; i++)
		arenas[i] = make_arena(ARENA_MIN_RING_BYTES << i);
	guest_get()->arena = arenas[0];
	atomic_store(&guest_get()->clock, ARENA_CLOCK_TICKS);
	atomic_store(&guest_get()->word, word);
	is_late = true;
	ck_assert_ptr_null(thread_enter(&thread_self, word));
	ck_assert(!is_late);
	ck_assert_uint_eq(atomic_load(&arenas[0]->lost_no_ring), 0);
	ck_assert_uint_eq(atomic_load(&arenas[1]->lost_no_ring), 0);
	ck_assert_uint_eq(atomic_load(&arenas[1]->ring_state[0]), RING_FREE);
}
END_TEST

START_TEST(entering_a_capture_leaves_errno_alone)
{
	const uint32_t word = guest_next_word(1);

	guest_get()->arena = make_arena(ARENA_MIN_RING_BYTES);
	atomic_store(&guest_get()->clock, ARENA_CLOCK_TICKS);
	atomic_store(&guest_get()->word, word);
	errno = ENOENT;
	ck_assert_ptr_nonnull(thread_enter(&thread_self, word));
	ck_assert_int_eq(errno, ENOENT);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(forked_children_find_no_lock_taken),
	UNIT_TEST(sites_keep_no_id_of_a_server_that_was_replaced),
	UNIT_TEST(a_late_thread_enters_nothing_of_the_next_server),
	UNIT_TEST(entering_a_capture_leaves_errno_alone),
	{NULL},
};

UNIT_MAIN("guest", .tests = tests)
