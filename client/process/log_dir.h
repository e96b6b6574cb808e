/* SPDX-License-Identifier: Apache-2.0 */
/* Where recordings go: what the user said, $PROFTAP_LOG_DIR, or a fresh directory. */
#ifndef CLIENT_LOG_DIR_H
#define CLIENT_LOG_DIR_H

#include <stdbool.h>

struct diag;

struct log_dir {
	const char *path;
	bool is_made;
	char made[4096];
};

/* |said| may be NULL or empty; it is borrowed. 0, or a negative errno with |d|. */
int log_dir_choose(struct log_dir *l, const char *said, struct diag *d);

/* Nothing was written: removes the directory if it was made here and is empty. */
void log_dir_discard(const struct log_dir *l);

#endif
