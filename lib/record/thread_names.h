/* SPDX-License-Identifier: Apache-2.0 */
/* Names that one thread gives another one: it has them from its first entry in an arena on, unless it has named itself. */
#ifndef RECORD_THREAD_NAMES_H
#define RECORD_THREAD_NAMES_H

#include <stdint.h>

#include "lib/wire/ring.h"

/* So many names are kept for good, and none after that. */
#define THREAD_NAMES_MAX 256u

/* 31 bytes; more is cut. Any thread. */
void thread_names_set(int32_t tid, const char *name);
/* Copies the newest one to |name| and returns 1, or 0: there is none. Any thread. */
int thread_names_find(int32_t tid, char name[RING_NAME_BYTES]);

#endif
