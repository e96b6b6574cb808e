/* SPDX-License-Identifier: Apache-2.0 */
/* proftapd: the profiler server. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/attached.h"

static const char usage[] =
	"usage: proftapd --attached PID\n"
	"\n"
	"The profiler server of one process. libproftap starts it (ptap_server_start) and passes it\n"
	"the listening socket and the shared memory; it is not meant to be started by hand.\n"
	"\n"
	"  --attached PID  serve the process PID\n"
	"  --help          print this\n"
	"  --version       print the version\n";

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		fputs(usage, stdout);
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		puts("proftapd " PACKAGE_VERSION);
		return 0;
	}
	/* Large blocks go back to the system: glibc would raise the threshold after the first. */
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
	if (argc == 3 && strcmp(argv[1], "--attached") == 0 && atoi(argv[2]) > 0)
		return attached_run(atoi(argv[2]));
	fputs(usage, stderr);
	return 2;
}
