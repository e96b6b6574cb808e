/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether the server lives. */
#ifndef LIB_LIFE_H
#define LIB_LIFE_H

#include <stdbool.h>
#include <stdint.h>

struct arena;

/*
 * Returns true if the server thread that held |owner|, a word of the arena, has ended. The server
 * sets WAITERS together with its tid, and the kernel keeps WAITERS when the thread dies. So a
 * thread that died before the first check is detected, too.
 */
bool server_has_left(uint32_t owner);

/*
 * Returns true if a process has ended; a zombie counts as ended. False if that cannot be known: a
 * sandbox forbids the checks, or |pid| is 0 (the process has no pid in this namespace). Makes no
 * descriptor.
 */
bool process_is_gone(int32_t pid);

/* Returns true if the server of |arena| has ended. Its pid may belong to another process by now. */
bool server_is_gone(const struct arena *arena, int32_t pid);

#endif
