/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the rights with which a run of the flight recorder is written: those of the program, or, if
 * it has ended or is ending, those at the last check. Linked with -Wl,--wrap=rights_check.
 */
#include "daemon/serve/session/recorder_run.h"

#include <check.h>
#include <errno.h>
#include <ftw.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/chunks.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/session/repository.h"
#include "daemon/target/rights.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/unit.h"

static char root[64];
static struct repository repository;
static struct recorder_run run;

/* The result of the check, and whether the program dies in the middle of it. */
static int found;
static bool dies;
static int n_looks;

static void die(void)
{
	atomic_store(&fixture.arena->guest, FUTEX_OWNER_DIED);
}

int __wrap_rights_check(const char *at, pid_t pid, struct diag *d);
int __wrap_rights_check(const char *at, pid_t pid, struct diag *d)
{
	(void)at;
	(void)pid;
	n_looks++;
	if (dies)
		die();
	return found ? diag_set(d, found, "it has changed them") : 0;
}

static void note_rights(int r, bool is_last)
{
	found = r;
	dies = is_last;
	recorder_run_note_rights(&run);
}

/* Writes a run of one byte. */
static void write_run(void)
{
	struct capture_result result = {.is_empty = 0};
	struct chunks chunks = CHUNKS_INIT;
	struct diag d = DIAG_INIT;

	chunks_append(&chunks, "x", 1);
	ck_assert_int_eq(delivery_new_from_chunks(&chunks, &result.delivery), 0);
	recorder_run_deliver(&run, 0, &result, &d);
}

static void write_nothing(void)
{
	struct capture_result result = {.is_empty = 1};
	struct diag d = DIAG_INIT;

	recorder_run_deliver(&run, 0, &result, &d);
}

static int n_files;

static int count_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)path;
	(void)st;
	(void)ftw;
	n_files += type == FTW_F;
	return 0;
}

/* Counts the root itself, too. */
static int count_all(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	count_one(path, st, FTW_F, ftw);
	return type == FTW_NS;
}

static void expect_outcome(int r)
{
	n_files = 0;
	nftw(root, count_one, 8, FTW_PHYS);
	ck_assert_int_eq(run.outcome, r);
	ck_assert_int_eq(n_files, r == 0);
}

START_TEST(a_program_that_lives_is_asked)
{
	note_rights(-EACCES, false);
	found = 0;
	write_run();
	expect_outcome(0);
}
END_TEST

START_TEST(live_program_that_gave_up_its_rights_writes_no_run)
{
	note_rights(0, false);
	found = -EACCES;
	write_run();
	expect_outcome(-EACCES);
}
END_TEST

START_TEST(last_check_of_a_dead_program_counts)
{
	note_rights(_i ? -EACCES : 0, false);
	die();
	n_looks = 0;
	found = _i ? 0 : -EACCES;
	write_run();
	ck_assert_int_eq(n_looks, 0);
	expect_outcome(_i ? -EACCES : 0);
}
END_TEST

/* An ending process shows nothing, which could be taken for fewer rights. */
START_TEST(a_check_during_the_programs_death_does_not_count)
{
	note_rights(0, false);
	note_rights(-EACCES, true);
	write_run();
	expect_outcome(0);
}
END_TEST

START_TEST(death_right_before_the_run_does_not_matter)
{
	note_rights(0, false);
	found = -EACCES;
	dies = true;
	write_run();
	ck_assert_int_eq(n_looks, 2);
	expect_outcome(0);
}
END_TEST

START_TEST(rights_given_up_before_are_not_regained)
{
	note_rights(-EACCES, false);
	note_rights(_i ? 0 : -EACCES, true);
	write_run();
	expect_outcome(-EACCES);
}
END_TEST

static void expect_trouble(int r, const char *words)
{
	ck_assert_int_eq(atomic_load(&fixture.arena->snapshot.trouble), r);
	if (r)
		ck_assert_msg(strstr(run.trouble, words), "%s", run.trouble);
	else
		ck_assert_str_eq(run.trouble, "");
}

/* A directory cannot be made below a file. */
static void spoil_place(void)
{
	snprintf(repository.log_dir, sizeof repository.log_dir, "/dev/null/logs");
}

START_TEST(a_place_that_cannot_be_used_is_known_at_once)
{
	struct diag d = DIAG_INIT;

	ck_assert_int_eq(recorder_run_try(&run, &d), 0);
	expect_trouble(0, "");
	spoil_place();
	ck_assert_int_eq(recorder_run_try(&run, &d), -EIO);
	expect_trouble(-EIO, "/dev/null");
	found = -EACCES;
	ck_assert_int_eq(recorder_run_try(&run, &d), -EACCES);
	expect_trouble(-EACCES, "it has changed them");
	n_files = 0;
	nftw(root, count_all, 8, FTW_PHYS);
	ck_assert_int_eq(n_files, 1);
}
END_TEST

START_TEST(a_run_that_was_not_written_is_trouble_until_one_is)
{
	char place[sizeof repository.log_dir];

	memcpy(place, repository.log_dir, sizeof place);
	spoil_place();
	write_run();
	expect_trouble(-EIO, "/dev/null");
	memcpy(repository.log_dir, place, sizeof place);
	write_nothing();
	expect_trouble(-EIO, "/dev/null");
	write_run();
	expect_trouble(0, "");
	expect_outcome(0);
}
END_TEST

static void set_up(void)
{
	fixture_open();
	atomic_store(&fixture.arena->guest, 4242);
	snprintf(root, sizeof root, "/tmp/test_recorder_run-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	repository_name(&repository, root, sizeof root, getpid());
	recorder_run_init(&run, &fixture.target, &repository);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void tear_down(void)
{
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	fixture_close();
}

static const struct unit_test tests[] = {
	UNIT_TEST(a_program_that_lives_is_asked),
	UNIT_TEST(a_place_that_cannot_be_used_is_known_at_once),
	UNIT_TEST(a_run_that_was_not_written_is_trouble_until_one_is),
	UNIT_TEST(live_program_that_gave_up_its_rights_writes_no_run),
	UNIT_LOOP(last_check_of_a_dead_program_counts, 2),
	UNIT_TEST(a_check_during_the_programs_death_does_not_count),
	UNIT_TEST(death_right_before_the_run_does_not_matter),
	UNIT_LOOP(rights_given_up_before_are_not_regained, 2),
	{NULL},
};

UNIT_MAIN("recorder_run", .set_up = set_up, .tear_down = tear_down, .tests = tests)
