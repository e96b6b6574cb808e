/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the library check that the unit tests for another processor use: Debian has no
 * libcheck to cross-compile with. Each test runs in a process of its own; the output is TAP.
 */
#ifndef TESTS_AARCH64_CHECK_H
#define TESTS_AARCH64_CHECK_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CK_ENV 0
#define MAX_TESTS 64
#define MAX_CASES 8

typedef struct {
	const char *name;
	void (*run)(int _i);
} TTest;

struct check_test {
	const TTest *test;
	int i;
	int signal; /* that must end the test; 0: none */
};

typedef struct {
	struct check_test tests[MAX_TESTS];
	int n;
	void (*setup)(void);
	void (*teardown)(void);
} TCase;

typedef struct {
	TCase *cases[MAX_CASES];
	int n;
} Suite;

typedef Suite SRunner;

#define START_TEST(test)                                       \
	static void test##_run(int _i);                        \
	static const TTest test##_ttest = {#test, test##_run}; \
	static const TTest *test = &test##_ttest;              \
	static void test##_run(int _i __attribute__((unused)))
#define END_TEST

#define ck_assert_msg(condition, ...)                                            \
	do {                                                                     \
		if (!(condition)) {                                              \
			printf("# %s:%d: %s: ", __FILE__, __LINE__, #condition); \
			printf("" __VA_ARGS__);                                  \
			printf("\n");                                            \
			fflush(stdout);                                          \
			_exit(1);                                                \
		}                                                                \
	} while (0)
#define ck_assert(condition) ck_assert_msg(condition, " ")

#define CHECK_COMPARE(type, format, a, op, b)                                                    \
	do {                                                                                     \
		type check_a = (a);                                                              \
		type check_b = (b);                                                              \
		ck_assert_msg(check_a op check_b, "%s %s %s: %" format " and %" format, #a, #op, \
			#b, check_a, check_b);                                                   \
	} while (0)
#define ck_assert_int_eq(a, b) CHECK_COMPARE(intmax_t, PRIdMAX, a, ==, b)
#define ck_assert_int_ne(a, b) CHECK_COMPARE(intmax_t, PRIdMAX, a, !=, b)
#define ck_assert_int_ge(a, b) CHECK_COMPARE(intmax_t, PRIdMAX, a, >=, b)
#define ck_assert_int_gt(a, b) CHECK_COMPARE(intmax_t, PRIdMAX, a, >, b)
#define ck_assert_int_le(a, b) CHECK_COMPARE(intmax_t, PRIdMAX, a, <=, b)
#define ck_assert_int_lt(a, b) CHECK_COMPARE(intmax_t, PRIdMAX, a, <, b)
#define ck_assert_uint_eq(a, b) CHECK_COMPARE(uintmax_t, PRIuMAX, a, ==, b)
#define ck_assert_uint_ne(a, b) CHECK_COMPARE(uintmax_t, PRIuMAX, a, !=, b)
#define ck_assert_uint_ge(a, b) CHECK_COMPARE(uintmax_t, PRIuMAX, a, >=, b)
#define ck_assert_uint_gt(a, b) CHECK_COMPARE(uintmax_t, PRIuMAX, a, >, b)
#define ck_assert_uint_le(a, b) CHECK_COMPARE(uintmax_t, PRIuMAX, a, <=, b)
#define ck_assert_uint_lt(a, b) CHECK_COMPARE(uintmax_t, PRIuMAX, a, <, b)
#define ck_assert_double_eq(a, b) ck_assert((a) == (b))
#define ck_assert_ptr_eq(a, b) ck_assert((const void *)(a) == (const void *)(b))
#define ck_assert_ptr_ne(a, b) ck_assert((const void *)(a) != (const void *)(b))
#define ck_assert_ptr_null(a) ck_assert((a) == NULL)
#define ck_assert_ptr_nonnull(a) ck_assert((a) != NULL)
#define ck_assert_mem_eq(a, b, n) ck_assert(memcmp(a, b, n) == 0)
#define ck_assert_str_ne(a, b) ck_assert(strcmp(a, b) != 0)
#define ck_assert_str_eq(a, b)                                                                   \
	do {                                                                                     \
		const char *check_a = (a);                                                       \
		const char *check_b = (b);                                                       \
		ck_assert_msg(strcmp(check_a, check_b) == 0, "'%s' and '%s'", check_a, check_b); \
	} while (0)

static inline Suite *suite_create(const char *name)
{
	(void)name;
	return calloc(1, sizeof(Suite));
}

static inline TCase *tcase_create(const char *name)
{
	(void)name;
	return calloc(1, sizeof(TCase));
}

static inline void suite_add_tcase(Suite *suite, TCase *tcase)
{
	if (suite->n == MAX_CASES)
		abort();
	suite->cases[suite->n++] = tcase;
}

static inline void tcase_add_checked_fixture(
	TCase *tcase, void (*setup)(void), void (*teardown)(void))
{
	tcase->setup = setup;
	tcase->teardown = teardown;
}

static inline void tcase_add_loop_test_raise_signal(
	TCase *tcase, const TTest *test, int signal, int from, int to)
{
	for (int i = from; i < to; i++) {
		if (tcase->n == MAX_TESTS)
			abort();
		tcase->tests[tcase->n++] = (struct check_test){test, i, signal};
	}
}

#define tcase_add_loop_test(tcase, test, from, to) \
	tcase_add_loop_test_raise_signal(tcase, test, 0, from, to)
#define tcase_add_test(tcase, test) tcase_add_loop_test(tcase, test, 0, 1)
#define tcase_set_timeout(tcase, seconds) ((void)(tcase), (void)(seconds))

static inline SRunner *srunner_create(Suite *suite)
{
	return suite;
}

/*
 * Returns true if an emulator cannot run the test: CHECK_SKIP is a list of names, separated by
 * spaces.
 */
static inline bool check_is_skipped(const char *name)
{
	const char *list = getenv("CHECK_SKIP");
	size_t n = strlen(name);

	for (const char *at = list ? strstr(list, name) : NULL; at; at = strstr(at + 1, name))
		if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
			return true;
	return false;
}

static inline void check_run(const TCase *tcase, const struct check_test *test, int number)
{
	bool is_passed;
	int status = -1;
	pid_t pid;

	if (check_is_skipped(test->test->name)) {
		printf("ok %d - %s # SKIP\n", number, test->test->name);
		return;
	}
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (tcase->setup)
			tcase->setup();
		test->test->run(test->i);
		if (tcase->teardown)
			tcase->teardown();
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, &status, 0);
	is_passed =
		test->signal ? WIFSIGNALED(status) && WTERMSIG(status) == test->signal : !status;
	if (!is_passed)
		printf("# status %#x\n", (unsigned)status);
	printf("%sok %d - %s\n", is_passed ? "" : "not ", number, test->test->name);
}

static inline void srunner_run_all(SRunner *runner, int mode)
{
	int n = 0;

	(void)mode;
	for (int i = 0; i < runner->n; i++)
		for (int k = 0; k < runner->cases[i]->n; k++)
			check_run(runner->cases[i], &runner->cases[i]->tests[k], ++n);
	printf("1..%d\n", n);
}

static inline void srunner_free(SRunner *runner)
{
	for (int i = 0; i < runner->n; i++)
		free(runner->cases[i]);
	free(runner);
}

#endif
