/* SPDX-License-Identifier: Apache-2.0 */
/* The threads that a process has now, and what each one does, as /proc tells it. */
#ifndef DAEMON_THREAD_LIST_H
#define DAEMON_THREAD_LIST_H

#include <stddef.h>
#include <sys/types.h>

struct listed_thread {
	pid_t tid; /* in our pid namespace */
	pid_t inner_tid; /* in the process's own; the same as |tid| if that was not asked for */
	char name[64]; /* printable */
	char state; /* 'R', 'S', 'D', 'T', 't', 'Z', … */
	char wait_channel
		[64]; /* the kernel function in which it sleeps; "": none, or not ours to know */
	int syscall; /* the call in which it is; -1: none, or not ours to know */
};

/*
 * Lists the threads of |pid|, below |root| ("" or a test's fake root); |has_inner|: with their ids in its pid namespace. A thread that
 * ends meanwhile may be missing. 0; -ENOENT when the process is gone; another negative errno. Owner: *out belongs to the caller (free).
 */
int thread_list_read(
	const char *root, pid_t pid, int has_inner, struct listed_thread **out, size_t *n_out);

/* The name of a system call in which threads often wait; "": it is none of them. */
const char *thread_list_name_syscall(int number);

#endif
