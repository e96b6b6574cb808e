/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which requests pass: hosts, other sites' pages, and tokens. */
#include "http/guard.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "http/router.h"
#include "tests/unit/http_fixture.h"
#include "tests/unit/unit.h"

static struct http_guard guard;
static uid_t uid;
static int peer;

static void answer(struct http_exchange *x, void *context)
{
	(void)context;
	http_reply_text(x, 200, "text/plain", "passed");
}

static const struct http_route routes[] = {
	{"GET", "/", 0, answer, NULL},
	{"POST", "/", 10, answer, NULL},
	{"DELETE", "/", 0, answer, NULL},
};
static const struct http_router router = {routes, sizeof routes / sizeof *routes, &guard, NULL};

static void begin(struct http_exchange *x, void *context)
{
	http_router_begin(context, x);
}

static void handle(struct http_exchange *x, void *context)
{
	http_router_handle(context, x);
}

static bool enter(int fd, struct http_peer *out, void *context)
{
	(void)fd;
	(void)context;
	out->uid = uid;
	return true;
}

static void set_up(void)
{
	struct http_server_options o = {
		.max_connections = 8,
		.max_of_user = 8,
		.enter = enter,
		.begin = begin,
		.handle = handle,
		.context = (void *)&router,
	};

	http_fixture_set_up();
	memset(&guard, 0, sizeof guard);
	guard.names = "one.example,two.example";
	uid = 1000;
	http_fixture_serve(&o);
	peer = http_fixture_connect();
}

/* Returns the status of a request with the lines |headers|, each with its line end. */
static int ask(const char *method, const char *headers)
{
	char text[1024];
	int status = 0;

	snprintf(text, sizeof text, "%s / HTTP/1.1\r\n%s\r\n", method, headers);
	ck_assert_int_eq(sscanf(http_fixture_ask(peer, text), "HTTP/1.1 %d ", &status), 1);
	return status;
}

#define HOST "Host: localhost:9022\r\n"

/* --- the host ------------------------------------------------------------------------------ */

START_TEST(loopback_has_names)
{
	static const char *const ours[] = {"localhost", "LocalHost:9022", "127.0.0.1",
		"127.0.0.1:80", "127.1.2.3:9022", "[::1]", "[::1]:9022", "train.localhost:9022",
		"one.example", "Two.Example:1"};
	static const char *const others[] = {"", ":9022", "localhost.", "localhost.example",
		"xlocalhost", ".localhost", "127.0.0.1.example", "1.2.3.4", "0.0.0.0", "128.0.0.1",
		"[::2]", "[::1", "[::1]x", "[::1]:9022x", "::1", "localhost:9022:1", "localhost:9x",
		"three.example", "one.example,two.example", "example", "one", "user@localhost",
		"0x7f000001", "2130706433", "127.1"};

	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		ck_assert_msg(http_guard_is_ours(ours[i], guard.names), "%s", ours[i]);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		ck_assert_msg(!http_guard_is_ours(others[i], guard.names), "%s", others[i]);
}
END_TEST

START_TEST(other_names_of_loopback_are_refused)
{
	ck_assert_int_eq(ask("GET", HOST), 200);
	ck_assert_int_eq(ask("GET", "Host: evil.example:9022\r\n"), 421);
	/* A page may have chosen one of two Host headers, so only the first counts. */
	ck_assert_int_eq(ask("GET", "Host: evil.example\r\n" HOST), 421);
}
END_TEST

/* --- the page that asks -------------------------------------------------------------------- */

START_TEST(pages_of_others_are_refused)
{
	ck_assert_int_eq(ask("GET", HOST "Origin: http://localhost:9022\r\n"), 200);
	ck_assert_int_eq(ask("GET", HOST "Origin: http://evil.example\r\n"), 403);
	ck_assert_int_eq(ask("GET", HOST "Origin: http://localhost:9023\r\n"), 403);
	ck_assert_int_eq(ask("GET", HOST "Origin: http://127.0.0.1:9022\r\n"), 403);
	ck_assert_int_eq(ask("GET", HOST "Origin: https://localhost:9022\r\n"), 403);
	ck_assert_int_eq(ask("GET", HOST "Origin: null\r\n"), 403);
}
END_TEST

/* The proxy may speak https, and have a port of its own. */
START_TEST(a_proxy_that_is_named_passes_its_pages)
{
	ck_assert_int_eq(ask("GET", "Host: one.example\r\nOrigin: https://one.example\r\n"), 200);
	ck_assert_int_eq(ask("GET", "Host: Two.example:8443\r\n"
				    "Origin: https://two.example:8443\r\n"),
		200);
	ck_assert_int_eq(ask("GET", "Host: one.example\r\nOrigin: http://one.example\r\n"), 200);
	ck_assert_int_eq(ask("GET", "Host: one.example\r\nOrigin: https://two.example\r\n"), 403);
	ck_assert_int_eq(
		ask("GET", "Host: one.example\r\nOrigin: https://one.example:8443\r\n"), 403);
	ck_assert_int_eq(ask("GET", "Host: one.example\r\nOrigin: https://evil.example\r\n"), 403);
	ck_assert_int_eq(ask("GET", "Host: evil.example\r\nOrigin: https://evil.example\r\n"), 421);
}
END_TEST

