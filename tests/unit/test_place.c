/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the text about the place of a program. */
#include "client/target/targets.h"

#include <check.h>

#include "tests/unit/unit.h"

#define ID "3f2a9c1b4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8"
#define POD "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"

static const struct {
	struct program_place place; /* of process 42 */
	const char *text;
} rows[] = {
	{{.pid_inside = 0}, ""},
	{{.pid_inside = 42, .cgroup = "/user.slice"}, ""},
	{{.pid_inside = 7}, "pid 7"},
	{{.pid_inside = 42, .name = "web-1"}, "web-1"},
	{{.pid_inside = 7, .name = "web-1"}, "web-1, pid 7"},
	{{.pid_inside = 1, .id = ID}, "3f2a9c1b4d5e, pid 1"},
	{{.pid_inside = 1, .id = ID, .pod = POD}, "3f2a9c1b4d5e, pod " POD ", pid 1"},
	{{.pid_inside = 42, .pod = POD}, "pod " POD},
};

START_TEST(text_names_the_known_parts)
{
	char text[256];

	place_format(&rows[_i].place, 42, text, sizeof text);
	ck_assert_str_eq(text, rows[_i].text);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_LOOP(text_names_the_known_parts, sizeof rows / sizeof *rows),
	{NULL},
};

UNIT_MAIN("place", .tests = tests)
