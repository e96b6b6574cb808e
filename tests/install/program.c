/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A user's program, which is built against the installed library, in C99 and in C++11. It starts a
 * server on a free port, which it prints, and annotates until its standard input ends. An argument is
 * the version that the library must have.
 */
#include <poll.h>
#include <proftap/proftap.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	struct pollfd input = {0, POLLIN, 0};

	if (argc > 1 && strcmp(argv[1], ptap_version()) != 0) {
		fprintf(stderr, "the library's version is \"%s\", not %s\n", ptap_version(),
			argv[1]);
		return 1;
	}
	if (ptap_server_start(0) < 0) {
		fprintf(stderr, "%s\n", ptap_last_error());
		return 1;
	}
	printf("%d\n", ptap_server_port());
	fflush(stdout);
	while (poll(&input, 1, 1) == 0) {
		PTAP_SPAN("turn");
		PTAP_COUNTER("load", 0.5);
	}
	return ptap_server_stop() < 0;
}
