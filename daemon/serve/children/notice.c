/* SPDX-License-Identifier: Apache-2.0 */
/* Notices of children; see notice.h. Who sends them is of the same user, and may still err. */
#include "daemon/serve/children/notice.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/printable.h"
#include "daemon/kernel/passed_fd.h"
#include "daemon/serve/door/greeting.h"

#define MAX_BYTES (GREETING_BYTES + NOTICE_ADDRESS_BYTES + 40)

int notice_send(int fd, const struct notice *n)
{
	char text[MAX_BYTES];
	int n_bytes = snprintf(text, sizeof text, "%s%d %u %s\n", greeting_notice, (int)n->pid,
		n->n_hops, n->address);

	return passed_fd_send(fd, text, (size_t)n_bytes, n->pidfd);
}

/* Checks a notice, because its texts go to clients and into logs. */
static int is_in_range(const struct notice *n)
{
	size_t n_bytes = strlen(n->address);

	for (size_t at = 0, kept; at < n_bytes; at += kept) {
		kept = printable_length(n->address + at, n_bytes - at);
		if (!kept)
			return 0;
	}
	return n->pid > 0 && n->n_hops < NOTICE_MAX_HOPS && strncmp(n->address, "unix:/", 6) == 0;
}

static int parse(const char *text, size_t n_bytes, struct notice *out)
{
	int pid;
	int end = -1;

	if (strncmp(text, greeting_notice, GREETING_BYTES) ||
		sscanf(text + GREETING_BYTES, "%d %u %127[^\n]%n", &pid, &out->n_hops, out->address,
			&end) != 3 ||
		GREETING_BYTES + (size_t)end + 1 != n_bytes || text[n_bytes - 1] != '\n')
		return -EPROTO;
	out->pid = pid;
	return is_in_range(out) ? 0 : -EPROTO;
}

int notice_read(int fd, struct notice *out)
{
	char text[MAX_BYTES + 1];
	ssize_t n = passed_fd_receive(fd, text, MAX_BYTES, &out->pidfd);
	int r;

	if (n < 0)
		return (int)n;
	text[n] = '\0';
	r = parse(text, (size_t)n, out);
	if (r && out->pidfd >= 0)
		close(out->pidfd);
	return r;
}
