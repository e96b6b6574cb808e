/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forked children that join the server of the process they come from, at their first annotation:
 * see docs/internals/follow_fork.md. Every function but follow_find_ancestor() runs under the
 * guest's lock.
 */
#ifndef LIB_FOLLOW_H
#define LIB_FOLLOW_H

struct arena;

/* From now on children of fork() join through |arena|, if its flags and its server allow it. */
void follow_begin(struct arena *arena);
/* From now on children do not join. */
void follow_end(void);
/*
 * The arena of the ancestor whose server records this process, or will record it from its first
 * annotation on; NULL: none.
 */
const struct arena *follow_get_ancestor(void);
/*
 * The same without the lock, on any thread. Not to be called in a process that started a server of
 * its own: the arena may be that one's.
 */
struct arena *follow_find_ancestor(void);

#endif
