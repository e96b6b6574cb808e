/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files under names that are not theirs yet: a signal that ends the program (Ctrl-C, SIGTERM, SIGHUP, SIGQUIT) removes them
 * first. One that somebody else has blocked, as interrupt_start() does, or ignores, is his.
 */
#ifndef CLIENT_TEMPORARY_H
#define CLIENT_TEMPORARY_H

struct temporary;

/*
 * Creates the file |path|, which must not be there, for reading and writing. The descriptor, with *out to be given to
 * temporary_forget(), or a negative errno.
 */
int temporary_create(const char *path, struct temporary **out);
/* The file has its name, or is gone. NULL is allowed. */
void temporary_forget(struct temporary *t);

#endif
