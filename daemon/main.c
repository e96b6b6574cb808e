/* SPDX-License-Identifier: Apache-2.0 */
/* proftapd: the profiler server. */
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/attached.h"
#include "daemon/host/host.h"

static const char usage[] =
	"usage: proftapd --host [OPTION VALUE]...\n"
	"       proftapd --attached PID [--lent]\n"
	"\n"
	"The profiler server of a machine, or of one process.\n"
	"\n"
	"  --host          serve all programs of this machine, or of this user, on one port\n"
	"  --attached PID  serve the process PID: libproftap starts this (ptap_server_start), and --host,\n"
	"                  with --lent, for a program that cannot\n"
	"  --help          print this\n"
	"  --version       print the version\n"
	"\n"
	"Options of --host:\n";

static int print_help(FILE *out)
{
	fputs(usage, out);
	host_print_help(out);
	return out == stdout ? 0 : 2;
}

/* Whether |what| is the only argument, or the only one after --host. */
static bool argument_is(int argc, char **argv, const char *what)
{
	int i = argc > 1 && strcmp(argv[1], "--host") == 0 ? 2 : 1;

	return argc == i + 1 && strcmp(argv[i], what) == 0;
}

int main(int argc, char **argv)
{
	if (argument_is(argc, argv, "--help") || argument_is(argc, argv, "-h"))
		return print_help(stdout);
	if (argument_is(argc, argv, "--version")) {
		puts("proftapd " PACKAGE_VERSION);
		return 0;
	}
	/*
	 * Gives large blocks back to the system: glibc would otherwise raise the threshold after
	 * the first one.
	 */
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
	if (argc == 3 && strcmp(argv[1], "--attached") == 0 && atoi(argv[2]) > 0)
		return attached_run(atoi(argv[2]), 0);
	if (argc == 4 && strcmp(argv[1], "--attached") == 0 && atoi(argv[2]) > 0 &&
		strcmp(argv[3], "--lent") == 0)
		return attached_run(atoi(argv[2]), 1);
	if (argc >= 2 && strcmp(argv[1], "--host") == 0)
		return host_main(argc, argv);
	return print_help(stderr);
}
