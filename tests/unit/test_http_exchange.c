/* SPDX-License-Identifier: Apache-2.0 */
/* Tests requests and their answers: bodies, later answers, streams, and the places for clients. */
#include "http/exchange.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "http/router.h"
#include "tests/unit/http_fixture.h"
#include "tests/unit/unit.h"

#define MAX_BODY 10
#define MAX_WAITING (256 << 10)
#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"

static struct http_exchange *later;
static struct http_stream *stream;
static int n_gone;
static int n_ended;
static uid_t next_uid;

static void answer_echo(struct http_exchange *x, void *context)
{
	const char *a = http_get_query(x, "a");
	char text[256];
	size_t n;
	const char *body = http_get_body(x, &n);

	(void)context;
	snprintf(text, sizeof text, "[%s][%s][%s][%zu]", http_get_param(x, "name"), a ? a : "-",
		body, n);
	http_reply_text(x, 200, "text/plain", text);
}

static void note_gone(void *work)
{
	ck_assert_ptr_eq(work, &n_gone);
	n_gone++;
}

static void answer_later(struct http_exchange *x, void *context)
{
	(void)context;
	later = x;
	http_defer(x, note_gone, &n_gone);
}

static void note_ended(void *context)
{
	ck_assert_ptr_eq(context, &n_ended);
	n_ended++;
	stream = NULL;
}

static void answer_stream(struct http_exchange *x, void *context)
{
	(void)context;
	stream = http_reply_stream(x, "text/event-stream", MAX_WAITING, note_ended, &n_ended);
	ck_assert_ptr_nonnull(stream);
}

static void answer_nothing(struct http_exchange *x, void *context)
{
	(void)x;
	(void)context;
}

static const struct http_route routes[] = {
	{"GET", "/echo/{name}", 0, answer_echo, NULL},
	{"POST", "/echo/{name}", MAX_BODY, answer_echo, NULL},
	{"GET", "/later", 0, answer_later, NULL},
	{"GET", "/stream", 0, answer_stream, NULL},
	{"GET", "/nothing", 0, answer_nothing, NULL},
};
static const struct http_router router = {routes, sizeof routes / sizeof *routes, NULL, NULL};

static void begin(struct http_exchange *x, void *context)
{
	http_router_begin(context, x);
}

static void handle(struct http_exchange *x, void *context)
{
	http_router_handle(context, x);
}

static bool enter(int fd, struct http_peer *peer, void *context)
{
	(void)fd;
	(void)context;
	peer->uid = next_uid;
	return next_uid != 99;
}

static void serve(unsigned max_connections, unsigned max_of_user)
{
	static const struct http_header headers[] = {{"X-All", "all"}, {"Content-Type", "none"}};
	struct http_server_options o = {
		.max_connections = max_connections,
		.max_of_user = max_of_user,
		.enter = enter,
		.begin = begin,
		.handle = handle,
		.headers = headers,
		.n_headers = 2,
		.context = (void *)&router,
	};

	http_fixture_serve(&o);
}

static void set_up(void)
{
	http_fixture_set_up();
	n_gone = n_ended = 0;
	next_uid = 0;
	serve(8, 4);
}

static void check_answer(const char *answer, const char *status, const char *end)
{
	ck_assert_msg(strncmp(answer, status, strlen(status)) == 0, "%s", answer);
	ck_assert_msg(strlen(answer) >= strlen(end) &&
			      strcmp(answer + strlen(answer) - strlen(end), end) == 0,
		"%s", answer);
}

#define OK "HTTP/1.1 200 OK\r\n"

START_TEST(handler_knows_the_request)
{
	int peer = http_fixture_connect();
	const char *answer = http_fixture_ask(peer, GET("/echo/a%20b?b=1&a=x%26y+z"));

	check_answer(answer, OK, "[a b][x&y z][][0]");
	ck_assert_ptr_nonnull(strstr(answer, "X-All: all\r\n"));
	ck_assert_ptr_nonnull(strstr(answer, "Content-Type: text/plain\r\n"));
	ck_assert_ptr_null(strstr(answer, "none"));
	/* Then the next request on the same connection. */
	check_answer(http_fixture_ask(peer, GET("/echo/c")), OK, "[c][-][][0]");
}
END_TEST

