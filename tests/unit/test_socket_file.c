/* SPDX-License-Identifier: Apache-2.0 */
/* Tests sockets in the file system: which of them are removed, and what is remembered of each. */
#include "daemon/kernel/socket_file.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "tests/unit/unix_listen.h"

static char dir[64];
static char path[80];
static struct socket_file file;

static void setup(void)
{
	strcpy(dir, "/tmp/test_socket_file-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/here", dir);
}

static void teardown(void)
{
	unlink(path);
	rmdir(dir);
}

/* The path stays after the removal, because other threads describe the server by it. */
START_TEST(goes_and_is_remembered)
{
	int fd = unix_listen(path);

	socket_file_find(&file, fd);
	ck_assert_str_eq(file.path, path);
	ck_assert_int_eq(socket_file_is_there(&file), 1);
	socket_file_remove(&file);
	ck_assert_int_eq(socket_file_is_there(&file), 0);
	ck_assert_int_ne(access(path, F_OK), 0);
	ck_assert_str_eq(file.path, path);
	close(fd);
}
END_TEST

START_TEST(is_removed_once)
{
	int fd = unix_listen(path);
	int later;

	socket_file_find(&file, fd);
	socket_file_remove(&file);
	later = unix_listen(path);
	socket_file_remove(&file);
	ck_assert_int_eq(access(path, F_OK), 0);
	close(later);
	close(fd);
}
END_TEST

START_TEST(a_later_servers_socket_stays)
{
	int fd = unix_listen(path);
	int later;
	char other[96];

	socket_file_find(&file, fd);
	/* The old file is kept, so that the next socket gets another inode. */
	snprintf(other, sizeof other, "%s.old", path);
	ck_assert_int_eq(rename(path, other), 0);
	ck_assert_int_eq(socket_file_is_there(&file), 0);
	later = unix_listen(path);
	ck_assert_int_eq(socket_file_is_there(&file), 0);
	socket_file_remove(&file);
	ck_assert_int_eq(access(path, F_OK), 0);
	close(later);
	close(fd);
	unlink(other);
}
END_TEST

START_TEST(a_port_has_no_socket_file)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	socket_file_find(&file, fd);
	ck_assert_str_eq(file.path, "");
	socket_file_remove(&file);
	close(fd);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(goes_and_is_remembered),
	UNIT_TEST(is_removed_once),
	UNIT_TEST(a_later_servers_socket_stays),
	UNIT_TEST(a_port_has_no_socket_file),
	{NULL},
};

UNIT_MAIN("socket_file", .set_up = setup, .tear_down = teardown, .tests = tests)
