/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests whole captures against a server on loopback that answers with given bytes:
 * the published file and the user's messages. gRPC runs in the test's own process, because
 * the check library forks before the fixture is opened.
 */
#include "client/capture/capture.h"

#include <arpa/inet.h>
#include <check.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/chunks.h"
#include "base/diag.h"
#include "client/answer/profile_call.h"
#include "client/connect/exchange.h"
#include "client/process/exit.h"
#include "rpc/handoff.h"
#include "rpc/server.h"
#include "tests/unit/unit.h"

static struct {
	struct rpc_server *server;
	pthread_t acceptor;
	int listen_fd;
	const char *answer;
	size_t n_answer;
	const char *refusal; /* not NULL: the gRPC error's text instead */
	struct client_capture capture;
	struct address address;
	char log_dir[64];
	struct diag diag;
	char said[4096]; /* on standard error */
} t;

/* The server. */

static void answer_profile(struct rpc_call *call, const uint8_t *request, size_t n, void *context)
{
	struct chunks reply = CHUNKS_INIT;
	const char *refusal;

	(void)request, (void)n, (void)context;
	handoff_take(&t);
	refusal = t.refusal;
	if (!refusal)
		chunks_append(&reply, t.answer, t.n_answer);
	handoff_give(&t);
	if (refusal)
		rpc_call_fail(call, RPC_INTERNAL, refusal);
	else
		rpc_call_reply(call, &reply);
}

static const struct rpc_method methods[] = {
	{PROFILE_PATH, 1u << 20, answer_profile, RPC_UNARY},
};

static const char *const host_name = "host";

