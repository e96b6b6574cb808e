/* SPDX-License-Identifier: Apache-2.0 */
/* Listening on loopback; see loopback.h. */
#include "client/view/loopback.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"

#define BACKLOG 16

static int fail_port(uint16_t port, int error, struct diag *d)
{
	return diag_set(
		d, -error, "127.0.0.1:%u: cannot listen there: %s", port, errno_words(error));
}

int loopback_listen(uint16_t port, struct diag *d)
{
	const struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int one = 1;
	int r;

	if (fd < 0)
		return fail_port(port, errno, d);
	/* One that served a moment ago left connections behind; one that still serves is in the way all the same. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 ||
		listen(fd, BACKLOG) < 0)
		return fail_port(port, errno, d);
	r = fd;
	fd = -1;
	return r;
}
