/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host daemon: one server for the programs of a machine, or of a user. It knows where each program's own server is
 * (registrar.h), and passes on what is asked for. See docs/internals/host.md.
 */
#ifndef DAEMON_HOST_H
#define DAEMON_HOST_H

#include <stdio.h>

struct invocation;
struct settings;

/*
 * Runs proftapd --host [--print-config] [--config FILE] [--KEY VALUE]...; the options begin with
 * argv[1]. Returns 0 with the process's exit status, or an outcome of arguments_parse(). The exit
 * status is 0, 1, or 2 for bad usage; the reason of a failure is on standard error.
 */
int host_main(int argc, char **argv, int *status);

/* Prints the options of --host, a line each. */
void host_print_help(FILE *out);

/*
 * Serves until SIGTERM or SIGINT; SIGHUP reads the settings again as |invocation| says. Returns the
 * exit status, as host_main() describes it.
 */
int host_run(const struct invocation *invocation, const struct settings *settings);

#endif
