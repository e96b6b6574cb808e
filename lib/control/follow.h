/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forked children that join the server of the process they come from, at their first annotation: see
 * docs/internals/follow_fork.md.
 */
#ifndef LIB_FOLLOW_H
#define LIB_FOLLOW_H

struct arena;

/* From now on children of fork() join through |arena|, if its flags and its server allow it. */
void follow_begin(struct arena *arena);
/* No longer. */
void follow_end(void);
/*
 * The arena of the ancestor whose server records this process, or will from its first annotation on; NULL: none
 * does. All under the guest's lock.
 */
const struct arena *follow_get_ancestor(void);
/* The same, without the lock, for one that was not taken out of its ancestor's recordings. Any thread. */
struct arena *follow_find_ancestor(void);

#endif
