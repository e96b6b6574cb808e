/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main function of a unit test: a table of its tests, which run with the library check, each in
 * a process of its own.
 *
 * 	static const struct unit_test tests[] = {
 * 		UNIT_TEST(drops_when_full),
 * 		UNIT_LOOP(reads_each_row, sizeof rows / sizeof *rows),
 * 		{NULL},
 * 	};
 *
 * 	UNIT_MAIN("ring", .set_up = set_up, .tear_down = tear_down, .tests = tests)
 */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <check.h>
#include <stddef.h>

struct unit_test {
	const TTest *const *test; /* NULL ends the table */
	int end; /* The test runs for each _i from |first| to before |end|. */
	int first;
	int (*count)(void); /* returns the value to use for |end|; NULL ok */
	int signal; /* the signal that must end the test; 0: none */
};

struct unit {
	const char *name;
	void (*set_up)(void); /* runs before each test, in its process; NULL ok */
	void (*tear_down)(void); /* runs after each test that passed; NULL ok */
	double timeout_s; /* 0: the default of check */
	const struct unit_test *tests;
};

#define UNIT_TEST(name) UNIT_LOOP(name, 1)
#define UNIT_LOOP(name, n) UNIT_RANGE(name, 0, n)
#define UNIT_RANGE(name, from, to)                      \
	{                                               \
		.test = &name, .first = from, .end = to \
	}
/* For a loop whose number of rounds, count(), is not a constant. */
#define UNIT_COUNTED(name, function)             \
	{                                        \
		.test = &name, .count = function \
	}
/* For a loop whose every round must end by the signal |number|. */
#define UNIT_SIGNAL(name, n, number)                      \
	{                                                 \
		.test = &name, .end = n, .signal = number \
	}

static inline TCase *unit_make_case(const struct unit *unit)
{
	TCase *tcase = tcase_create(unit->name);

	if (unit->set_up || unit->tear_down)
		tcase_add_checked_fixture(tcase, unit->set_up, unit->tear_down);
	if (unit->timeout_s > 0)
		tcase_set_timeout(tcase, unit->timeout_s);
	for (const struct unit_test *t = unit->tests; t->test; t++) {
		int end = t->count ? t->count() : t->end;

		tcase_add_loop_test_raise_signal(tcase, *t->test, t->signal, t->first, end);
	}
	return tcase;
}

/* |units| ends with an element without a name. */
static inline void unit_run(const char *name, const struct unit *units)
{
	Suite *suite = suite_create(name);
	SRunner *runner = srunner_create(suite);

	for (; units->name; units++)
		suite_add_tcase(suite, unit_make_case(units));
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
}

#define UNIT_MAIN(suite, ...)                                                       \
	int main(void)                                                              \
	{                                                                           \
		const struct unit units[] = {{.name = suite, __VA_ARGS__}, {NULL}}; \
                                                                                    \
		unit_run(suite, units);                                             \
		return 0;                                                           \
	}

/* For tests with several fixtures: |units| is a table that ends with {NULL}. */
#define UNIT_MAIN_OF(suite, units)      \
	int main(void)                  \
	{                               \
		unit_run(suite, units); \
		return 0;               \
	}

#endif
