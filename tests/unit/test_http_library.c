/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the HTTP server with libraries that begin a connection at different times. libmicrohttpd
 * 0.9.75 begins it inside of MHD_add_connection(), libmicrohttpd 1.0 in the next MHD_run(). The
 * program is linked with -Wl,--wrap=dlsym, and puts a queue before the installed library.
 */
#include <check.h>
#include <dlfcn.h>
#include <microhttpd.h>
#include <string.h>
#include <sys/socket.h>

#include "http/server.h"
#include "tests/unit/http_fixture.h"
#include "tests/unit/unit.h"

#define REQUEST "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

void *__wrap_dlsym(void *library, const char *name);
void *__real_dlsym(void *library, const char *name);

static __typeof__(&MHD_add_connection) library_add;
static __typeof__(&MHD_run) library_run;

/* The calls of MHD_run() after which a connection begins, and those that are still to come. */
static int n_runs_until_begin;
static int n_runs_left;
static int queued_fd;
static struct sockaddr_storage queued_address;
static socklen_t queued_address_bytes;

static enum MHD_Result queue_connection(
	struct MHD_Daemon *daemon, MHD_socket fd, const struct sockaddr *address, socklen_t n)
{
	(void)daemon;
	ck_assert_int_lt(queued_fd, 0);
	queued_fd = fd;
	memcpy(&queued_address, address, n);
	queued_address_bytes = n;
	n_runs_left = n_runs_until_begin;
	return MHD_YES;
}

static enum MHD_Result run_queue(struct MHD_Daemon *daemon)
{
	if (queued_fd >= 0 && --n_runs_left == 0) {
		library_add(daemon, queued_fd, (struct sockaddr *)&queued_address,
			queued_address_bytes);
		queued_fd = -1;
	}
	return library_run(daemon);
}

void *__wrap_dlsym(void *library, const char *name)
{
	void *address = __real_dlsym(library, name);
	__typeof__(&MHD_add_connection) add = queue_connection;
	__typeof__(&MHD_run) run = run_queue;

	if (strcmp(name, "MHD_add_connection") == 0) {
		memcpy(&library_add, &address, sizeof address);
		memcpy(&address, &add, sizeof address);
	} else if (strcmp(name, "MHD_run") == 0) {
		memcpy(&library_run, &address, sizeof address);
		memcpy(&address, &run, sizeof address);
	}
	return address;
}

static bool enter(int fd, struct http_peer *peer, void *context)
{
	(void)fd;
	(void)context;
	peer->uid = 42;
	return true;
}

static void handle(struct http_exchange *x, void *context)
{
	(void)context;
	ck_assert_uint_eq(http_get_peer(x)->uid, 42);
	http_reply_text(x, 200, "text/plain", "answered");
}

static void serve(int n_runs)
{
	struct http_server_options o = {
		.max_connections = 2, .max_of_user = 2, .enter = enter, .handle = handle};

	n_runs_until_begin = n_runs;
	queued_fd = -1;
	http_fixture_serve(&o);
}

START_TEST(queued_connection_is_served)
{
	serve(1);
	for (int i = 0; i < 2; i++)
		ck_assert_ptr_nonnull(
			strstr(http_fixture_ask(http_fixture_connect(), REQUEST), "answered"));
}
END_TEST

START_TEST(connection_that_begins_unexpectedly_is_refused)
{
	int peer;

	serve(2);
	peer = http_fixture_connect();
	http_fixture_run();
	ck_assert_uint_eq(http_fixture_take_all(peer), 0);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(queued_connection_is_served),
	UNIT_TEST(connection_that_begins_unexpectedly_is_refused),
	{NULL},
};

UNIT_MAIN("http_library", .set_up = http_fixture_set_up, .tear_down = http_fixture_tear_down,
	.tests = tests)
