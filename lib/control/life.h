/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the server lives. */
#ifndef LIB_LIFE_H
#define LIB_LIFE_H

#include <stdint.h>

struct arena;

/*
 * Whether the thread of the server that held |owner|, a word of the arena, has ended. The kernel leaves WAITERS, which
 * the server sets with its tid: also one that died before anybody looked is seen.
 */
int server_has_left(uint32_t owner);

/*
 * Whether a process has ended; a zombie has. 0 where that cannot be known, because a sandbox forbids to ask, or |pid| is 0: it
 * has none here. Makes no descriptor.
 */
int process_is_gone(int32_t pid);

/* Whether the server of |arena| has, whose pid may be another process's by now. */
int server_is_gone(const struct arena *arena, int32_t pid);

#endif
