/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests requests of programs for a server, and the descriptors that come with them, with hostile
 * requests and descriptors among them.
 */
#include "daemon/serve/children/starter.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/wire/arena.h"
#include "tests/unit/join_fixture.h"
#include "tests/unit/unit.h"

#define ALL_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static int sockets[2]; /* our end, and the program's */
static struct serve_request good;
static struct serve_request got;
static struct serve_brought brought;
static int arena;
static int listener;

static int make_arena(uint64_t size, unsigned flags, int seals)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags);

	ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
	ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static int make_listener(int type)
{
	const struct sockaddr_in any = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&any, sizeof any), 0);
	return fd;
}

static void set_up(void)
{
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
	good = (struct serve_request){.is_program = 1};
	memcpy(good.word, SERVE_WORD, SERVE_WORD_BYTES);
	arena = make_arena(arena_size_bytes(1, ARENA_MIN_RING_BYTES), 0, ALL_SEALS);
	listener = make_listener(SOCK_STREAM);
	ck_assert_int_eq(listen(listener, 1), 0);
}

static void tear_down(void)
{
	close(sockets[0]);
	close(sockets[1]);
	close(arena);
	close(listener);
}

/* Unlike join_fixture_send(), sends two different descriptors. */
static void send_both(const void *request, size_t n, int first, int second)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control;
	const int fds[] = {first, second};
	struct iovec piece = {(void *)(size_t)request, n};
	struct msghdr message = {.msg_iov = &piece,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof control};

	memset(&control, 0, sizeof control);
	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(sizeof fds);
	memcpy(CMSG_DATA(&control.head), fds, sizeof fds);
	ck_assert_int_eq((int)sendmsg(sockets[1], &message, 0), (int)n);
}

static int read_it(void)
{
	return serve_request_read(sockets[0], &got, &brought);
}

/* Checks a refusal, after which no descriptor stays open. */
static void refuses(int error)
{
	int before = join_fixture_next_fd();

	ck_assert_int_eq(read_it(), error);
	ck_assert_int_eq(join_fixture_next_fd(), before);
	ck_assert_int_eq(brought.arena, -1);
	ck_assert_int_eq(brought.listener, -1);
}

static void refuses_pair(int first, int second)
{
	send_both(&good, sizeof good, first, second);
	refuses(-EBADMSG);
}

START_TEST(takes_an_arena_and_a_listener)
{
	send_both(&good, sizeof good, arena, listener);
	ck_assert_int_eq(serve_request_is_next(sockets[0]), 1);
	ck_assert_int_eq(serve_request_is_next(sockets[0]), 1);
	ck_assert_int_eq(read_it(), 0);
	ck_assert_uint_eq(got.is_program, 1);
	ck_assert_int_ge(brought.arena, 0);
	ck_assert_int_eq(fcntl(brought.arena, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	/* An accept() on the listener must not block. */
	ck_assert_int_eq(fcntl(brought.listener, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	close(brought.arena);
	close(brought.listener);
}
END_TEST

START_TEST(takes_an_arena_alone)
{
	ck_assert_int_eq(
		(int)join_fixture_send(sockets[1], &good, sizeof good, arena, 1), (int)sizeof good);
	ck_assert_int_eq(read_it(), 0);
	ck_assert_int_eq(brought.listener, -1);
	close(brought.arena);
}
END_TEST

START_TEST(refuses_descriptors_that_are_no_arena)
{
	uint64_t size = arena_size_bytes(1, ARENA_MIN_RING_BYTES);
	int shrinks = make_arena(size, 0, F_SEAL_GROW);
	int small = make_arena(size - 1, 0, ALL_SEALS);

	refuses_pair(shrinks, listener);
	refuses_pair(small, listener);
	refuses_pair(listener, arena);
	refuses_pair(0, listener);
	close(shrinks);
	close(small);
}
END_TEST

START_TEST(refuses_descriptors_that_are_no_listener)
{
	int bound = make_listener(SOCK_STREAM);
	int datagrams = make_listener(SOCK_DGRAM);

	refuses_pair(arena, bound);
	refuses_pair(arena, datagrams);
	refuses_pair(arena, sockets[1]);
	refuses_pair(arena, arena);
	close(bound);
	close(datagrams);
}
END_TEST

START_TEST(refuses_none_or_many_descriptors)
{
	static const unsigned numbers[] = {0, 3, 8};

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		join_fixture_send(sockets[1], &good, sizeof good, arena, numbers[i]);
		refuses(-EBADMSG);
	}
}
END_TEST

START_TEST(refuses_another_size_or_word)
{
	char large[sizeof good + 1];

	memcpy(large, &good, sizeof good);
	send_both(large, sizeof large, arena, listener);
	refuses(-EPROTO);
	send_both(&good, sizeof good - 1, arena, listener);
	refuses(-EPROTO);
	good.word[14]++;
	send_both(&good, sizeof good, arena, listener);
	ck_assert_int_eq(serve_request_is_next(sockets[0]), 0);
	refuses(-EPROTO);
}
END_TEST

START_TEST(waits_for_a_request_that_has_not_come)
{
	ck_assert_int_eq(serve_request_is_next(sockets[0]), 0);
	ck_assert_int_eq(read_it(), -EAGAIN);
	ck_assert_int_eq((int)send(sockets[1], "PROFTAP", 7, 0), 7);
	ck_assert_int_eq(serve_request_is_next(sockets[0]), 0);
}
END_TEST

START_TEST(answers_the_program_that_waits)
{
	struct serve_answer answer;

	ck_assert_int_eq(serve_request_answer(sockets[0], -EUSERS), 0);
	ck_assert_int_eq((int)recv(sockets[1], &answer, sizeof answer, 0), (int)sizeof answer);
	ck_assert_int_eq(answer.result, -EUSERS);
	close(sockets[1]);
	ck_assert_int_eq(serve_request_answer(sockets[0], 0), -EPIPE);
	sockets[1] = dup(sockets[0]);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(takes_an_arena_and_a_listener),
	UNIT_TEST(takes_an_arena_alone),
	UNIT_TEST(refuses_descriptors_that_are_no_arena),
	UNIT_TEST(refuses_descriptors_that_are_no_listener),
	UNIT_TEST(refuses_none_or_many_descriptors),
	UNIT_TEST(refuses_another_size_or_word),
	UNIT_TEST(waits_for_a_request_that_has_not_come),
	UNIT_TEST(answers_the_program_that_waits),
	{NULL},
};

UNIT_MAIN("serve_request", .set_up = set_up, .tear_down = tear_down, .tests = tests)
