/* SPDX-License-Identifier: Apache-2.0 */
/* How often the threads of a process have been given a processor: the kernel says it of each thread alone. */
#ifndef DAEMON_SWITCHES_H
#define DAEMON_SWITCHES_H

#include <stddef.h>
#include <stdint.h>

/* Of more the count would cost too much. */
#define SWITCHES_MAX_THREADS 1024u

/*
 * The sum over the threads that live, about |n_threads|: it goes back when one ends. |dir_fd| is /proc/PID; |text| is room. 1, or 0 when it
 * cannot be read. Takes no memory.
 */
int switches_read(int dir_fd, uint64_t n_threads, char *text, size_t text_bytes, uint64_t *out);

#endif
