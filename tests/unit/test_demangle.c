/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the names of C++ kernels, and names that are not mangled. */
#include "trace/model/demangle.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

static char out[DEMANGLE_MAX_BYTES];

START_TEST(names_read_as_in_the_source)
{
	ck_assert_int_eq(demangle("_Z5saxpyifPKfPf", out), 1);
	ck_assert_str_eq(out, "saxpy(int, float, float const*, float*)");
	ck_assert_int_eq(demangle("_ZN2at6native4fillIfEEvPT_i", out), 1);
	ck_assert_str_eq(out, "void at::native::fill<float>(float*, int)");
}
END_TEST

START_TEST(leaves_other_names_alone)
{
	static const char *const names[] = {"", "_", "saxpy", "gemm<float>", "_Zebra", "_Z",
		"_Z5sax", "__Z5saxpyv", "Z5saxpyv"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		ck_assert_msg(!demangle(names[i], out), "%s became %s", names[i], out);
}
END_TEST

/* Puts the number of an earlier part, in the notation of C++. */
static size_t put_number(char *to, int n)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	return (size_t)sprintf(to, n < 36 ? "S%c_" : "S1%c_", digits[n % 36]);
}

/*
 * Makes f(A*, P<A, A>, P<P<A, A>, P<A, A> >, ...) with |n| arguments, where each
 * is a pair of the one before.
 */
static void make_name(char *name, int n)
{
	size_t at = (size_t)sprintf(name, "_Z1fP1A1PIS_S_E");

	for (int i = 2; i < n; i++) {
		at += (size_t)sprintf(name + at, "S1_I");
		at += put_number(name + at, i);
		at += put_number(name + at, i);
		at += (size_t)sprintf(name + at, "E");
	}
}

START_TEST(refuses_a_name_without_end)
{
	char name[1024];

	make_name(name, 4);
	ck_assert_int_eq(demangle(name, out), 1);
	ck_assert_str_eq(out, "f(A*, P<A, A>, P<P<A, A>, P<A, A> >, "
			      "P<P<P<A, A>, P<A, A> >, P<P<A, A>, P<A, A> > >)");
	/* The last argument would have 2^60 parts. */
	make_name(name, 60);
	ck_assert_int_eq(demangle(name, out), 0);
	ck_assert_int_eq(demangle("_Z5saxpyv", out), 1);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(names_read_as_in_the_source),
	UNIT_TEST(leaves_other_names_alone),
	UNIT_TEST(refuses_a_name_without_end),
	{NULL},
};

UNIT_MAIN("demangle", .tests = tests)
