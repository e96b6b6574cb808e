/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line of the host daemon. It has settings and the path of their file, and is read
 * again at reloads.
 */
#ifndef DAEMON_INVOCATION_H
#define DAEMON_INVOCATION_H

#include <stdbool.h>

struct diag;
struct settings;

#define INVOCATION_CONFIG "/etc/proftap/proftapd.conf"

struct invocation {
	int argc;
	char **argv; /* the process's own; the options begin with argv[1] */
	const char *config; /* NULL: INVOCATION_CONFIG, if it exists */
	bool is_print; /* --print-config */
};

/*
 * Parses the options argv[1..argc) without checking the values of settings. 0, an outcome of
 * arguments_parse(), or -EINVAL with |d|.
 */
int invocation_parse(struct invocation *i, int argc, char **argv, struct diag *d);

/*
 * Reads the settings: the defaults, then the file, then the options. A path among the options may
 * be relative to the working directory. 0, or a negative errno with |d| and |out| unchanged.
 */
int invocation_read(const struct invocation *i, struct settings *out, struct diag *d);

#endif
