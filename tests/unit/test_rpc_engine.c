/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the behaviour of gRPC that rpc/ relies on and that no interface promises. A failure names
 * the version of gRPC that behaves otherwise.
 */
#include <check.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <grpc/grpc.h>
#include <grpc/grpc_posix.h>
#include <grpc/grpc_security.h>

#include "base/diag.h"
#include "rpc/engine.h"
#include "tests/unit/rpc_fixture.h"
#include "tests/unit/unit.h"

/* Twice UNREAD_BYTES of rpc/socket.c */
#define MAX_READ_BYTES 32768

static atomic_int adopted_fd = -1;
static atomic_size_t most_read_bytes; /* of the adopted connection, at once */

static void note_read(size_t n)
{
	if (n > atomic_load(&most_read_bytes))
		atomic_store(&most_read_bytes, n);
}

/* gRPC calls this in place of libc's function. */
__attribute__((visibility("default"))) ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	ssize_t (*original)(int, struct msghdr *, int) =
		(ssize_t(*)(int, struct msghdr *, int))dlsym(RTLD_NEXT, "recvmsg");
	ssize_t n = original(fd, message, flags);

	if (fd == atomic_load(&adopted_fd) && n > 0)
		note_read((size_t)n);
	return n;
}

static atomic_int connection_of_call = -2;

static void note_connection(struct rpc_call *call, const uint8_t *request, size_t n, void *context)
{
	atomic_store(&connection_of_call, rpc_call_get_connection(call));
	handle_echo(call, request, n, context);
}

static const struct rpc_method methods[] = {
	{"/t.Test/Echo", 1u << 20, note_connection, RPC_UNARY},
};

static int listen_on_loopback(struct sockaddr_in *address)
{
	socklen_t size = sizeof *address;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*address = (struct sockaddr_in){.sin_family = AF_INET};
	address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)address, size), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)address, &size), 0);
	return fd;
}

/* Connects both ends through TCP, as users do. */
static void connect_tcp(int fds[2])
{
	struct sockaddr_in address;
	int listener = listen_on_loopback(&address);

	fds[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(connect(fds[1], (struct sockaddr *)&address, sizeof address), 0);
	fds[0] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	ck_assert_int_ge(fds[0], 0);
	close(listener);
}

static void connect_unix(int fds[2])
{
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
}

static void (*const connectors[])(int fds[2]) = {connect_tcp, connect_unix};

/* Opens the server, and replaces the fixture's channel with one over |connector|. */
static void open_on(void (*connector)(int fds[2]))
{
	struct diag d = DIAG_INIT;
	int fds[2];

	rpc_fixture_open(methods, 1);
	rpc.channel = rpc_channel_free(rpc.channel);
	connector(fds);
	atomic_store(&adopted_fd, fds[0]);
	ck_assert_msg(!rpc_server_adopt(rpc.server, fds[0], &d), "%s", d.text);
	ck_assert_msg(!rpc_channel_new(fds[1], "localhost:1", &rpc.channel, &d), "%s", d.text);
}

START_TEST(call_names_the_descriptor_of_its_connection)
{
	open_on(connectors[_i]);
	expect_reply(make_call("/t.Test/Echo", "abc", 3), "abc", 3);
	ck_assert_msg(atomic_load(&connection_of_call) == atomic_load(&adopted_fd),
		"gRPC %s does not call an adopted connection \"fd:N\": found %d, not %d",
		grpc_version_string(), atomic_load(&connection_of_call), atomic_load(&adopted_fd));
	rpc_fixture_close();
}
END_TEST

START_TEST(server_reads_little_at_a_time)
{
	const size_t n = 1u << 20;
	char *request = calloc(1, n);

	ck_assert_ptr_nonnull(request);
	open_on(connect_tcp);
	expect_reply(make_call("/t.Test/Echo", request, n), request, n);
	ck_assert_uint_gt(atomic_load(&most_read_bytes), 0);
	ck_assert_msg(atomic_load(&most_read_bytes) <= MAX_READ_BYTES,
		"gRPC %s read %zu bytes of a connection at once", grpc_version_string(),
		atomic_load(&most_read_bytes));
	rpc_fixture_close();
	free(request);
}
END_TEST

START_TEST(grpc_writes_nothing_to_standard_error)
{
	char text[512] = "";
	int fd = memfd_create("errors", 0);
	grpc_server *server;

	fflush(stderr);
	ck_assert_int_eq(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	engine_start();
	server = grpc_server_create(NULL, NULL);
	/* An error in all versions: there are no credentials. */
	grpc_server_add_channel_from_fd(server, -1, NULL);
	grpc_server_destroy(server);
	engine_stop();
	ck_assert_int_ge(pread(fd, text, sizeof text - 1, 0), 0);
	ck_assert_msg(!text[0], "gRPC %s ignores GRPC_VERBOSITY=NONE: it wrote \"%s\"",
		grpc_version_string(), text);
}
END_TEST

START_TEST(environment_stays_as_it_was)
{
	char **before;

	setenv("GRPC_EXPERIMENTS", "mine", 1);
	before = environ;
	engine_start();
	engine_start();
	ck_assert_ptr_eq(environ, before);
	ck_assert_ptr_null(getenv("GRPC_VERBOSITY"));
	ck_assert_str_eq(getenv("GRPC_EXPERIMENTS"), "mine");
	engine_stop();
	engine_stop();
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_LOOP(call_names_the_descriptor_of_its_connection, 2),
	UNIT_TEST(server_reads_little_at_a_time),
	UNIT_TEST(grpc_writes_nothing_to_standard_error),
	UNIT_TEST(environment_stays_as_it_was),
	{NULL},
};

UNIT_MAIN("rpc_engine", .tests = tests)
