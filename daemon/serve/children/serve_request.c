/* SPDX-License-Identifier: Apache-2.0 */
/* A program's message; see serve_request.h. */
#include "daemon/serve/children/serve_request.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/kernel/passed_fd.h"
#include "daemon/target/arena_file.h"

int serve_request_is_next(int fd)
{
	char word[SERVE_WORD_BYTES];

	return recv(fd, word, sizeof word, MSG_PEEK | MSG_DONTWAIT) == (ssize_t)sizeof word &&
	       memcmp(word, SERVE_WORD, sizeof word) == 0;
}

static int has_option(int fd, int name, int value)
{
	int is;
	socklen_t n = sizeof is;

	return getsockopt(fd, SOL_SOCKET, name, &is, &n) == 0 && is == value;
}

static int is_listener(int fd)
{
	return has_option(fd, SO_ACCEPTCONN, 1) && has_option(fd, SO_TYPE, SOCK_STREAM) &&
	       (has_option(fd, SO_DOMAIN, AF_INET) || has_option(fd, SO_DOMAIN, AF_INET6) ||
		       has_option(fd, SO_DOMAIN, AF_UNIX));
}

static int check(const struct serve_request *request, size_t n, const int *fds)
{
	if (n != sizeof *request || memcmp(request->word, SERVE_WORD, SERVE_WORD_BYTES) != 0)
		return -EPROTO;
	if (!arena_file_find_size(fds[0]) || (fds[1] >= 0 && !is_listener(fds[1])))
		return -EBADMSG;
	return 0;
}

/* Who accepts must not be kept waiting, whatever it was before. */
static int unblock(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) ? -errno : 0;
}

int serve_request_read(int fd, struct serve_request *request, struct serve_brought *brought)
{
	int fds[SERVE_MAX_DESCRIPTORS];
	ssize_t n = passed_fds_receive(fd, request, sizeof *request, fds, SERVE_MAX_DESCRIPTORS);
	int r = n < 0 ? (int)n : check(request, (size_t)n, fds);

	if (!r && fds[1] >= 0)
		r = unblock(fds[1]);
	for (int i = 0; r && i < SERVE_MAX_DESCRIPTORS; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
	brought->arena = fds[0];
	brought->listener = fds[1];
	return r;
}

int serve_request_answer(int fd, int result)
{
	const struct serve_answer answer = {.result = result};

	return send(fd, &answer, sizeof answer, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}
