/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the string table: it has one copy for each place in the source, and a string is complete
 * before its id can be seen.
 */
#include "lib/record/strings.h"

#include <check.h>
#include <errno.h>
#include <proftap/proftap.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/unit/guest_fixture.h"
#include "tests/unit/unit.h"

#define N_THREADS 4
#define N_TEXTS 500

static uint32_t used(void)
{
	return atomic_load(&fixture.arena->strings_used);
}

static bool is_out_of_memory;
static _Thread_local const char *populated;
static _Atomic unsigned n_populated;

/*
 * Replaces libc's madvise(). If the kernel has no free page, this fails, and
 * touching the page raises SIGBUS.
 */
int madvise(void *at, size_t n, int advice)
{
	if (advice == MADV_POPULATE_WRITE && is_out_of_memory) {
		errno = EFAULT;
		return -1;
	}
	n_populated += advice == MADV_POPULATE_WRITE;
	if (advice == MADV_POPULATE_WRITE)
		populated = (const char *)at + n;
	return (int)syscall(SYS_madvise, at, n, advice);
}

START_TEST(touches_no_page_that_cannot_be_had)
{
	uint32_t at = used();

	errno = 0;
	is_out_of_memory = true;
	ck_assert_uint_eq(fixture_add_string("lost"), STRING_ID_LOST);
	is_out_of_memory = false;
	ck_assert_int_eq(errno, 0);
	ck_assert_str_eq(fixture_string(at / 8), "");
	at = used();
	ck_assert_uint_eq(fixture_add_string("kept"), at / 8);
	ck_assert(populated >= arena_strings(fixture.arena) + used());
}
END_TEST

START_TEST(asks_for_memory_once_for_each_page)
{
	char text[32];

	n_populated = 0;
	for (int i = 0; i < N_TEXTS; i++) {
		snprintf(text, sizeof text, "name %d", i);
		ck_assert_uint_ne(fixture_add_string(text), STRING_ID_LOST);
		ck_assert(populated >= arena_strings(fixture.arena) + used());
	}
	ck_assert_uint_gt(used(), 4096);
	ck_assert_uint_eq(n_populated, (used() + 4095) / 4096);
}
END_TEST

/*
 * Other threads went on writing while one was at the end of a page, and one of them had
 * no memory for the next page.
 */
START_TEST(makes_up_for_pages_without_memory)
{
	fixture_add_string("first");
	is_out_of_memory = true;
	atomic_fetch_add(&fixture.arena->strings_used, 4096 - 64);
	for (int i = 0; i < 10; i++)
		fixture_add_string("behind the page");
	is_out_of_memory = false;
	atomic_fetch_add(&fixture.arena->strings_used, 2 * 4096);
	n_populated = 0;
	ck_assert_uint_ne(fixture_add_string("kept"), STRING_ID_LOST);
	ck_assert_uint_eq(n_populated, 1);
	ck_assert_uint_eq(atomic_load(&fixture.arena->strings_ready), (used() + 4095) & ~4095u);
}
END_TEST

START_TEST(registers_a_place_once)
{
	uint32_t before = used();

	fixture_start(1);
	for (int i = 0; i < 3; i++) {
		PTAP_SPAN("place");
	}
	ck_assert_uint_eq(used(), before + 16); /* 4 + 5 bytes, to a multiple of 8 */
	for (int i = 0; i < 3; i++)
		ck_assert_uint_eq(
			fixture_slot(0, (uint64_t)i)->word[1] >> RECORD_DURATION_BITS, before / 8);
	ck_assert_str_eq(fixture_string(before / 8), "place");
}
END_TEST

START_TEST(keeps_ids_in_later_captures)
{
	fixture_start(1);
	for (int i = 0; i < 2; i++) {
		uint32_t before = used();

		PTAP_INSTANT("again");
		ck_assert_uint_eq(used() > before, i == 0);
		fixture_start(1);
	}
	ck_assert_uint_eq(fixture_slot(0, 0)->word[1] >> RECORD_DURATION_BITS,
		fixture_slot(0, 1)->word[1] >> RECORD_DURATION_BITS);
}
END_TEST

START_TEST(cuts_long_names)
{
	char text[3000];
	uint32_t id;

	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	id = strings_append(fixture.arena, text);
	ck_assert_uint_eq(strlen(fixture_string(id)), STRING_MAX_BYTES);
	ck_assert_str_eq(fixture_string(id) + STRING_MAX_BYTES - 4, "x…");
	id = strings_append(fixture.arena, "");
	ck_assert_str_eq(fixture_string(id), "");
	ck_assert_uint_ne(id, 0);
}
END_TEST

