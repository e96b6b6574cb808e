/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host daemon is one server for the programs of a machine, or of a user. It knows the server of
 * each program (registrar.h), and passes calls on to them. See docs/internals/host.md.
 */
#ifndef DAEMON_HOST_H
#define DAEMON_HOST_H

#include <stdio.h>

/*
 * Runs proftapd --host [--print-config] [--config FILE] [--KEY VALUE]...; the options begin with
 * argv[1]. Returns 0 with the process's exit status, or an outcome of arguments_parse(). The exit
 * status is 0, 1, or 2 for bad usage; the reason of a failure is on standard error.
 */
int host_main(int argc, char **argv, int *status);

/* Prints the options of --host, a line each. */
void host_print_help(FILE *out);

#endif
