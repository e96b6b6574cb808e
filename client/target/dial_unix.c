/* SPDX-License-Identifier: Apache-2.0 */
/* Connecting to a unix socket; see dial_unix.h. */
#include "client/target/dial_unix.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/diag.h"
#include "client/process/clock.h"
#include "client/process/interrupt.h"
#include "client/target/address.h"

#define TUNNEL_MS 1000
#define TUNNEL_TURN_MS 5

static bool is_socket(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

static int explain_unix(const struct address *a, int error, struct diag *d)
{
	if (a->is_tunnel)
		return diag_set(d, -EPIPE, "%s: the tunnel is gone: ssh has ended", a->text);
	switch (error) {
	case -ENOENT:
		return diag_set(d, error,
			"%s: no server there: there is no such socket, or no longer; proftap list shows "
			"the targets",
			a->text);
	case -ECONNREFUSED:
		return is_socket(a->path)
			       ? diag_set(d, error,
					 "%s: no server there: the program has ended; proftap list shows the targets",
					 a->text)
			       : diag_set(d, -ENXIO, "%s: no server there: that is no socket",
					 a->text);
	case -EACCES:
		return diag_set(d, error,
			"%s: not allowed: only the user that runs the target, or root, may connect",
			a->text);
	default:
		return diag_set(d, error, "%s: cannot connect: %s", a->text, errno_words(error));
	}
}

/* Connecting to a unix socket never waits; a full queue is an error. */
int dial_path(const char *path)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int error;

	if (fd < 0)
		return -errno;
	snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
	if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
		return fd;
	error = -errno;
	close(fd);
	return error;
}

int dial_unix(const struct address *a, struct diag *d)
{
	int64_t end_ms = clock_monotonic_ms() + TUNNEL_MS;
	int fd = dial_path(a->path);

	/* ssh creates a socket a moment before it listens there. */
	while (fd == -ECONNREFUSED && a->is_tunnel && clock_monotonic_ms() < end_ms &&
		interrupt_get_count() == 0) {
		interrupt_poll(NULL, TUNNEL_TURN_MS);
		fd = dial_path(a->path);
	}
	return fd < 0 ? explain_unix(a, fd, d) : fd;
}
