/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code between clone and exec. It makes raw system calls only: the memory is the calling
 * program's.
 */
#ifndef SPAWN_CHILD_H
#define SPAWN_CHILD_H

#include <stdbool.h>

struct spawn;

/*
 * Makes the listener (created, bound, listening) and the arena (created, sized, sealed, mapped).
 * Sets stage and error.
 */
int child_make_descriptors(struct spawn *s);

/* Makes the arena alone. Sets |s->memfd| and |s->arena|. */
int child_make_arena(struct spawn *s);

/* Marks every descriptor from |from| on close-on-exec, or closes it at once. */
void child_mark_descriptors(int from, bool close_now);

/* Puts the descriptors in place, resets signals and session, and execs. Returns only on failure. */
void child_exec(struct spawn *s);

#endif
