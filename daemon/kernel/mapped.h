/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out whether a process has mapped a library, from /proc/PID/maps. The file is read in
 * pieces: with ten thousands of mappings it has megabytes, which the kernel takes some 10 ms to
 * write, and the reading thread has rings to drain.
 */
#ifndef DAEMON_MAPPED_H
#define DAEMON_MAPPED_H

#include <stddef.h>
#include <sys/types.h>

/* The usual size of a step: it takes the kernel half a millisecond. */
#define MAPPED_STEP_BYTES (64u << 10)

#define MAPPED_MAX_NAME 32u

struct mapped_look {
	int fd; /* -1: no search is under way */
	char name[MAPPED_MAX_NAME + 2]; /* the beginning of the file name, after a '/' */
	/* the end of the last piece: a name may lie across two pieces */
	char rest[MAPPED_MAX_NAME + 2];
	size_t n_rest;
};

/* Outcomes of a step; negative ones mean that the process is gone, or may not be read. */
enum {
	MAPPED_NO = 0,
	MAPPED_YES = 1,
	MAPPED_MORE = 2, /* not found so far */
};

#define MAPPED_LOOK_INIT     \
	(struct mapped_look) \
	{                    \
		.fd = -1     \
	}

/*
 * Begins a search in |pid| for a library whose file name begins with |name|, for example
 * "libcuda.so". |root| is "" or a test's fake root. 0, or a negative errno (-EACCES: not permitted;
 * -ENOENT, -ESRCH: the process is gone).
 */
int mapped_look_begin(struct mapped_look *l, const char *root, pid_t pid, const char *name);
/* Reads about |n_bytes| more. Any result but MAPPED_MORE ends the search. */
int mapped_look_step(struct mapped_look *l, size_t n_bytes);
/* Ends a search, if one is under way. */
void mapped_look_end(struct mapped_look *l);

#endif