#define LINK "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"

START_TEST(fetch_metadata_of_the_browser_counts)
{
	ck_assert_int_eq(ask("GET", HOST "Sec-Fetch-Site: same-origin\r\n"), 200);
	ck_assert_int_eq(ask("GET", HOST "Sec-Fetch-Site: none\r\n"), 200);
	/* Another port of this machine belongs to the same site. */
	ck_assert_int_eq(ask("GET", HOST "Sec-Fetch-Site: same-site\r\n"), 403);
	ck_assert_int_eq(
		ask("GET", HOST "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n"), 403);
	ck_assert_int_eq(ask("GET", HOST "Sec-Fetch-Site: cross-site\r\n" LINK), 200);
	ck_assert_int_eq(
		ask("GET", HOST "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n"
				"Sec-Fetch-Dest: iframe\r\n"),
		403);
	ck_assert_int_eq(ask("POST", HOST "Sec-Fetch-Site: cross-site\r\n" LINK), 403);
}
END_TEST

/* --- tokens -------------------------------------------------------------------------------- */

static int ask_with(const char *method, const char *token)
{
	char headers[256];

	snprintf(headers, sizeof headers, HOST "X-Proftap-Token: %s\r\n", token);
	return ask(method, headers);
}

START_TEST(writing_methods_need_a_token)
{
	char token[HTTP_TOKEN_BYTES];

	ck_assert_int_eq(ask("POST", HOST), 403);
	ck_assert_int_eq(ask("DELETE", HOST), 403);
	ck_assert_int_eq(ask_with("POST", ""), 403);
	ck_assert_int_eq(ask_with("POST", "00000000000000000000000000000000"), 403);
	ck_assert_int_eq(http_tokens_issue(&guard.tokens, uid, token), 0);
	ck_assert_uint_eq(strspn(token, "0123456789abcdef"), HTTP_TOKEN_BYTES - 1);
	ck_assert_int_eq(ask_with("POST", token), 200);
	ck_assert_int_eq(ask_with("DELETE", token), 200);
	token[HTTP_TOKEN_BYTES - 2] ^= 1;
	ck_assert_int_eq(ask_with("POST", token), 403);
	ck_assert_int_eq(ask("OPTIONS", HOST), 204);
}
END_TEST

START_TEST(a_token_works_for_its_user_only)
{
	char token[HTTP_TOKEN_BYTES];

	ck_assert_int_eq(http_tokens_issue(&guard.tokens, 1001, token), 0);
	ck_assert_int_eq(ask_with("POST", token), 403);
}
END_TEST

START_TEST(tokens_are_bounded)
{
	char used[HTTP_TOKEN_BYTES], unused[HTTP_TOKEN_BYTES], others[HTTP_TOKEN_BYTES];
	char token[HTTP_TOKEN_BYTES];

	ck_assert_int_eq(http_tokens_issue(&guard.tokens, 1001, others), 0);
	ck_assert_int_eq(http_tokens_issue(&guard.tokens, 1000, unused), 0);
	ck_assert_int_eq(http_tokens_issue(&guard.tokens, 1000, used), 0);
	for (int i = 0; i < HTTP_MAX_TOKENS; i++) {
		ck_assert_int_eq(http_tokens_issue(&guard.tokens, 1000, token), 0);
		ck_assert(http_tokens_check(&guard.tokens, 1000, used));
	}
	ck_assert(http_tokens_check(&guard.tokens, 1000, token));
	ck_assert(!http_tokens_check(&guard.tokens, 1000, unused));
	/* The many tokens of another user do not matter. */
	ck_assert(http_tokens_check(&guard.tokens, 1001, others));
}
END_TEST

START_TEST(tokens_of_the_oldest_users_go)
{
	char first[HTTP_TOKEN_BYTES], last[HTTP_TOKEN_BYTES];

	ck_assert_int_eq(http_tokens_issue(&guard.tokens, 1, first), 0);
	for (uid_t i = 2; i < 2 + HTTP_MAX_TOKENS; i++)
		ck_assert_int_eq(http_tokens_issue(&guard.tokens, i, last), 0);
	ck_assert(!http_tokens_check(&guard.tokens, 1, first));
	ck_assert(http_tokens_check(&guard.tokens, 1 + HTTP_MAX_TOKENS, last));
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(loopback_has_names),
	UNIT_TEST(other_names_of_loopback_are_refused),
	UNIT_TEST(pages_of_others_are_refused),
	UNIT_TEST(a_proxy_that_is_named_passes_its_pages),
	UNIT_TEST(fetch_metadata_of_the_browser_counts),
	UNIT_TEST(writing_methods_need_a_token),
	UNIT_TEST(a_token_works_for_its_user_only),
	UNIT_TEST(tokens_are_bounded),
	UNIT_TEST(tokens_of_the_oldest_users_go),
	{NULL},
};

UNIT_MAIN("http_guard", .set_up = set_up, .tear_down = http_fixture_tear_down, .tests = tests)
