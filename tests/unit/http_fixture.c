/* SPDX-License-Identifier: Apache-2.0 */
/* A server and its peers; see http_fixture.h. */
#include "tests/unit/http_fixture.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/diag.h"

#define TURN_MS 10
#define MAX_PEERS 64
#define RECEIVE_BYTES (32 << 10)
#define TEXT_BYTES (1 << 20)

int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __real_clock_gettime(clockid_t clock, struct timespec *t);

int64_t fixture_now_ms;
struct http_server *fixture_server;
static uint16_t port;
static int peers[MAX_PEERS];
static size_t n_peers;

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	if (clock != CLOCK_MONOTONIC)
		return __real_clock_gettime(clock, t);
	t->tv_sec = fixture_now_ms / 1000;
	t->tv_nsec = fixture_now_ms % 1000 * 1000000;
	return 0;
}

void http_fixture_set_up(void)
{
	fixture_now_ms = 1000;
	fixture_server = NULL;
	n_peers = 0;
}

void http_fixture_tear_down(void)
{
	http_server_free(fixture_server);
	while (n_peers)
		close(peers[--n_peers]);
}

static int listen_somewhere(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
	ck_assert_int_eq(listen(fd, MAX_PEERS), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &n), 0);
	port = ntohs(address.sin_port);
	return fd;
}

void http_fixture_serve(struct http_server_options *options)
{
	struct diag d = DIAG_INIT;

	options->listener = listen_somewhere();
	ck_assert_msg(http_server_open(&fixture_server, options, &d) == 0, "%s", d.text);
}

void http_fixture_run(void)
{
	struct pollfd p = {.fd = http_server_get_fd(fixture_server), .events = POLLIN};

	while (poll(&p, 1, TURN_MS) > 0 || http_server_get_timeout_ms(fixture_server) == 0)
		http_server_run(fixture_server);
}

static uint64_t count_seen(void)
{
	struct http_counts counts;

	http_server_count(fixture_server, &counts);
	return counts.n_accepted + counts.n_refused;
}

int http_fixture_connect(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons(port)};
	int peer = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	uint64_t n_before = count_seen();
	int bytes = RECEIVE_BYTES;

	ck_assert_uint_lt(n_peers, MAX_PEERS);
	peers[n_peers++] = peer;
	/* The kernel keeps little of the bytes that the peer does not take. */
	setsockopt(peer, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
	ck_assert_int_eq(connect(peer, (struct sockaddr *)&address, sizeof address), 0);
	/* The time limits of the peer begin when the server accepts it. */
	while (count_seen() == n_before)
		http_fixture_run();
	return peer;
}

void http_fixture_send(int peer, const char *text)
{
	ck_assert_int_eq(send(peer, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
	http_fixture_run();
}

const char *http_fixture_take(int peer)
{
	static char text[TEXT_BYTES];
	ssize_t n = recv(peer, text, sizeof text - 1, MSG_DONTWAIT);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

const char *http_fixture_ask(int peer, const char *text)
{
	struct pollfd p = {.fd = peer, .events = POLLIN};

	http_fixture_send(peer, text);
	while (poll(&p, 1, 0) == 0)
		http_fixture_run();
	http_fixture_run();
	return http_fixture_take(peer);
}

bool http_fixture_is_open(int peer)
{
	struct pollfd p = {.fd = peer, .events = POLLRDHUP};

	return poll(&p, 1, 0) == 0;
}

size_t http_fixture_take_all(int peer)
{
	static char bytes[TEXT_BYTES];
	size_t n_bytes = 0;
	ssize_t n;

	while ((n = recv(peer, bytes, sizeof bytes, 0)) > 0)
		n_bytes += (size_t)n;
	return n_bytes;
}
