/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the trace files of a path that the user gave: a file, a run directory or a log directory.
 */
#ifndef CLIENT_TRACES_H
#define CLIENT_TRACES_H

#include <stdbool.h>
#include <stddef.h>

struct diag;

struct traces {
	char **paths; /* in order of name */
	size_t n_paths;
};

/*
 * A log directory means its newest run (by the files' time, then by name). 0, or a negative errno
 * with |d|. Call traces_deinit() in either case.
 */
int traces_find(const char *place, struct traces *out, struct diag *d);
void traces_deinit(struct traces *t);

/* Returns true if |path| has the suffix of trace files. */
bool traces_has_name(const char *path);

#endif
