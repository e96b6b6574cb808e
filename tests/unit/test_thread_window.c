/* SPDX-License-Identifier: Apache-2.0 */
/* Tests finding the first start among a log's records; extra slots may look like records. */
#include "daemon/pipeline/drain/thread_window.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/pipeline/drain/thread_log.h"
#include "lib/wire/record.h"
#include "tests/unit/unit.h"

#define N_SLOTS 200u
#define EARLIEST UINT64_C(1000)
#define BEFORE UINT64_C(100000)

static struct slot slots[N_SLOTS + 32];
static struct era era = {0, EARLIEST, BEFORE + 10000};
static unsigned seed;

static unsigned pick(unsigned n)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 16) % n;
}

/*
 * Fills a log with entries that begin from |first| on. Extra slots, and the bytes behind the log,
 * would give earlier starts. Returns the first start.
 */
static uint64_t fill(struct thread_log *log, unsigned n_slots, uint64_t first)
{
	uint64_t earliest = BEFORE;

	memset(log, 0, sizeof *log);
	log->slots = slots;
	while (log->n_slots < n_slots) {
		unsigned left = n_slots - (unsigned)log->n_slots - 1;
		unsigned n_extra = pick(12) ? 0 : pick(left < 31 ? left + 1 : 32);
		uint64_t start = first + pick(5000);

		slots[log->n_slots].word[1] = record_word1(pick(50), 1);
		slots[log->n_slots++].word[0] = record_word0(start, RECORD_SPAN, 0, n_extra);
		earliest = start < earliest ? start : earliest;
		while (n_extra--)
			slots[log->n_slots++].word[0] = EARLIEST + pick(100);
	}
	for (size_t i = log->n_slots; i < N_SLOTS + 32; i++)
		slots[i].word[0] = EARLIEST;
	era.end = log->n_slots;
	log->eras = &era;
	log->n_eras = n_slots > 0;
	return earliest;
}

START_TEST(finds_the_first_start)
{
	struct thread_log log;

	seed = (unsigned)_i;
	for (unsigned n = 0; n < N_SLOTS; n++) {
		uint64_t first = fill(&log, n, 5000);

		ck_assert_uint_eq(thread_window_find_first(&log, 0, BEFORE), first);
	}
}
END_TEST

/* This is the log of a session, with records that ended at EARLIEST or later. */
START_TEST(finds_the_first_start_without_eras)
{
	struct thread_log log;
	uint64_t first;

	seed = (unsigned)_i;
	first = fill(&log, N_SLOTS, 5000);
	log.eras = NULL;
	log.n_eras = 0;
	ck_assert_uint_eq(thread_window_find_first(&log, EARLIEST, BEFORE), first);
}
END_TEST

/* The server stood still for a long time, in the middle of the log. */
START_TEST(passes_over_records_of_unknown_time)
{
	struct thread_log log;
	struct era eras[3];

	fill(&log, 60, 5000);
	eras[0] = (struct era){20, EARLIEST, BEFORE + 10000};
	eras[1] = (struct era){40, 0, UINT64_MAX};
	eras[2] = (struct era){60, EARLIEST, BEFORE + 10000};
	log.eras = eras;
	log.n_eras = 3;
	for (unsigned i = 0; i < 60; i++) {
		uint64_t start = i / 20 == 1 ? EARLIEST : 7000 + i;

		slots[i].word[0] = record_word0(start, RECORD_SPAN, 0, 0);
	}
	ck_assert_uint_eq(thread_window_find_first(&log, 0, BEFORE), 7000);
	slots[50].word[0] = record_word0(6000, RECORD_SPAN, 0, 0);
	ck_assert_uint_eq(thread_window_find_first(&log, 0, BEFORE), 6000);
}
END_TEST

START_TEST(is_never_later_than_said)
{
	struct thread_log log;

	fill(&log, N_SLOTS, BEFORE);
	ck_assert_uint_eq(thread_window_find_first(&log, 0, BEFORE), BEFORE);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_LOOP(finds_the_first_start, 20),
	UNIT_LOOP(finds_the_first_start_without_eras, 20),
	UNIT_TEST(passes_over_records_of_unknown_time),
	UNIT_TEST(is_never_later_than_said),
	{NULL},
};

UNIT_MAIN("thread_window", .tests = tests)