START_TEST(bodies_are_taken_up_to_their_bound)
{
	int peer = http_fixture_connect();

	check_answer(
		http_fixture_ask(peer,
			"POST /echo/a HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n0123456789"),
		OK, "[0123456789][10]");
	check_answer(
		http_fixture_ask(peer, "POST /echo/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
				       "chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"),
		OK, "[abcde][5]");
	check_answer(
		http_fixture_ask(peer,
			"POST /echo/a HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n0123456789a"),
		"HTTP/1.1 413 ", "the body has more than 10 bytes\n");
	/* The server has read the bytes beyond the limit, so the connection stays open. */
	check_answer(
		http_fixture_ask(peer,
			"POST /echo/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
			"c\r\nabcdefghijkl\r\n0\r\n\r\n"),
		"HTTP/1.1 413 ", "the body has more than 10 bytes\n");
	check_answer(http_fixture_ask(
			     peer, "GET /echo/a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na"),
		"HTTP/1.1 413 ", "the body has more than 0 bytes\n");
}
END_TEST

/*
 * If the announced body is too long to be read, the answer comes at once,
 * and the connection is closed.
 */
START_TEST(a_huge_body_is_not_read)
{
	int peer = http_fixture_connect();

	check_answer(
		http_fixture_ask(peer,
			"POST /echo/a HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000000\r\n\r\nabc"),
		"HTTP/1.1 413 ", "the body has more than 10 bytes\n");
	ck_assert(!http_fixture_is_open(peer));
}
END_TEST

START_TEST(a_body_must_come_in_time)
{
	int peer = http_fixture_connect();

	http_fixture_send(peer, "POST /echo/a HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n");
	for (int i = 0; i < 9; i++) {
		fixture_now_ms += HTTP_REQUEST_MS / 10;
		http_fixture_send(peer, "a");
		ck_assert(http_fixture_is_open(peer));
	}
	fixture_now_ms += HTTP_REQUEST_MS / 10;
	http_fixture_run();
	ck_assert_uint_eq(http_fixture_take_all(peer), 0);
}
END_TEST

START_TEST(a_handler_that_says_nothing_is_an_error)
{
	check_answer(http_fixture_ask(http_fixture_connect(), GET("/nothing")), "HTTP/1.1 500 ",
		"nothing was answered\n");
}
END_TEST

START_TEST(routes_match_methods_and_paths)
{
	int peer = http_fixture_connect();

	check_answer(http_fixture_ask(peer, GET("/echo")), "HTTP/1.1 404 ", "nothing is there\n");
	check_answer(http_fixture_ask(peer, GET("/echo/")), "HTTP/1.1 404 ", "nothing is there\n");
	check_answer(
		http_fixture_ask(peer, GET("/echo/a/b")), "HTTP/1.1 404 ", "nothing is there\n");
	check_answer(http_fixture_ask(peer, "DELETE /echo/a HTTP/1.1\r\nHost: x\r\n\r\n"),
		"HTTP/1.1 405 ", "DELETE is not allowed here; use GET, HEAD, POST, OPTIONS\n");
	ck_assert_ptr_nonnull(
		strstr(http_fixture_ask(peer, "OPTIONS /echo/a HTTP/1.1\r\nHost: x\r\n\r\n"),
			"Allow: GET, HEAD, POST, OPTIONS\r\n"));
	check_answer(
		http_fixture_ask(peer, "HEAD /echo/a HTTP/1.1\r\nHost: x\r\n\r\n"), OK, "\r\n\r\n");
}
END_TEST

/* --- later --------------------------------------------------------------------------------- */

START_TEST(an_answer_may_come_later)
{
	int peer = http_fixture_connect();

	for (int i = 0; i < 2; i++) {
		http_fixture_send(peer, GET("/later"));
		fixture_now_ms += HTTP_ANSWER_MS - 1;
		http_fixture_run();
		ck_assert_str_eq(http_fixture_take(peer), "");
		http_reply_text(later, 200, "text/plain", "at last");
		http_fixture_run();
		check_answer(http_fixture_take(peer), OK, "at last");
	}
	ck_assert_int_eq(n_gone, 0);
}
END_TEST

