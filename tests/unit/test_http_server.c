/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP server: how long a peer may take, by a clock that the test sets. */
#include "http/server.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/diag.h"

/* All of it is the kernel's at once; and more than the kernel takes. */
#define SMALL 1000
#define LARGE (64 << 20)
#define REQUEST "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
#define TURN_MS 10

int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __real_clock_gettime(clockid_t clock, struct timespec *t);

static int64_t now_ms;
static struct http_server *server;
static uint16_t port;
static int peer = -1;

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	if (clock != CLOCK_MONOTONIC)
		return __real_clock_gettime(clock, t);
	t->tv_sec = now_ms / 1000;
	t->tv_nsec = now_ms % 1000 * 1000000;
	return 0;
}

static void handle(struct http_exchange *x, void *context)
{
	int fd = memfd_create("file", MFD_CLOEXEC);
	const size_t *n_bytes = context;

	ck_assert_int_eq(ftruncate(fd, (off_t)*n_bytes), 0);
	http_reply_file(x, "application/octet-stream", fd, 0, *n_bytes);
}

static int listen_somewhere(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
	ck_assert_int_eq(listen(fd, 16), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &n), 0);
	port = ntohs(address.sin_port);
	return fd;
}

static void serve(size_t n_bytes)
{
	static size_t file_bytes;
	const struct http_server_options o = {.listener = listen_somewhere(),
		.max_connections = 16,
		.max_of_user = 16,
		.handle = handle,
		.context = &file_bytes};
	struct diag d = DIAG_INIT;

	file_bytes = n_bytes;
	ck_assert_msg(http_server_open(&server, &o, &d) == 0, "%s", d.text);
}

/* Until it has nothing to do for a while. */
static void run_server(void)
{
	struct pollfd p = {.fd = http_server_get_fd(server), .events = POLLIN};

	do
		http_server_run(server);
	while (poll(&p, 1, TURN_MS) > 0);
	http_server_run(server);
}

static void connect_peer(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons(port)};

	peer = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(connect(peer, (struct sockaddr *)&address, sizeof address), 0);
	/* Its time begins when it is seen. */
	while (http_server_get_timeout_ms(server) < 0)
		run_server();
}

static void set_up(void)
{
	now_ms = 1000;
	server = NULL;
}

static void tear_down(void)
{
	http_server_free(server);
	close(peer);
}

/* As far as a peer can see that takes nothing. */
static bool is_open(void)
{
	struct pollfd p = {.fd = peer, .events = POLLRDHUP};

	return poll(&p, 1, 0) == 0;
}

/* How much there is until the end that it must have. */
static size_t take_all(void)
{
	static char bytes[1 << 20];
	size_t n_bytes = 0;
	ssize_t n;

	while ((n = recv(peer, bytes, sizeof bytes, 0)) > 0)
		n_bytes += (size_t)n;
	return n_bytes;
}

static void ask(size_t n_bytes)
{
	struct pollfd p = {.events = POLLIN};

	serve(n_bytes);
	connect_peer();
	ck_assert_int_eq(write(peer, REQUEST, strlen(REQUEST)), strlen(REQUEST));
	p.fd = peer;
	while (poll(&p, 1, 0) == 0)
		run_server();
	run_server();
}

/* Of one that is not to get |n_bytes|. */
static void check_deadline(int64_t patience_ms, size_t n_bytes)
{
	now_ms += patience_ms - 1;
	run_server();
	ck_assert(is_open());
	ck_assert_int_le(http_server_get_timeout_ms(server), 1);
	now_ms++;
	run_server();
	ck_assert(!http_server_is_sending(server));
	ck_assert_uint_lt(take_all(), n_bytes);
	ck_assert_uint_eq(http_server_get_n_sent(server), 0);
}

START_TEST(who_never_asks_is_let_go)
{
	serve(SMALL);
	connect_peer();
	check_deadline(HTTP_REQUEST_MS, 1);
}
END_TEST

/* Bytes that trickle do not renew it. */
START_TEST(who_asks_letter_by_letter_is_let_go)
{
	serve(SMALL);
	connect_peer();
	for (size_t i = 0; i < 4; i++) {
		ck_assert_int_eq(write(peer, REQUEST + i, 1), 1);
		now_ms += HTTP_REQUEST_MS / 5;
		run_server();
	}
	check_deadline(HTTP_REQUEST_MS - 4 * (HTTP_REQUEST_MS / 5), 1);
}
END_TEST

/* As long as the file takes at the slowest speed, and a minute. */
#define LARGE_MS (60000 + LARGE / 65536 * INT64_C(1000))

START_TEST(who_does_not_take_a_large_file_is_let_go)
{
	ask(LARGE);
	ck_assert(http_server_is_sending(server));
	check_deadline(LARGE_MS, LARGE);
}
END_TEST

/* What it takes does not renew the time. */
START_TEST(who_takes_a_large_file_in_sips_is_let_go)
{
	char sip[100];

	ask(LARGE);
	for (int i = 0; i < 9; i++) {
		now_ms += LARGE_MS / 10;
		ck_assert_int_eq(recv(peer, sip, sizeof sip, 0), sizeof sip);
		run_server();
		ck_assert(is_open());
	}
	check_deadline(LARGE_MS - 9 * (LARGE_MS / 10), LARGE);
}
END_TEST

START_TEST(who_has_it_and_asks_nothing_more_is_let_go)
{
	ask(SMALL);
	while (http_server_is_sending(server))
		run_server();
	now_ms += HTTP_REQUEST_MS - 1;
	run_server();
	ck_assert(is_open());
	now_ms++;
	run_server();
	ck_assert_uint_ge(take_all(), SMALL);
	ck_assert_uint_eq(http_server_get_n_sent(server), 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("http_server");
	TCase *time = tcase_create("time");
	SRunner *runner = srunner_create(suite);

	tcase_add_checked_fixture(time, set_up, tear_down);
	tcase_add_test(time, who_never_asks_is_let_go);
	tcase_add_test(time, who_asks_letter_by_letter_is_let_go);
	tcase_add_test(time, who_does_not_take_a_large_file_is_let_go);
	tcase_add_test(time, who_takes_a_large_file_in_sips_is_let_go);
	tcase_add_test(time, who_has_it_and_asks_nothing_more_is_let_go);
	suite_add_tcase(suite, time);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
