/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the HTTP server's limits on the time of a peer, with a clock that the test sets. */
#include "http/server.h"

#include <check.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/http_fixture.h"
#include "tests/unit/unit.h"

/* The kernel takes all of SMALL at once, and only a part of LARGE. */
#define SMALL 1000
#define LARGE (64 << 20)
#define REQUEST "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

static int peer;

static void handle(struct http_exchange *x, void *context)
{
	int fd = memfd_create("file", MFD_CLOEXEC);
	const size_t *n_bytes = context;

	ck_assert_int_eq(ftruncate(fd, (off_t)*n_bytes), 0);
	http_reply_file(x, "application/octet-stream", fd, 0, *n_bytes);
}

static void serve(size_t n_bytes)
{
	static size_t file_bytes;
	struct http_server_options o = {
		.max_connections = 16, .max_of_user = 16, .handle = handle, .context = &file_bytes};

	file_bytes = n_bytes;
	http_fixture_serve(&o);
	peer = http_fixture_connect();
}

/* Sends a request, and returns when the answer has begun to come. */
static void ask(size_t n_bytes)
{
	char byte;

	serve(n_bytes);
	http_fixture_send(peer, REQUEST);
	while (recv(peer, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 1)
		http_fixture_run();
	http_fixture_run();
}

/* Checks that a client is dropped after |patience_ms|, not before, and without all |n_bytes|. */
static void check_deadline(int64_t patience_ms, size_t n_bytes)
{
	fixture_now_ms += patience_ms - 1;
	http_fixture_run();
	ck_assert(http_fixture_is_open(peer));
	ck_assert_int_le(http_server_get_timeout_ms(fixture_server), 1);
	fixture_now_ms++;
	http_fixture_run();
	ck_assert(!http_server_is_sending(fixture_server));
	ck_assert_uint_lt(http_fixture_take_all(peer), n_bytes);
	ck_assert_uint_eq(http_server_get_n_sent(fixture_server), 0);
}

START_TEST(silent_client_is_dropped)
{
	serve(SMALL);
	check_deadline(HTTP_REQUEST_MS, 1);
}
END_TEST

/* Bytes that arrive slowly do not renew the time limit. */
START_TEST(client_that_asks_letter_by_letter_is_dropped)
{
	serve(SMALL);
	for (size_t i = 0; i < 4; i++) {
		ck_assert_int_eq(write(peer, &REQUEST[i], 1), 1);
		fixture_now_ms += HTTP_REQUEST_MS / 5;
		http_fixture_run();
	}
	check_deadline(HTTP_REQUEST_MS - 4 * (HTTP_REQUEST_MS / 5), 1);
}
END_TEST

/* A minute, and the time for LARGE bytes at the slowest accepted speed. */
#define LARGE_MS (60000 + LARGE / 65536 * INT64_C(1000))

START_TEST(client_that_reads_nothing_is_dropped)
{
	ask(LARGE);
	ck_assert(http_server_is_sending(fixture_server));
	check_deadline(LARGE_MS, LARGE);
}
END_TEST

/* Bytes that the client takes do not renew the time limit. */
START_TEST(client_that_reads_in_sips_is_dropped)
{
	char sip[100];

	ask(LARGE);
	for (int i = 0; i < 9; i++) {
		fixture_now_ms += LARGE_MS / 10;
		ck_assert_int_eq(recv(peer, sip, sizeof sip, 0), sizeof sip);
		http_fixture_run();
		ck_assert(http_fixture_is_open(peer));
	}
	check_deadline(LARGE_MS - 9 * (LARGE_MS / 10), LARGE);
}
END_TEST

START_TEST(idle_client_is_dropped_after_its_answer)
{
	ask(SMALL);
	while (http_server_is_sending(fixture_server))
		http_fixture_run();
	fixture_now_ms += HTTP_REQUEST_MS - 1;
	http_fixture_run();
	ck_assert(http_fixture_is_open(peer));
	fixture_now_ms++;
	http_fixture_run();
	ck_assert_uint_ge(http_fixture_take_all(peer), SMALL);
	ck_assert_uint_eq(http_server_get_n_sent(fixture_server), 1);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(silent_client_is_dropped),
	UNIT_TEST(client_that_asks_letter_by_letter_is_dropped),
	UNIT_TEST(client_that_reads_nothing_is_dropped),
	UNIT_TEST(client_that_reads_in_sips_is_dropped),
	UNIT_TEST(idle_client_is_dropped_after_its_answer),
	{NULL},
};

UNIT_MAIN("http_server", .set_up = http_fixture_set_up, .tear_down = http_fixture_tear_down,
	.tests = tests)
