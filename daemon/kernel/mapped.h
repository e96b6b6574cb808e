/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a process has a library mapped, as /proc/PID/maps says. That is read in pieces: of a program with ten thousands of
 * mappings it is megabytes, which the kernel takes some 10 ms to write, and who looks has rings to empty.
 */
#ifndef DAEMON_MAPPED_H
#define DAEMON_MAPPED_H

#include <stddef.h>
#include <sys/types.h>

/* What a look takes at a time: half a millisecond of the kernel's. */
#define MAPPED_STEP_BYTES (64u << 10)

#define MAPPED_MAX_NAME 32u

struct mapped_look {
	int fd; /* -1: none is under way */
	char name[MAPPED_MAX_NAME + 2]; /* how a path's last part begins, behind a '/' */
	char rest[MAPPED_MAX_NAME + 2]; /* what was read last: a name may lie across two pieces */
	size_t n_rest;
};

/* Outcomes of a step, besides negative ones: the process is gone, or may not be looked at. */
enum {
	MAPPED_NO = 0,
	MAPPED_YES = 1,
	MAPPED_MORE = 2, /* not among what was read by now */
};

#define MAPPED_LOOK_INIT     \
	(struct mapped_look) \
	{                    \
		.fd = -1     \
	}

/*
 * Begins a look at |pid| for a library whose file name begins with |name|, "libcuda.so" for one. |root| is "" or a test's fake
 * one. 0, or a negative errno (-EACCES: not permitted; -ENOENT, -ESRCH: the process is gone).
 */
int mapped_look_begin(struct mapped_look *l, const char *root, pid_t pid, const char *name);
/* Reads about |n_bytes| more. Anything but MAPPED_MORE ends the look. */
int mapped_look_step(struct mapped_look *l, size_t n_bytes);
/* Nothing when none is under way. */
void mapped_look_end(struct mapped_look *l);

#endif
