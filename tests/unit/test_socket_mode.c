/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the mode of a socket in the file system: it does not depend on the umask, and no
 * other file's mode is changed.
 */
#include "lib/spawn/socket_file.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static char dir[64];
static char path[80];
static char victim[80];

static void bind_there(const char *where)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, where);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
	close(fd);
}

static void expect_mode(const char *where, mode_t mode)
{
	struct stat st;

	ck_assert_int_eq(lstat(where, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, mode);
}

static void setup(void)
{
	strcpy(dir, "/tmp/test_socket_mode-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/here", dir);
	snprintf(victim, sizeof victim, "%s/victim", dir);
}

static void teardown(void)
{
	unlink(path);
	unlink(victim);
	rmdir(dir);
}

START_TEST(a_socket_gets_the_requested_mode)
{
	bind_there(path);
	ck_assert_int_eq(socket_file_set_mode(path, 0600), 0);
	expect_mode(path, 0600);
	ck_assert_int_eq(socket_file_set_mode(path, 0666), 0);
	expect_mode(path, 0666);
	ck_assert_int_eq(socket_file_set_mode(path, 0666), 0);
}
END_TEST

/*
 * The path is a symbolic link or a second name of another socket, which
 * may belong to the same user.
 */
static int (*const ways[])(const char *, const char *) = {symlink, link};

START_TEST(path_to_another_socket_is_refused)
{
	bind_there(victim);
	ck_assert_int_eq(chmod(victim, 0600), 0);
	ck_assert_int_eq(ways[_i](victim, path), 0);
	ck_assert_int_eq(socket_file_set_mode(path, 0666), -EEXIST);
	expect_mode(victim, 0600);
}
END_TEST

START_TEST(a_file_that_is_no_socket_is_refused)
{
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0640));
	ck_assert_int_eq(chmod(path, 0640), 0);
	ck_assert_int_eq(socket_file_set_mode(path, 0666), -EEXIST);
	expect_mode(path, 0640);
	unlink(path);
	ck_assert_int_eq(socket_file_set_mode(path, 0600), -ENOENT);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(a_socket_gets_the_requested_mode),
	UNIT_LOOP(path_to_another_socket_is_refused, sizeof ways / sizeof *ways),
	UNIT_TEST(a_file_that_is_no_socket_is_refused),
	{NULL},
};

UNIT_MAIN("socket_mode", .set_up = setup, .tear_down = teardown, .tests = tests)
