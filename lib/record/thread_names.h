/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that one thread gives another one. The other has the name from its first entry in an arena
 * on, unless it has named itself.
 */
#ifndef RECORD_THREAD_NAMES_H
#define RECORD_THREAD_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/wire/ring.h"

/* Names are kept for good; further ones are dropped. */
#define THREAD_NAMES_MAX 256u

/* Names the thread |tid|, with at most 31 bytes. Any thread. */
void thread_names_set(int32_t tid, const char *name);
/* Copies the newest name of |tid| to |name|. False: it has none. Any thread. */
bool thread_names_find(int32_t tid, char name[RING_NAME_BYTES]);

#endif
