/* SPDX-License-Identifier: Apache-2.0 */
/* The directory for recordings: the user's, $PROFTAP_LOG_DIR, or a fresh one. */
#ifndef CLIENT_LOG_DIR_H
#define CLIENT_LOG_DIR_H

#include <stdbool.h>

struct diag;

struct log_dir {
	const char *path;
	bool is_made;
	char made[4096];
};

/*
 * |said| is the user's choice, borrowed; it may be NULL or empty. 0, or a negative errno with |d|.
 */
int log_dir_choose(struct log_dir *l, const char *said, struct diag *d);

/* Removes the directory if log_dir_choose() made it and nothing was written into it. */
void log_dir_discard(const struct log_dir *l);

#endif
