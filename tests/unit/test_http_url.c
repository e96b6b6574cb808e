/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the parser of request URLs. */
#include "http/url.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/unit.h"

static struct http_url url;

/* Returns the parsed URL as "a|b?k=v&l=". */
static const char *describe(const char *text)
{
	static char out[4096];
	size_t n = 0;

	ck_assert_int_eq(http_url_parse(&url, text), 0);
	out[0] = '\0';
	for (size_t i = 0; i < url.n_parts; i++)
		n += (size_t)snprintf(out + n, sizeof out - n, "%s%s", i ? "|" : "", url.parts[i]);
	for (size_t i = 0; i < url.n_pairs; i++)
		n += (size_t)snprintf(out + n, sizeof out - n, "%s%s=%s", i ? "&" : "?",
			url.keys[i], url.values[i]);
	return out;
}

START_TEST(paths_have_parts)
{
	ck_assert_str_eq(describe("/"), "");
	ck_assert_uint_eq(url.n_parts, 1);
	ck_assert_str_eq(describe("/a/b"), "a|b");
	ck_assert_str_eq(describe("/a//b/"), "a||b|");
	ck_assert_str_eq(describe("/a%20b/%C3%bc/..."), "a b|\xc3\xbc|...");
	ck_assert_str_eq(describe("/a+b"), "a+b");
	ck_assert_str_eq(describe("/a%3Fb"), "a?b");
	ck_assert_str_eq(url.path, "/a%3Fb");
}
END_TEST

START_TEST(queries_have_pairs)
{
	ck_assert_str_eq(describe("/a?"), "a");
	ck_assert_str_eq(describe("/a?b"), "a?b=");
	ck_assert_str_eq(describe("/a?b=c&&d=e=f&g+%2b=h%20i"), "a?b=c&d=e=f&g +=h i");
	ck_assert_str_eq(url.path, "/a");
	ck_assert_str_eq(describe("/?b=/../c?d"), "?b=/../c?d");
	ck_assert_str_eq(describe("/?b=1&b=2"), "?b=1&b=2");
	ck_assert_str_eq(http_url_find(&url, "b"), "1");
	ck_assert_ptr_null(http_url_find(&url, "c"));
}
END_TEST

START_TEST(path_that_leads_elsewhere_is_refused)
{
	static const char *const bad[] = {"", "a", "*", "http://localhost/", "/.", "/..", "/a/../b",
		"/%2e%2e", "/.%2E/b", "/a%2fb", "/%", "/%4", "/%4g", "/%00", "/%0a", "/a%7f",
		"/%ff", "/%c3", "/%ed%a0%80", "/a\x01", "/#", "/?%", "/?a=%00", "/?a=%ff",
		"/?%zz=1"};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ck_assert_msg(http_url_parse(&url, bad[i]) == -EINVAL, "%s", bad[i]);
}
END_TEST

static void repeat(char *to, const char *text, size_t n)
{
	for (*to = '\0'; n; n--)
		strcat(to, text);
}

START_TEST(number_and_size_of_parts_are_bounded)
{
	char text[2 * HTTP_MAX_URL_BYTES];

	repeat(text, "/a", HTTP_MAX_PARTS);
	ck_assert_int_eq(http_url_parse(&url, text), 0);
	ck_assert_uint_eq(url.n_parts, HTTP_MAX_PARTS);
	repeat(text, "/a", HTTP_MAX_PARTS + 1);
	ck_assert_int_eq(http_url_parse(&url, text), -ENAMETOOLONG);
	strcpy(text, "/?");
	repeat(text + 2, "&a=b", HTTP_MAX_PAIRS);
	ck_assert_int_eq(http_url_parse(&url, text), 0);
	repeat(text + 2, "&a=b", HTTP_MAX_PAIRS + 1);
	ck_assert_int_eq(http_url_parse(&url, text), -ENAMETOOLONG);
	strcpy(text, "/");
	repeat(text + 1, "a", HTTP_MAX_URL_BYTES - 2);
	ck_assert_int_eq(http_url_parse(&url, text), 0);
	strcat(text, "a");
	ck_assert_int_eq(http_url_parse(&url, text), -ENAMETOOLONG);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(paths_have_parts),
	UNIT_TEST(queries_have_pairs),
	UNIT_TEST(path_that_leads_elsewhere_is_refused),
	UNIT_TEST(number_and_size_of_parts_are_bounded),
	{NULL},
};

UNIT_MAIN("http_url", .tests = tests)
