/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the requests of forked children that join, with hostile ones among them. */
#include "daemon/serve/children/joins.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/diag.h"
#include "daemon/target/family.h"
#include "tests/unit/join_fixture.h"
#include "tests/unit/unit.h"

static int sockets[2]; /* our end, and the child's */
static struct join_request good;
static struct join_request got;
static int fd; /* the received descriptor */

static void open_sockets(void)
{
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
	good = (struct join_request){JOIN_MAGIC, JOIN_VERSION, 42, {0}};
	memcpy(good.secret, join_fixture_secret, sizeof good.secret);
	fd = -1;
}

static void close_sockets(void)
{
	close(sockets[0]);
	close(sockets[1]);
}

/* Sends |n_fds| copies of |sent| with the first |n| bytes of |request|, and receives them. */
static int receive(const void *request, size_t n, int sent, unsigned n_fds)
{
	ck_assert_int_eq((int)join_fixture_send(sockets[1], request, n, sent, n_fds), (int)n);
	return join_request_read(sockets[0], join_fixture_secret, &got, &fd);
}

/* Checks a refusal, after which no descriptor stays open. */
static void refuses(int error, const void *request, size_t n, unsigned n_fds)
{
	int before = join_fixture_next_fd();

	ck_assert_int_eq(receive(request, n, 0, n_fds), error);
	ck_assert_int_eq(join_fixture_next_fd(), before);
}

START_TEST(takes_a_good_request)
{
	ck_assert_int_eq(receive(&good, sizeof good, 0, 1), 0);
	ck_assert_int_eq(got.pid, 42);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	close(fd);
}
END_TEST

START_TEST(refuses_a_wrong_secret)
{
	good.secret[JOIN_SECRET_BYTES - 1] ^= 1;
	refuses(-EACCES, &good, sizeof good, 1);
}
END_TEST

START_TEST(refuses_none_or_several_descriptors)
{
	refuses(-EBADMSG, &good, sizeof good, 0);
	refuses(-EBADMSG, &good, sizeof good, 2);
	refuses(-EBADMSG, &good, sizeof good, 8);
}
END_TEST

START_TEST(refuses_another_size_or_version)
{
	char large[sizeof good + 1];

	memcpy(large, &good, sizeof good);
	refuses(-EPROTO, large, sizeof large, 1);
	refuses(-EPROTO, &good, sizeof good - 1, 1);
	good.version++;
	refuses(-EPROTO, &good, sizeof good, 1);
	good.version--;
	good.magic++;
	refuses(-EPROTO, &good, sizeof good, 1);
}
END_TEST

START_TEST(waits_for_a_request_that_has_not_come)
{
	ck_assert_int_eq(join_request_read(sockets[0], join_fixture_secret, &got, &fd), -EAGAIN);
	close(sockets[1]);
	ck_assert_int_ne(join_request_read(sockets[0], join_fixture_secret, &got, &fd), 0);
	sockets[1] = dup(sockets[0]);
}
END_TEST

/* Makes an arena of one small ring, with those |seals| that the kernel accepts. */
static int make_arena(int seals)
{
	uint64_t size = arena_size_bytes(1, ARENA_MIN_RING_BYTES);
	int memfd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct arena *a;

	ck_assert_int_eq(ftruncate(memfd, (off_t)size), 0);
	ck_assert_int_eq(fcntl(memfd, F_ADD_SEALS, seals), 0);
	a = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	ck_assert_ptr_ne(a, MAP_FAILED);
	a->magic = ARENA_MAGIC;
	a->version_low = a->version_high = ARENA_VERSION_LOW;
	a->n_rings = 1;
	a->ring_bytes = ARENA_MIN_RING_BYTES;
	munmap(a, size);
	return memfd;
}

#define ALL_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

START_TEST(keeps_a_sealed_arena_and_gives_it_back)
{
	struct diag d = DIAG_INIT;
	struct child *child;
	int before = join_fixture_next_fd();

	ck_assert_int_eq(child_new(make_arena(ALL_SEALS), getpid(), &child, &d), 0);
	ck_assert_int_eq(target_read_head(&child->target, &d), 0);
	ck_assert_ptr_null(child_release(child));
	ck_assert_int_eq(join_fixture_next_fd(), before);
}
END_TEST

START_TEST(refuses_an_arena_that_could_shrink)
{
	struct diag d = DIAG_INIT;
	struct child *child;
	int before = join_fixture_next_fd();

	ck_assert_int_lt(child_new(make_arena(F_SEAL_GROW), getpid(), &child, &d), 0);
	ck_assert_int_lt(child_new(dup(0), getpid(), &child, &d), 0);
	ck_assert_int_eq(join_fixture_next_fd(), before);
}
END_TEST

START_TEST(refuses_a_layout_that_does_not_fit)
{
	struct diag d = DIAG_INIT;
	struct child *child;

	ck_assert_int_eq(child_new(make_arena(ALL_SEALS), getpid(), &child, &d), 0);
	child->target.arena->n_rings = ARENA_MAX_RINGS;
	ck_assert_int_eq(target_read_head(&child->target, &d), -EPROTO);
	child_release(child);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(takes_a_good_request),
	UNIT_TEST(refuses_a_wrong_secret),
	UNIT_TEST(refuses_none_or_several_descriptors),
	UNIT_TEST(refuses_another_size_or_version),
	UNIT_TEST(waits_for_a_request_that_has_not_come),
	UNIT_TEST(keeps_a_sealed_arena_and_gives_it_back),
	UNIT_TEST(refuses_an_arena_that_could_shrink),
	UNIT_TEST(refuses_a_layout_that_does_not_fit),
	{NULL},
};

UNIT_MAIN("joins", .set_up = open_sockets, .tear_down = close_sockets, .tests = tests)
