/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ancestry of processes, from /proc/PID/stat, which everybody may read. |root| is "" or a test's
 * fake root.
 */
#ifndef DAEMON_LINEAGE_H
#define DAEMON_LINEAGE_H

#include <stdbool.h>
#include <sys/types.h>

/* Returns the parent of |pid|; 0 when the process is gone or its parent unknown. */
pid_t lineage_get_parent(const char *root, pid_t pid);

/*
 * Returns true if |pid| is a descendant of |ancestor|; a descendant whose parent has ended is not
 * recognized.
 */
bool lineage_descends(const char *root, pid_t pid, pid_t ancestor);

/*
 * Returns true if |pid| has threads and none of them has a child; false also if that would be
 * expensive to find out.
 */
bool lineage_has_no_children(const char *root, pid_t pid);

/*
 * Counts the living descendants of |ancestor| that still run its program: neither they nor a
 * process between has called exec. Reads all of /proc once if |ancestor| has a child. Returns 0
 * when memory runs out.
 */
unsigned lineage_count_forks(const char *root, pid_t ancestor);

#endif
