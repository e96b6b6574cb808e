/* SPDX-License-Identifier: Apache-2.0 */
/* See unix_listen.h. */
#include "tests/unit/unix_listen.h"

#include <check.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

int unix_listen(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
	ck_assert_int_eq(listen(fd, 8), 0);
	return fd;
}
