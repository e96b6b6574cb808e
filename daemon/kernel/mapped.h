/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out whether a process has mapped one of a few libraries, from /proc/PID/maps. The file is
 * read in pieces, because the reading thread must also drain rings: with tens of thousands of
 * mappings the file has megabytes, and the kernel needs some 10 ms to produce them.
 */
#ifndef DAEMON_MAPPED_H
#define DAEMON_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The usual size of a step: the kernel needs half a millisecond to produce so many bytes. */
#define MAPPED_STEP_BYTES (64u << 10)

#define MAPPED_MAX_NAME 32u /* bytes of a name, at most */

struct mapped_search {
	int fd; /* -1: no search is under way */
	const char *(*name_at)(unsigned i); /* the beginnings of file names */
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

#define MAPPED_SEARCH_INIT     \
	(struct mapped_search) \
	{                      \
		.fd = -1       \
	}

/*
 * Begins a search in |pid| for libraries whose file names begin with one of a list, for example
 * with "libcuda.so"; |name_at| returns the list's name |i|, and NULL behind the last one. |root| is
 * "" or a test's fake root. 0, or a negative errno (-EACCES: not permitted; -ENOENT, -ESRCH: the
 * process is gone).
 */
int mapped_search_begin(
	struct mapped_search *l, const char *root, pid_t pid, const char *(*name_at)(unsigned i));
/* Reads about |n_bytes| more. Any result but MAPPED_MORE ends the search. */
int mapped_search_step(struct mapped_search *l, size_t n_bytes);
/* Ends a search, if one is under way. */
void mapped_search_end(struct mapped_search *l);

/*
 * Finds out whether a process has replaced its program by exec. Exec unmaps the memory that the
 * process shared with us.
 */

/*
 * Returns true if the process is alive and no longer maps any part of the file |fd|, which it had
 * mapped. false also if the process is ending or gone, if its mappings cannot be read, or if
 * |pidfd| is -1. If the process ends during the check, the result can be a wrong true, but never
 * twice in a row.
 */
bool image_is_another(pid_t pid, int pidfd, int fd);

/* Writes the path of the program's file, printable, into |out|; "": we may not read it. */
void image_read_path(pid_t pid, char *out, size_t n);

#endif
