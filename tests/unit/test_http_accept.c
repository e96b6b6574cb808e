/* SPDX-License-Identifier: Apache-2.0 */
/* What a client takes, by its header. */
#include "http/accept.h"

#include <check.h>
#include <stddef.h>

#define PLAIN "text/plain"

static const struct {
	const char *accept;
	unsigned weight; /* of text/plain */
} cases[] = {
	{NULL, 1000},
	{"", 0},
	{"text/plain", 1000},
	{"TEXT/Plain", 1000},
	{"text/html", 0},
	{"text/*", 1000},
	{"*/*", 1000},
	{"text/plainer", 0},
	{"text/plain;q=0.5", 500},
	{"text/plain ; q=0.25", 250},
	{"text/plain;q=0.123456", 123},
	{"text/plain;q=1.0", 1000},
	{"text/plain;q=0", 0},
	{"text/plain;q=", 0},
	{"text/plain;q=x", 0},
	{"text/plain;version=0.0.4;q=0.3", 300},
	{"text/plain;q=0.3;version=0.0.4", 300},
	{"text/plain;version=\"0;q=1\"", 1000},
	{"text/html, text/plain;q=0.7, */*;q=0.1", 700},
	{"*/*;q=0.1, text/*;q=0.2, text/plain;q=0.3", 300},
	{"text/plain;q=0.3, text/*;q=0.2, */*;q=0.1", 300},
	{"text/plain;q=0, */*", 0},
	{"application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		500},
	{",,,text/plain,,", 1000},
	{";", 0},
	{"text/plain;;;q=0.5", 500},
};

START_TEST(ranges_have_weights)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		ck_assert_msg(http_accept_find(cases[i].accept, PLAIN) == cases[i].weight, "%s: %u",
			cases[i].accept, http_accept_find(cases[i].accept, PLAIN));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("http_accept");
	TCase *all = tcase_create("all");
	SRunner *runner = srunner_create(suite);

	tcase_add_test(all, ranges_have_weights);
	suite_add_tcase(suite, all);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