START_TEST(an_answer_that_comes_too_late_is_given_up)
{
	int peer = http_fixture_connect();

	http_fixture_send(peer, GET("/later"));
	fixture_now_ms += HTTP_ANSWER_MS;
	http_fixture_run();
	ck_assert_int_eq(n_gone, 1);
	ck_assert_uint_eq(http_fixture_take_all(peer), 0);
}
END_TEST

START_TEST(the_end_gives_up_deferred_answers)
{
	http_fixture_send(http_fixture_connect(), GET("/later"));
	http_fixture_send(http_fixture_connect(), GET("/stream"));
	fixture_server = http_server_free(fixture_server);
	ck_assert_int_eq(n_gone, 1);
	ck_assert_int_eq(n_ended, 1);
}
END_TEST

/* --- streams ------------------------------------------------------------------------------- */

static int begin_stream(void)
{
	int peer = http_fixture_connect();
	const char *answer = http_fixture_ask(peer, GET("/stream"));

	check_answer(answer, OK, "\r\n\r\n");
	ck_assert_ptr_nonnull(strstr(answer, "Content-Type: text/event-stream\r\n"));
	return peer;
}

START_TEST(a_stream_goes_on)
{
	int peer = begin_stream();

	for (int i = 0; i < 3; i++) {
		/* No data waits, so the client may be silent for as long as it likes. */
		fixture_now_ms += 10 * HTTP_STREAM_MS;
		http_fixture_run();
		ck_assert_int_eq(http_stream_send(stream, "data: 1\n\n", 9), 0);
		http_fixture_run();
		ck_assert_str_eq(http_fixture_take(peer), "9\r\ndata: 1\n\n\r\n");
	}
	http_stream_finish(stream);
	ck_assert_int_eq(http_stream_send(stream, "x", 1), -EPIPE);
	http_fixture_run();
	ck_assert_str_eq(http_fixture_take(peer), "0\r\n\r\n");
	ck_assert_int_eq(n_ended, 1);
	check_answer(http_fixture_ask(peer, GET("/echo/c")), OK, "[c][-][][0]");
}
END_TEST

START_TEST(a_listener_that_goes_is_noticed)
{
	int peer = begin_stream();

	shutdown(peer, SHUT_WR);
	http_fixture_run();
	ck_assert_int_eq(n_ended, 1);
}
END_TEST

/*
 * One client sends half of a request and closes; another one sends a whole request, closes,
 * and still takes the answer.
 */
START_TEST(client_that_leaves_in_the_middle_is_forgotten)
{
	int half = http_fixture_connect();
	int whole = http_fixture_connect();
	struct http_counts counts;

	ck_assert_int_eq(send(half, "GET /ec", 7, MSG_NOSIGNAL), 7);
	shutdown(half, SHUT_WR);
	ck_assert_int_eq(send(whole, GET("/echo/a"), strlen(GET("/echo/a")), MSG_NOSIGNAL),
		(ssize_t)strlen(GET("/echo/a")));
	shutdown(whole, SHUT_WR);
	http_fixture_run();
	check_answer(http_fixture_take(whole), OK, "[a][-][][0]");
	http_server_count(fixture_server, &counts);
	ck_assert_uint_eq(counts.n_connections, 0);
}
END_TEST

/* Fills the buffers of the kernel and of the server for a client that takes nothing. */
static void fill(void)
{
	static char block[16 << 10];

	while (http_stream_send(stream, block, sizeof block) == 0)
		http_fixture_run();
	ck_assert_int_eq(http_stream_send(stream, block, sizeof block), -ENOBUFS);
}

START_TEST(backlog_of_a_slow_listener_is_bounded)
{
	int peer = begin_stream();

	fill();
	fixture_now_ms += HTTP_STREAM_MS - 1;
	http_fixture_run();
	ck_assert_int_eq(n_ended, 0);
	fixture_now_ms++;
	http_fixture_run();
	ck_assert_int_eq(n_ended, 1);
	ck_assert_uint_gt(http_fixture_take_all(peer), 0);
}
END_TEST

