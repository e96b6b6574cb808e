/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hot path: annotations whose thread has entered the capture, whose name is known, in raw ticks. Nothing in it calls
 * anything, so no register is saved; whatever is out of the ordinary goes to long_way.h in a tail call, before
 * anything was stored. What it costs in instructions is in tests/bench/instructions.txt, and a check holds it.
 */
#ifndef RECORD_SHORT_WAY_H
#define RECORD_SHORT_WAY_H

#include <stdint.h>

#include "lib/record/emit.h"

/* In the hot path, as often as it is called, and out of it and of its registers. */
#define hot inline __attribute__((always_inline))
#define cold __attribute__((noinline, cold))

/* The id of a name or key, or 0 if it is not known yet. */
static inline uint32_t known_id(const uint32_t *id)
{
	return __atomic_load_n(id, __ATOMIC_ACQUIRE);
}

#endif