static void *accept_all(void *unused)
{
	struct diag d = DIAG_INIT;
	int fd;

	while ((fd = accept4(t.listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
		ck_assert_msg(!rpc_server_adopt(t.server, fd, &d), "%s", d.text);
	return unused;
}

static void start_server(void)
{
	const struct rpc_server_config config = {.methods = methods, .n_methods = 1};
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t n = sizeof address;

	ck_assert_msg(!rpc_server_new(&config, &t.server, &t.diag), "%s", t.diag.text);
	t.listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(t.listen_fd, (struct sockaddr *)&address, n), 0);
	ck_assert_int_eq(listen(t.listen_fd, 8), 0);
	ck_assert_int_eq(getsockname(t.listen_fd, (struct sockaddr *)&address, &n), 0);
	ck_assert_int_eq(pthread_create(&t.acceptor, NULL, accept_all, NULL), 0);
	strcpy(t.address.host, "127.0.0.1");
	t.address.port = ntohs(address.sin_port);
	address_format(&t.address);
}

static void set_up(void)
{
	strcpy(t.log_dir, "/tmp/test_capture-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(t.log_dir));
	start_server();
	profile_options_init(&t.capture.options);
	t.capture.options.duration_ms = 1;
	t.capture.timeout_ms = -1;
	t.capture.log_dir = t.log_dir;
	t.capture.run = "run";
	t.capture.host_names = &host_name;
	t.capture.targets = &t.address;
	t.capture.n_targets = 1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static void tear_down(void)
{
	shutdown(t.listen_fd, SHUT_RDWR);
	pthread_join(t.acceptor, NULL);
	close(t.listen_fd);
	t.server = rpc_server_free(t.server);
	profile_options_deinit(&t.capture.options);
	names_deinit(&t.capture.warnings);
	nftw(t.log_dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* The client. */

/* Drops standard output, because the file's path is no TAP; standard error goes to t.said. */
static int capture(void)
{
	int out = dup(STDOUT_FILENO);
	int err = dup(STDERR_FILENO);
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	FILE *said = tmpfile();
	size_t n;
	int code;

	ck_assert_ptr_nonnull(said);
	fflush(stdout);
	dup2(null, STDOUT_FILENO);
	dup2(fileno(said), STDERR_FILENO);
	/* The socket orders these writes before the server's answer. */
	handoff_give(&t);
	code = client_capture_run(&t.capture, &t.diag);
	handoff_take(&t);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	rewind(said);
	n = fread(t.said, 1, sizeof t.said - 1, said);
	t.said[n] = '\0';
	fclose(said);
	close(null);
	close(out);
	close(err);
	return code;
}

#define ANSWER(bytes) (t.answer = (bytes), t.n_answer = sizeof(bytes) - 1)

static bool is_published(void)
{
	char path[128];

	snprintf(path, sizeof path, "%s/plugins/profile/run/host.xplane.pb", t.log_dir);
	return access(path, F_OK) == 0;
}

static void assert_contains(const char *text, const char *words)
{
	ck_assert_msg(strstr(text, words), "\"%s\" lacks \"%s\"", text, words);
}

static void expect_nothing_but(int code, const char *words)
{
	ck_assert_int_eq(capture(), code);
	ck_assert(!is_published());
	ck_assert_ptr_eq(strstr(t.diag.text, "127.0.0.1:"), t.diag.text);
	assert_contains(t.diag.text, words);
}

/*
 * ProfileResponse.xspace with a plane, a line and one event. The test gives the rest of the XSpace.
 */
#define EVENT "\x0a\x0a\x12\x02pl\x1a\x04\x22\x02\x18\x01"
#define SPACE(length, bytes) "\x42" length bytes

START_TEST(publishes_a_trace_with_an_event)
{
	ANSWER(SPACE("\x0c", EVENT));
	ck_assert_int_eq(capture(), EXIT_DONE);
	ck_assert(is_published());
	assert_contains(t.said, "spans 1 on 1 thread ");
}
END_TEST

START_TEST(does_not_publish_an_unreadable_trace)
{
	ANSWER(SPACE("\x04", "\x0a\xff\xff\xff"));
	expect_nothing_but(EXIT_FAILED, "not a readable trace");
}
END_TEST

START_TEST(does_not_publish_a_trace_without_events)
{
	/* A plane with a line, and no event on it. */
	ANSWER(SPACE("\x08", "\x0a\x06\x12\x02pl\x1a\x00"));
	expect_nothing_but(EXIT_EMPTY, "the recording worked and was empty: no annotation");
}
END_TEST

START_TEST(says_once_why_a_trace_is_empty)
{
	ANSWER(SPACE("\x1f", "\x1a\x1dnothing was recorded: because"));
	expect_nothing_but(EXIT_EMPTY, ": the recording worked and was empty: because");
	ck_assert_ptr_null(strstr(t.diag.text, "nothing was recorded"));
	ck_assert_str_eq(t.said, "");
}
END_TEST

START_TEST(finds_the_reason_behind_other_warnings)
{
	ANSWER(SPACE("\x28", "\x1a\x07known-a\x1a\x07"
			     "other\x1b!"
			     "\x1a\x14nothing was recorded"));
	expect_nothing_but(EXIT_EMPTY, "was empty: known-a");
	ANSWER(SPACE("\x31", "\x1a\x07known-a\x1a\x07"
			     "other\x1b!"
			     "\x1a\x1dnothing was recorded: because"));
	names_intern(&t.capture.warnings, "known-a", 7);
	expect_nothing_but(EXIT_EMPTY, "was empty: because");
	ck_assert_str_eq(t.said, "  warning: other?!\n");
}
END_TEST

START_TEST(prints_foreign_warnings_clean)
{
	ANSWER(SPACE("\x14", EVENT "\x1a\x06"
				   "a\x1b[2\nb"));
	ck_assert_int_eq(capture(), EXIT_DONE);
	assert_contains(t.said, "\n  warning: a?[2?b\n");
	ck_assert_ptr_null(strchr(t.said, '\x1b'));
}
END_TEST

START_TEST(prints_foreign_errors_clean)
{
	t.refusal = "no\x1b[2J\nnever\xc2\x9b";
	expect_nothing_but(EXIT_FAILED, "answered INTERNAL: no?[2J?never?");
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(publishes_a_trace_with_an_event),
	UNIT_TEST(does_not_publish_an_unreadable_trace),
	UNIT_TEST(does_not_publish_a_trace_without_events),
	UNIT_TEST(says_once_why_a_trace_is_empty),
	UNIT_TEST(finds_the_reason_behind_other_warnings),
	UNIT_TEST(prints_foreign_warnings_clean),
	UNIT_TEST(prints_foreign_errors_clean),
	{NULL},
};

UNIT_MAIN("capture", .set_up = set_up, .tear_down = tear_down, .timeout_s = 60, .tests = tests)
