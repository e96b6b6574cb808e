/* SPDX-License-Identifier: Apache-2.0 */
/* Tests how long a dead program's data is held, and how often the hold is checked. */
#include "daemon/serve/session/hold.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/kernel/socket_file.h"
#include "daemon/target/target.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/unit.h"

#define BEGIN_NS (77 * NS_PER_S)
#define END_NS (BEGIN_NS + 300 * NS_PER_S)

static struct target target; /* its ending is unknown */
static struct socket_file way;
static struct hold hold;

static void make_way(struct socket_file *f, const char *name)
{
	fake_root_write(name, "");
	snprintf(f->path, sizeof f->path, "%s%s", fake_root, name);
	socket_file_note(f);
}

static void set_up(void)
{
	fake_root_make();
	make_way(&way, "/42.sock");
	hold_init(&hold, &target, &way, 0, BEGIN_NS);
}

static void tear_down(void)
{
	hold_deinit(&hold);
	fake_root_remove();
}

START_TEST(hold_lasts_five_minutes)
{
	ck_assert_int_eq(hold_is_over(&hold, BEGIN_NS), 0);
	ck_assert_int_eq(hold_is_over(&hold, END_NS - 1), 0);
	ck_assert_int_eq(hold_is_over(&hold, END_NS), 1);
}
END_TEST

START_TEST(hold_lasts_while_its_socket_exists)
{
	unlink(way.path);
	ck_assert_int_eq(hold_is_over(&hold, BEGIN_NS), 1);
	hold_init(&hold, &target, NULL, 0, BEGIN_NS);
	ck_assert_int_eq(hold_is_over(&hold, BEGIN_NS), 1);
}
END_TEST

START_TEST(looks_are_ever_more_seldom_until_the_end)
{
	int64_t at_ns = BEGIN_NS;
	int64_t last_ns = 0;

	while (at_ns < END_NS) {
		int64_t due_ns = hold_get_due(&hold, at_ns);

		ck_assert_int_gt(due_ns, at_ns);
		ck_assert_int_le(due_ns - at_ns, NS_PER_S);
		ck_assert(due_ns - at_ns >= last_ns || due_ns == END_NS);
		last_ns = due_ns - at_ns;
		at_ns = due_ns;
	}
	ck_assert_int_eq(at_ns, END_NS);
}
END_TEST

START_TEST(the_first_look_is_soon)
{
	ck_assert_int_eq(hold_get_due(&hold, BEGIN_NS), BEGIN_NS + 10 * NS_PER_MS);
}
END_TEST

/* Marks. */

/* Makes the mark of the |i|th of several programs that ended one after the other. */
static void mark(struct hold_mark *m, unsigned i, const char *name)
{
	const struct timespec times[2] = {{.tv_sec = i}, {.tv_sec = i}};
	struct socket_file at;
	char file[32];

	snprintf(file, sizeof file, "/%u.sock", 100 + i);
	make_way(&at, file);
	hold_mark_make(m, &at, name);
	ck_assert_int_eq(hold_mark_is_gone(m), 0);
	ck_assert_int_eq(utimensat(AT_FDCWD, m->file.path, times, 0), 0);
}

#define N_MARKS 20u

START_TEST(last_four_of_one_name_are_held)
{
	struct hold_mark marks[N_MARKS];
	struct hold_mark other;

	hold_deinit(&hold);
	mark(&other, 0, "other");
	for (unsigned i = 0; i < N_MARKS; i++)
		mark(&marks[i], 1 + i, "name");
	for (unsigned i = 0; i < N_MARKS; i++)
		ck_assert_msg(hold_mark_is_gone(&marks[i]) == (i < N_MARKS - 4), "%u", i);
	ck_assert_int_eq(hold_mark_is_gone(&other), 0);
}
END_TEST

START_TEST(last_sixteen_of_all_are_held)
{
	struct hold_mark marks[N_MARKS];
	char name[16];

	hold_deinit(&hold);
	for (unsigned i = 0; i < N_MARKS; i++) {
		snprintf(name, sizeof name, "name %u", i);
		mark(&marks[i], i, name);
	}
	for (unsigned i = 0; i < N_MARKS; i++)
		ck_assert_msg(hold_mark_is_gone(&marks[i]) == (i < N_MARKS - 16), "%u", i);
}
END_TEST

START_TEST(a_hold_that_has_lost_its_place_is_over)
{
	ck_assert_int_eq(hold_is_over(&hold, BEGIN_NS), 0);
	ck_assert_int_eq(unlink(hold.mark.file.path), 0);
	ck_assert_int_eq(hold_is_over(&hold, BEGIN_NS), 1);
}
END_TEST

START_TEST(a_hold_removes_its_own_mark_only)
{
	char path[sizeof hold.mark.file.path];
	struct hold_mark later;

	snprintf(path, sizeof path, "%s", hold.mark.file.path);
	ck_assert_int_eq(access(path, F_OK), 0);
	/* This is the mark of a later program with the same pid. */
	hold_mark_make(&later, &way, "later");
	hold_deinit(&hold);
	ck_assert_int_eq(access(path, F_OK), 0);
	hold_mark_remove(&later);
	ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

START_TEST(trace_without_a_mark_is_held)
{
	struct socket_file nowhere = {.path = "/nowhere/at/all/42.sock"};
	struct hold_mark m;

	hold_mark_make(&m, &nowhere, "name");
	ck_assert_int_eq(hold_mark_is_gone(&m), 0);
	hold_mark_remove(&m);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(hold_lasts_five_minutes),
	UNIT_TEST(hold_lasts_while_its_socket_exists),
	UNIT_TEST(looks_are_ever_more_seldom_until_the_end),
	UNIT_TEST(the_first_look_is_soon),
	UNIT_TEST(last_four_of_one_name_are_held),
	UNIT_TEST(last_sixteen_of_all_are_held),
	UNIT_TEST(a_hold_that_has_lost_its_place_is_over),
	UNIT_TEST(a_hold_removes_its_own_mark_only),
	UNIT_TEST(trace_without_a_mark_is_held),
	{NULL},
};

UNIT_MAIN("hold", .set_up = set_up, .tear_down = tear_down, .tests = tests)
