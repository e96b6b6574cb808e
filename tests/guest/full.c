/* SPDX-License-Identifier: Apache-2.0 */
/* Its table of descriptors is full when it starts its server, and stays full. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/guest/guest.h"

static int fill(void)
{
	int last = -1;
	int fd;

	while ((fd = open("/dev/null", O_RDONLY)) >= 0)
		last = fd;
	printf("last %d, then %s\n", last, strerror(errno));
	return last;
}

int main(void)
{
	struct rlimit limit;
	int last;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 2;
	limit.rlim_cur = 20;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		return 2;
	last = fill();
	GUEST_START();
	PTAP_SPAN("full");
	fill();
	close(last);
	return fill() != last;
}
