/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the server of rpc/ with peers that our own client cannot imitate. */
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <grpc/grpc_posix.h>
#include <grpc/grpc_security.h>
#include <grpc/slice.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>

#include "base/chunks.h"
#include "base/diag.h"
#include "rpc/engine.h"
#include "rpc/server.h"
#include "tests/unit/unit.h"

static struct rpc_server *server;
static _Atomic int n_handled; /* written by the server's thread before it answers */

static void handle(struct rpc_call *call, const uint8_t *request, size_t n, void *context)
{
	struct chunks reply = CHUNKS_INIT;

	(void)request, (void)n, (void)context;
	n_handled++;
	rpc_call_reply(call, &reply);
}

static const struct rpc_method methods[] = {
	{"/t.Test/Echo", 1u << 30, handle, RPC_UNARY},
};

static void set_up(void)
{
	const struct rpc_server_config config = {.methods = methods, .n_methods = 1};
	struct diag d = DIAG_INIT;

	ck_assert_msg(!rpc_server_new(&config, &server, &d), "%s", d.text);
}

static void tear_down(void)
{
	server = rpc_server_free(server);
}

/* Returns our end of a connection to the server. */
static int connect_fd(void)
{
	struct diag d = DIAG_INIT;
	int fds[2];

	ck_assert_int_eq(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
	ck_assert_msg(!rpc_server_adopt(server, fds[0], &d), "%s", d.text);
	return fds[1];
}

static grpc_byte_buffer *zeros(size_t n)
{
	grpc_slice slice = grpc_slice_malloc(n);
	grpc_byte_buffer *message = grpc_raw_byte_buffer_create(&slice, 1);

	memset(GRPC_SLICE_START_PTR(slice), 0, n);
	grpc_slice_unref(slice);
	return message;
}

/* A hostile client's side of one call. */
struct side {
	grpc_completion_queue *queue;
	grpc_channel *channel;
	grpc_call *call;
	grpc_byte_buffer *reply;
	grpc_metadata_array initial;
	grpc_metadata_array trailing;
	grpc_status_code status;
	grpc_slice details;
};

static void open_side(struct side *side, int fd, int compression)
{
	grpc_arg arg = {.type = GRPC_ARG_INTEGER,
		.key = (char *)GRPC_COMPRESSION_CHANNEL_DEFAULT_ALGORITHM};
	grpc_channel_args args = {1, &arg};
	grpc_channel_credentials *credentials = grpc_insecure_credentials_create();
	gpr_timespec end =
		gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_seconds(20, GPR_TIMESPAN));

	arg.value.integer = compression;
	memset(side, 0, sizeof *side);
	side->queue = grpc_completion_queue_create_for_pluck(NULL);
	side->channel = grpc_channel_create_from_fd("t", fd, credentials, &args);
	grpc_channel_credentials_release(credentials);
	side->call = grpc_channel_create_call(side->channel, NULL, 0, side->queue,
		grpc_slice_from_static_string("/t.Test/Echo"), NULL, end, NULL);
	grpc_metadata_array_init(&side->initial);
	grpc_metadata_array_init(&side->trailing);
}

static void close_side(struct side *side)
{
	grpc_call_unref(side->call);
	grpc_channel_destroy(side->channel);
	grpc_completion_queue_shutdown(side->queue);
	grpc_completion_queue_destroy(side->queue);
	grpc_metadata_array_destroy(&side->initial);
	grpc_metadata_array_destroy(&side->trailing);
	if (side->reply)
		grpc_byte_buffer_destroy(side->reply);
	grpc_slice_unref(side->details);
}

