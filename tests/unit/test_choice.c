/* SPDX-License-Identifier: Apache-2.0 */
/* Tests how words select programs of a host daemon. */
#include "daemon/host/programs/choice.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "daemon/host/programs/programs.h"
#include "tests/unit/unit.h"

#define ID "3f2a9c1b4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8"
#define POD "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"

/*
 * Two programs in a pod's container, one in a container with a name, and two in
 * none, of which one has ended.
 */
static const struct program programs[] = {
	{.pid = 10,
		.uid = 1000,
		.status = {.name = "train"},
		.container = {.id = ID, .pod = POD, .pid_inside = 1}},
	{.pid = 11,
		.uid = 1000,
		.status = {.name = "serve"},
		.container = {.id = ID, .pod = POD, .pid_inside = 7}},
	{.pid = 12,
		.uid = 1001,
		.status = {.name = "train"},
		.container = {.name = "web-1", .pid_inside = 7}},
	{.pid = 13, .uid = 0, .status = {.name = "alone"}, .container = {.pid_inside = 13}},
	{.pid = 14,
		.uid = 1000,
		.status = {.name = "serve", .has_ended = 1},
		.container = {.pid_inside = 14}},
};
#define N (sizeof programs / sizeof *programs)

static const struct {
	const char *text;
	const char *pids; /* "" selects no program */
} rows[] = {
	{"", "10 11 12 13"},
	{"all", "10 11 12 13"},
	{"12", "12"},
	{"pid=12", "12"},
	{"train", "10 12"},
	{"name=train", "10 12"},
	{"serve", "11"},
	{"name=serve", "11"},
	{"serve@dead", "14"},
	{"train@dead", ""},
	{"@dead", ""},
	{"14", "14"},
	{"pid=14", "14"},
	{"uid=1000", "10 11"},
	{"container=" ID, "10 11"},
	{"container=3f2a9c1b4d5e", "10 11"},
	{"container=3f2a9c1b4d5", ""},
	{"container=3f2a9c1b4d5f", ""},
	{"container=web-1", "12"},
	{"container=web", ""},
	{"container=", ""},
	{"pod=" POD, "10 11"},
	{"pod=", ""},
	/*
	 * Pids inside of containers select nothing, because several programs can have the same one.
	 */
	{"7", ""},
	{"pid=7", ""},
	{"web-1", ""},
	{"colour=red", ""},
};

START_TEST(pids_and_names_select_programs)
{
	const struct program *chosen[N];
	struct diag d = DIAG_INIT;
	size_t n = choice_make_all(programs, N, rows[_i].text, chosen, &d);
	char pids[64] = "";

	for (size_t i = 0; i < n; i++)
		snprintf(pids + strlen(pids), sizeof pids - strlen(pids), "%s%d", i ? " " : "",
			(int)chosen[i]->pid);
	ck_assert_msg(strcmp(pids, rows[_i].pids) == 0, "\"%s\": %s, not %s", rows[_i].text, pids,
		rows[_i].pids);
	ck_assert_int_eq(d.code, n ? 0 : -ENOENT);
}
END_TEST

static void expect_refusal(const char *word, const char *text)
{
	const struct program *chosen[N];
	struct diag d = DIAG_INIT;

	ck_assert_uint_eq(choice_make_all(programs, N, word, chosen, &d), 0);
	ck_assert_str_eq(d.text, text);
	d = (struct diag)DIAG_INIT;
	ck_assert_ptr_null(choice_make(programs, N, word, &d));
	ck_assert_str_eq(d.text, text);
}

START_TEST(absent_program_is_refused_with_a_list_of_programs)
{
	expect_refusal("nobody",
		"nobody: no such program here; there are train (10), serve (11), train (12), alone (13), "
		"serve@dead (14)");
	expect_refusal("uid=7",
		"uid=7: no such program here; there are train (10), serve (11), train (12), alone (13), "
		"serve@dead (14)");
	expect_refusal("colour=red",
		"colour=red: no program has the label colour; the labels are pid, uid, name, container, "
		"pod");
	expect_refusal("PID=10",
		"PID=10: no program has the label PID; the labels are pid, uid, name, container, pod");
}
END_TEST

START_TEST(words_that_mean_two_programs_are_refused)
{
	struct diag d = DIAG_INIT;

	ck_assert_ptr_eq(choice_make(programs, N, "container=web-1", &d), &programs[2]);
	ck_assert_ptr_null(choice_make(programs, N, "container=3f2a9c1b4d5e", &d));
	ck_assert_int_eq(d.code, -EINVAL);
	ck_assert_ptr_nonnull(strstr(d.text, "2 programs are meant: train (10), serve (11)"));
}
END_TEST

START_TEST(an_ended_program_does_not_hide_a_live_namesake)
{
	struct diag d = DIAG_INIT;

	ck_assert_ptr_eq(choice_make(programs, N, "serve", &d), &programs[1]);
	ck_assert_ptr_eq(choice_make(programs, N, "serve@dead", &d), &programs[4]);
	ck_assert_ptr_eq(choice_make(programs + 3, 2, "", &d), &programs[3]);
	ck_assert_ptr_eq(choice_make(programs + 4, 1, "", &d), &programs[4]);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_LOOP(pids_and_names_select_programs, sizeof rows / sizeof *rows),
	UNIT_TEST(absent_program_is_refused_with_a_list_of_programs),
	UNIT_TEST(words_that_mean_two_programs_are_refused),
	UNIT_TEST(an_ended_program_does_not_hide_a_live_namesake),
	{NULL},
};

UNIT_MAIN("choice", .tests = tests)
