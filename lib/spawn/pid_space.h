/* SPDX-License-Identifier: Apache-2.0 */
/* The pid namespace that our children will live in. */
#ifndef SPAWN_PID_SPACE_H
#define SPAWN_PID_SPACE_H

/*
 * 0 after unshare(CLONE_NEWPID) or setns(): this process can start no thread any more, and the first thing that it
 * clones becomes PID 1 of the new namespace, which dies with it. 1 where that cannot be known (no /proc).
 */
int pid_space_is_shared_with_children(void);

#endif
