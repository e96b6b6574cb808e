/* SPDX-License-Identifier: Apache-2.0 */
/* What runs between clone and exec. Raw system calls only: the memory is the host's. */
#ifndef SPAWN_CHILD_H
#define SPAWN_CHILD_H

struct spawn;

#define SPAWN_RAW \
	__attribute__((no_sanitize("address", "undefined", "thread"), no_stack_protector, noinline))

/* Creates, binds and listens; creates, sizes, seals and maps the arena. Sets stage and error. */
int child_make_descriptors(struct spawn *s);

/* The last part of that alone. Sets |s->memfd| and |s->arena|. */
int child_make_arena(struct spawn *s);

/* Marks every descriptor above |from| close-on-exec, or closes them for real. */
void child_mark_descriptors(int from, int close_now);

/* Puts the descriptors in place, resets signals and session, and execs. Returns only on failure. */
void child_exec(struct spawn *s);

#endif
