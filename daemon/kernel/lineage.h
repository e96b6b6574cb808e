/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who descends from whom, as /proc/PID/stat tells everybody. |root| is "" or a test's fake root.
 */
#ifndef DAEMON_LINEAGE_H
#define DAEMON_LINEAGE_H

#include <sys/types.h>

/* The parent of |pid|; 0 when it is gone or unknown. */
pid_t lineage_get_parent(const char *root, pid_t pid);

/* 1 when |pid| is a descendant of |ancestor|; those whose parents ended are not found. */
int lineage_descends(const char *root, pid_t pid, pid_t ancestor);

/* 1 when |pid| has threads and none of them has a child; 0 also where that cannot be told cheaply. */
int lineage_has_no_children(const char *root, pid_t pid);

/*
 * How many living processes run the program of |ancestor| by fork alone: neither they nor any between have
 * called exec. One pass over /proc, if it has children at all. 0 when memory runs out.
 */
unsigned lineage_count_forks(const char *root, pid_t ancestor);

#endif