static void run_batch(struct side *side, grpc_byte_buffer *message)
{
	grpc_op ops[6];
	size_t n = 0;

	memset(ops, 0, sizeof ops);
	ops[n++].op = GRPC_OP_SEND_INITIAL_METADATA;
	if (message) {
		ops[n].op = GRPC_OP_SEND_MESSAGE;
		ops[n++].data.send_message.send_message = message;
	}
	ops[n++].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
	ops[n].op = GRPC_OP_RECV_INITIAL_METADATA;
	ops[n++].data.recv_initial_metadata.recv_initial_metadata = &side->initial;
	ops[n].op = GRPC_OP_RECV_MESSAGE;
	ops[n++].data.recv_message.recv_message = &side->reply;
	ops[n].op = GRPC_OP_RECV_STATUS_ON_CLIENT;
	ops[n].data.recv_status_on_client.trailing_metadata = &side->trailing;
	ops[n].data.recv_status_on_client.status = &side->status;
	ops[n++].data.recv_status_on_client.status_details = &side->details;
	ck_assert_int_eq(grpc_call_start_batch(side->call, ops, n, side, NULL), GRPC_CALL_OK);
	grpc_completion_queue_pluck(side->queue, side, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
}

/*
 * Makes one call with |message| (consumed; NULL: none), which must end with
 * |status| and a text with |words|.
 */
static void expect(grpc_byte_buffer *message, int compression, int status, const char *words)
{
	struct side side;
	char *text;

	open_side(&side, connect_fd(), compression);
	run_batch(&side, message);
	text = grpc_slice_to_c_string(side.details);
	ck_assert_str_eq(rpc_status_name((int)side.status), rpc_status_name(status));
	ck_assert_msg(strstr(text, words), "\"%s\" lacks \"%s\"", text, words);
	gpr_free(text);
	if (message)
		grpc_byte_buffer_destroy(message);
	close_side(&side);
}

static void expect_alive(void)
{
	int before = n_handled;

	expect(zeros(1), GRPC_COMPRESS_NONE, RPC_OK, "");
	ck_assert_int_eq(n_handled, before + 1);
}

START_TEST(compressed_request_is_refused_unread)
{
	expect(zeros(1 << 20), GRPC_COMPRESS_GZIP, RPC_UNIMPLEMENTED, "is compressed");
	expect(zeros(1 << 20), GRPC_COMPRESS_DEFLATE, RPC_UNIMPLEMENTED, "is compressed");
	ck_assert_int_eq(n_handled, 0);
	expect_alive();
}
END_TEST

START_TEST(call_without_a_message_is_invalid)
{
	expect(NULL, GRPC_COMPRESS_NONE, RPC_INVALID_ARGUMENT, "no message");
	ck_assert_int_eq(n_handled, 0);
	expect_alive();
}
END_TEST

/* Returns the peak memory of this process. */
static size_t peak_kb(void)
{
	char line[128];
	size_t kb = 0;
	FILE *file = fopen("/proc/self/status", "re");

	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof line, file))
		sscanf(line, "VmHWM: %zu", &kb);
	fclose(file);
	return kb;
}

/* ThreadSanitizer keeps several bytes for each byte that was touched. */
static size_t bytes_per_byte(void)
{
	const char *sanitizer = getenv("SANITIZERS");

	return sanitizer && strcmp(sanitizer, "thread") == 0 ? 4 : 1;
}

START_TEST(huge_request_does_not_fill_the_memory)
{
	const size_t n = 200u << 20;
	grpc_byte_buffer *message = zeros(n);
	size_t before_kb = peak_kb(); /* with our own copy of the message */

	expect(message, GRPC_COMPRESS_NONE, RPC_RESOURCE_EXHAUSTED, "");
	ck_assert_int_eq(n_handled, 0);
	ck_assert_uint_lt(peak_kb() - before_kb, n / 1024 / 2 * bytes_per_byte());
	expect_alive();
}
END_TEST

START_TEST(other_protocols_are_disconnected)
{
	static const char http1[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
	char reply[4096];
	int fd = connect_fd();

	ck_assert_int_eq(write(fd, http1, sizeof http1 - 1), sizeof http1 - 1);
	for (;;) {
		ssize_t n = read(fd, reply, sizeof reply);

		if (n < 0 && errno == EAGAIN)
			poll(&(struct pollfd){fd, POLLIN, 0}, 1, 20000);
		else if (n <= 0)
			break;
	}
	close(fd);
	expect_alive();
}
END_TEST

START_TEST(connection_that_says_nothing_does_not_hold_up_the_stop)
{
	int fd = connect_fd();

	expect_alive();
	server = rpc_server_free(server);
	close(fd);
}
END_TEST

START_TEST(connection_that_is_gone_already_does_no_harm)
{
	close(connect_fd());
	expect_alive();
}
END_TEST

START_TEST(bad_descriptor_is_an_error_with_words)
{
	struct diag d = DIAG_INIT;

	ck_assert_int_eq(rpc_server_adopt(server, 1000, &d), -EBADF);
	ck_assert_str_eq(d.text, "connection not served: bad file descriptor");
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(compressed_request_is_refused_unread),
	UNIT_TEST(call_without_a_message_is_invalid),
	UNIT_TEST(huge_request_does_not_fill_the_memory),
	UNIT_TEST(other_protocols_are_disconnected),
	UNIT_TEST(connection_that_says_nothing_does_not_hold_up_the_stop),
	UNIT_TEST(connection_that_is_gone_already_does_no_harm),
	UNIT_TEST(bad_descriptor_is_an_error_with_words),
	{NULL},
};

/* gRPC lives in the test's own process, so check must fork before the fixture starts it. */
UNIT_MAIN("rpc_hostile", .set_up = set_up, .tear_down = tear_down, .timeout_s = 60, .tests = tests)