/*
 * Bytes that the client takes do not renew the time limit for bytes that waited before. At this
 * speed the client would need two thirds more time.
 */
START_TEST(listener_that_trickles_is_dropped)
{
	static char sip[10 << 10];
	int peer = begin_stream();
	int n_sips = 0;

	fill();
	for (; !n_ended && n_sips < 25; n_sips++) {
		fixture_now_ms += HTTP_STREAM_MS / 10;
		ck_assert_int_gt(recv(peer, sip, sizeof sip, 0), 0);
		http_fixture_run();
	}
	ck_assert_int_eq(n_ended, 1);
	ck_assert_int_ge(n_sips, 10);
}
END_TEST

/* --- limits of connections ----------------------------------------------------------------- */

START_TEST(silent_client_makes_room)
{
	int peers[4];

	for (int i = 0; i < 4; i++) {
		peers[i] = http_fixture_connect();
		fixture_now_ms++;
	}
	check_answer(http_fixture_ask(peers[0], GET("/echo/a")), OK, "[a][-][][0]");
	fixture_now_ms++;
	check_answer(http_fixture_ask(http_fixture_connect(), GET("/echo/b")), OK, "[b][-][][0]");
	/* The first client has sent another request, so the second one had waited longest. */
	ck_assert(http_fixture_is_open(peers[0]));
	ck_assert(!http_fixture_is_open(peers[1]));
	ck_assert(http_fixture_is_open(peers[2]));
}
END_TEST

START_TEST(one_user_does_not_push_out_others)
{
	int mine = http_fixture_connect();

	next_uid = 1;
	for (int i = 0; i < 20; i++)
		http_fixture_connect();
	ck_assert(http_fixture_is_open(mine));
	check_answer(http_fixture_ask(mine, GET("/echo/a")), OK, "[a][-][][0]");
}
END_TEST

/* Clients that are being answered keep their places: another one is turned away. */
START_TEST(client_being_served_keeps_its_place)
{
	struct http_counts counts;
	int peers[4];

	for (int i = 0; i < 4; i++) {
		peers[i] = http_fixture_connect();
		http_fixture_send(peers[i], GET("/stream"));
	}
	ck_assert_uint_eq(http_fixture_take_all(http_fixture_connect()), 0);
	for (int i = 0; i < 4; i++)
		ck_assert_str_ne(http_fixture_take(peers[i]), "");
	http_server_count(fixture_server, &counts);
	ck_assert_uint_eq(counts.n_refused, 1);
	ck_assert_uint_eq(counts.n_connections, 4);
	ck_assert_int_eq(n_ended, 0);
}
END_TEST

START_TEST(connections_of_strangers_are_closed)
{
	next_uid = 99;
	ck_assert_uint_eq(http_fixture_take_all(http_fixture_connect()), 0);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(handler_knows_the_request),
	UNIT_TEST(bodies_are_taken_up_to_their_bound),
	UNIT_TEST(a_huge_body_is_not_read),
	UNIT_TEST(a_body_must_come_in_time),
	UNIT_TEST(a_handler_that_says_nothing_is_an_error),
	UNIT_TEST(routes_match_methods_and_paths),
	UNIT_TEST(an_answer_may_come_later),
	UNIT_TEST(an_answer_that_comes_too_late_is_given_up),
	UNIT_TEST(the_end_gives_up_deferred_answers),
	UNIT_TEST(a_stream_goes_on),
	UNIT_TEST(a_listener_that_goes_is_noticed),
	UNIT_TEST(client_that_leaves_in_the_middle_is_forgotten),
	UNIT_TEST(backlog_of_a_slow_listener_is_bounded),
	UNIT_TEST(listener_that_trickles_is_dropped),
	UNIT_TEST(silent_client_makes_room),
	UNIT_TEST(one_user_does_not_push_out_others),
	UNIT_TEST(client_being_served_keeps_its_place),
	UNIT_TEST(connections_of_strangers_are_closed),
	{NULL},
};

UNIT_MAIN("http_exchange", .set_up = set_up, .tear_down = http_fixture_tear_down, .tests = tests)
