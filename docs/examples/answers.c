/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answers: an event loop. One thread serves all connections with epoll; each line that comes in is
 * a request, "NUMBER MILLISECONDS", and is answered with its number after so many milliseconds.
 * Many requests are under way at once, so each is an async span. The program runs until it is
 * killed:
 *
 *	answers 9999                                 prints the port of the requests
 *	printf '7 100\n8 50\n' | nc 127.0.0.1 PORT
 *	proftap capture 9999 500 --log_dir logs
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <proftap/proftap.h>

#define MAX_CONNECTIONS 64
#define MAX_REQUESTS 1024
#define MAX_WAIT_MS 10000
#define LINE_BYTES 64

struct connection {
	int fd; /* -1: none */
	size_t n_bytes;
	char line[LINE_BYTES]; /* the part of the next request that has come */
};

struct request {
	int is_open;
	struct connection *from;
	uint64_t number;
	int64_t due_ms;
};

static struct connection connections[MAX_CONNECTIONS];
static struct request requests[MAX_REQUESTS];
static int n_requests; /* open requests */
static int listener;
static int epoll;

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* --- requests ------------------------------------------------------------------------------ */

static void begin_request(struct connection *from, const char *line)
{
	uint64_t number;
	unsigned wait_ms;

	PTAP_SPAN("begin");
	if (sscanf(line, "%" SCNu64 " %u", &number, &wait_ms) != 2 || wait_ms > MAX_WAIT_MS)
		return;
	for (int i = 0; i < MAX_REQUESTS; i++) {
		if (requests[i].is_open)
			continue;
		requests[i] = (struct request){1, from, number, now_ms() + wait_ms};
		PTAP_ASYNC_BEGIN("request", number);
		PTAP_COUNTER("requests", ++n_requests);
		return;
	}
}

static void end_request(struct request *r)
{
	char text[32];
	int n = snprintf(text, sizeof text, "%" PRIu64 "\n", r->number);

	PTAP_SPAN("end");
	/* A client that has left gets no answer. */
	if (r->from && send(r->from->fd, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		fprintf(stderr, "answers: request %" PRIu64 ": %s\n", r->number, strerror(errno));
	r->is_open = 0;
	PTAP_ASYNC_END("request", r->number);
	PTAP_COUNTER("requests", --n_requests);
}

static void end_due_requests(void)
{
	int64_t now = now_ms();

	for (int i = 0; i < MAX_REQUESTS; i++)
		if (requests[i].is_open && requests[i].due_ms <= now)
			end_request(&requests[i]);
}

/* Returns the time until the next request is due, or -1 if there is none. */
static int wait_ms(void)
{
	int64_t next = INT64_MAX;

	for (int i = 0; i < MAX_REQUESTS; i++)
		if (requests[i].is_open && requests[i].due_ms < next)
			next = requests[i].due_ms;
	if (next == INT64_MAX)
		return -1;
	return next > now_ms() ? (int)(next - now_ms()) : 0;
}

/* --- connections --------------------------------------------------------------------------- */

static int watch(int fd, void *what)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static void accept_connection(void)
{
	int fd = accept(listener, NULL, NULL);

	for (int i = 0; fd >= 0 && i < MAX_CONNECTIONS; i++)
		if (connections[i].fd < 0 && watch(fd, &connections[i]) == 0) {
			connections[i] = (struct connection){.fd = fd};
			return;
		}
	if (fd >= 0)
		close(fd);
}

/* The open requests of |c| go on without an answer. */
static void close_connection(struct connection *c)
{
	for (int i = 0; i < MAX_REQUESTS; i++)
		if (requests[i].from == c)
			requests[i].from = NULL;
	close(c->fd);
	c->fd = -1;
}

static void take_lines(struct connection *c)
{
	char *end;

	while ((end = memchr(c->line, '\n', c->n_bytes))) {
		size_t n = (size_t)(end - c->line) + 1;

		*end = '\0';
		begin_request(c, c->line);
		c->n_bytes -= n;
		memmove(c->line, end + 1, c->n_bytes);
	}
}

static void read_connection(struct connection *c)
{
	ssize_t n = read(c->fd, c->line + c->n_bytes, LINE_BYTES - c->n_bytes);

	PTAP_SPAN("read");
	if (n > 0)
		c->n_bytes += (size_t)n;
	take_lines(c);
	if (n <= 0 || c->n_bytes == LINE_BYTES)
		close_connection(c);
}

/* --- the loop ------------------------------------------------------------------------------ */

static void turn(void)
{
	struct epoll_event events[16];
	int n = epoll_wait(epoll, events, 16, wait_ms());

	PTAP_SPAN("turn");
	for (int i = 0; i < n; i++) {
		if (events[i].data.ptr)
			read_connection(events[i].data.ptr);
		else
			accept_connection();
	}
	end_due_requests();
}

/* Listens on any free port of 127.0.0.1. Returns the port, or 0. */
static int start_listening(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t length = sizeof address;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 16) ||
		getsockname(listener, (struct sockaddr *)&address, &length) ||
		watch(listener, NULL))
		return 0;
	return ntohs(address.sin_port);
}

int main(int argc, char **argv)
{
	int port;

	if (argc > 2 || (argc == 2 && argv[1][strspn(argv[1], "0123456789")])) {
		fprintf(stderr,
			"usage: answers [PORT]   the profiler's port; default: any free one\n");
		return 2;
	}
	port = start_listening();
	for (int i = 0; i < MAX_CONNECTIONS; i++)
		connections[i].fd = -1;
	if (!port) {
		fprintf(stderr, "answers: cannot listen: %s\n", strerror(errno));
		return 1;
	}
	if (ptap_server_start((uint16_t)(argc > 1 ? atoi(argv[1]) : 0))) {
		fprintf(stderr, "answers: %s\n", ptap_last_error());
		return 1;
	}
	printf("answers: port %d, requests at port %d\n", ptap_server_port(), port);
	fflush(stdout);
	ptap_thread_name("loop");
	for (;;)
		turn();
}
