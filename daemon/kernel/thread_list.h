/* SPDX-License-Identifier: Apache-2.0 */
/* The current threads of a process and their states, from /proc. */
#ifndef DAEMON_THREAD_LIST_H
#define DAEMON_THREAD_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct listed_thread {
	pid_t tid; /* in our pid namespace */
	/* in the process's own namespace; the same as |tid| if the caller did not ask for it */
	pid_t inner_tid;
	char name[64]; /* printable */
	char state; /* 'R', 'S', 'D', 'T', 't', 'Z', … */
	char wait_channel
		[64]; /* the kernel function in which it sleeps; "": none, or we may not read it */
	int syscall; /* the system call that it is in; -1: none, or we may not read it */
};

/*
 * Lists the threads of |pid|, below |root| ("" or a test's fake root); |has_inner|: with their ids
 * in its pid namespace. A thread that ends meanwhile may be missing. 0; -ENOENT when the process is
 * gone; another negative errno. Owner: *out belongs to the caller (free).
 */
int thread_list_read(
	const char *root, pid_t pid, bool has_inner, struct listed_thread **out, size_t *n_out);

/* Returns the name of a system call in which threads often wait; "" for any other. */
const char *thread_list_name_syscall(int number);

#endif
