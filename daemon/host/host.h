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
 * proftapd --host [--print-config] [--config FILE] [--KEY VALUE]...: what |argv| says from its second word on. Returns the exit
 * status of the process: 0, 1, or 2 for bad usage; what failed is on standard error.
 */
int host_main(int argc, char **argv);

/* Its options, a line each. */
void host_print_help(FILE *out);

/*
 * Serves until SIGTERM or SIGINT; SIGHUP reads the settings again, from where |invocation| says. As
 * host_main().
 */
int host_run(const struct invocation *invocation, const struct settings *settings);

#endif