struct registration {
	pthread_barrier_t *barrier;
	int number;
	uint32_t ids[N_TEXTS];
};

static void make_text(char *text, size_t size, int thread, int i)
{
	snprintf(text, size, "thread %d, text %d %.*s", thread, i, i % 40,
		"........................................");
}

static void *register_texts(void *p)
{
	struct registration *r = p;

	pthread_barrier_wait(r->barrier);
	for (int i = 0; i < N_TEXTS; i++) {
		char text[128];

		make_text(text, sizeof text, r->number, i);
		r->ids[i] = strings_append(fixture.arena, text);
	}
	return NULL;
}

START_TEST(keeps_texts_of_concurrent_threads_whole)
{
	static struct registration r[N_THREADS];
	pthread_barrier_t barrier;
	pthread_t threads[N_THREADS];

	pthread_barrier_init(&barrier, NULL, N_THREADS);
	for (int i = 0; i < N_THREADS; i++) {
		r[i].barrier = &barrier;
		r[i].number = i;
		ck_assert_int_eq(pthread_create(&threads[i], NULL, register_texts, &r[i]), 0);
	}
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < N_THREADS; i++) {
		for (int k = 0; k < N_TEXTS; k++) {
			char text[128];

			make_text(text, sizeof text, i, k);
			ck_assert_str_eq(fixture_string(r[i].ids[k]), text);
		}
	}
}
END_TEST

static struct ptap_impl_site shared_site = {0, {0}, "shared"};
static uint32_t shared_word;

static void *use_shared_site(void *barrier)
{
	pthread_barrier_wait(barrier);
	ptap_impl_instant(&shared_site, shared_word);
	return NULL;
}

START_TEST(lets_threads_register_the_same_place)
{
	pthread_barrier_t barrier;
	pthread_t threads[N_THREADS];

	shared_word = fixture_start(1);
	pthread_barrier_init(&barrier, NULL, N_THREADS);
	for (int i = 0; i < N_THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, use_shared_site, &barrier), 0);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	for (uint32_t i = 0; i < N_THREADS; i++) {
		ck_assert_uint_eq(fixture_head(i), 1);
		ck_assert_str_eq(fixture_name_of(fixture_slot(i, 0)), "shared");
	}
}
END_TEST

START_TEST(says_that_the_table_is_full_and_goes_on)
{
	char *guard = arena_strings(fixture.arena) + ARENA_STRINGS_BYTES;
	char text[STRING_MAX_BYTES + 1];
	uint32_t last;

	memset(text, 'y', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	while (strings_append(fixture.arena, text) != STRING_ID_LOST)
		ck_assert_uint_le(used(), ARENA_STRINGS_BYTES);
	while (strings_append(fixture.arena, "ab") != STRING_ID_LOST)
		;
	ck_assert_uint_eq(used(), ARENA_STRINGS_BYTES);
	last = ARENA_STRINGS_BYTES / 8 - 1;
	ck_assert_str_eq(fixture_string(last), "ab");
	for (int i = 0; i < 64; i++)
		ck_assert_int_eq(guard[i], 0);
	fixture_start(1);
	{
		PTAP_SPAN("too many");
	}
	{
		PTAP_SPAN_DYN("dynamic");
	}
	ck_assert_uint_eq(fixture_slot(0, 0)->word[1] >> RECORD_DURATION_BITS, STRING_ID_LOST);
	ck_assert_uint_eq(fixture_slot(0, 1)->word[1] >> RECORD_DURATION_BITS, STRING_ID_DYNAMIC);
	ck_assert_uint_eq(fixture_head(0), 3);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(touches_no_page_that_cannot_be_had),
	UNIT_TEST(asks_for_memory_once_for_each_page),
	UNIT_TEST(makes_up_for_pages_without_memory),
	UNIT_TEST(registers_a_place_once),
	UNIT_TEST(keeps_ids_in_later_captures),
	UNIT_TEST(cuts_long_names),
	UNIT_TEST(keeps_texts_of_concurrent_threads_whole),
	UNIT_TEST(lets_threads_register_the_same_place),
	UNIT_TEST(says_that_the_table_is_full_and_goes_on),
	{NULL},
};

UNIT_MAIN("strings", .set_up = fixture_open, .tear_down = fixture_close, .tests = tests)
