/* SPDX-License-Identifier: Apache-2.0 */
/* proftapd: the profiler server. */
#include <limits.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/arguments.h"
#include "base/diag.h"
#include "daemon/attached.h"
#include "daemon/host/host.h"

static const char usage[] =
	"usage: proftapd --host [OPTION VALUE]...\n"
	"       proftapd --attached PID [--lent]\n"
	"\n"
	"The profiler server of a machine, or of one process.\n"
	"\n"
	"  --host          serve all programs of this machine, or of this user, on one port\n"
	"  --attached PID  serve the process PID; libproftap uses this (ptap_server_start), and\n"
	"                  so does --host, with --lent, for a program that cannot start a server\n"
	"  --help          print this text\n"
	"  --version       print the version\n"
	"\n"
	"Options of --host:\n";

struct attached_options {
	int64_t pid;
	bool is_lent;
};

static const struct argument_option options[] = {
	{"attached", 0, ARGUMENT_INT, offsetof(struct attached_options, pid), 1, INT_MAX, NULL,
		"PID", "serve the process PID"},
	{"lent", 0, ARGUMENT_FLAG, offsetof(struct attached_options, is_lent), 0, 0, NULL, NULL,
		"the process cannot start its server itself"},
};
static const struct arguments arguments = {
	.options = options,
	.n_options = sizeof options / sizeof options[0],
	.has_only_options = true,
};

static int print_help(FILE *out)
{
	fputs(usage, out);
	host_print_help(out);
	return out == stdout ? 0 : 2;
}

/*
 * Serves one process until it ends. Returns 0 with the exit status for proftapd, or an outcome of
 * arguments_parse().
 */
static int serve_process(int argc, char **argv, int *status)
{
	struct attached_options o = {0};
	struct diag d = DIAG_INIT;
	int n_left;
	int r = arguments_parse(&arguments, argc, argv, &o, &n_left, &d);

	if (r > 0)
		return r;
	*status = r == 0 && o.pid ? attached_run((pid_t)o.pid, o.is_lent) : print_help(stderr);
	return 0;
}

int main(int argc, char **argv)
{
	bool is_host = argc > 1 && strcmp(argv[1], "--host") == 0;
	int status = 0;
	int outcome;

	/*
	 * Gives large blocks back to the system: glibc would otherwise raise the threshold after
	 * the first one.
	 */
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
	if (is_host)
		outcome = host_main(argc - 1, argv + 1, &status);
	else
		outcome = serve_process(argc, argv, &status);
	if (outcome == ARGUMENTS_HELP)
		return print_help(stdout);
	if (outcome == ARGUMENTS_VERSION)
		puts("proftapd " PACKAGE_VERSION);
	return status;
}
