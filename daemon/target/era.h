/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a row of entries was written, of which each says only 48 bits of its time: a lap of the clock, 26 h at 3 GHz, 78 h where
 * ticks are nanoseconds. A span is written when it ends, so it is its end that is dated; its duration is known in full.
 */
#ifndef DAEMON_ERA_H
#define DAEMON_ERA_H

#include <stddef.h>
#include <stdint.h>

#include "lib/wire/record.h"

/* In a longer one two times could not be told apart; a quarter of a lap is left for what is far from the truth. */
#define ERA_MAX_TICKS (RECORD_START_MASK / 4 * 3)
/* After so long the next one begins, a quarter of a lap: 6.5 h at 3 GHz, 19.5 h of nanoseconds. */
#define ERA_INTERVAL_TICKS (UINT64_C(1) << RECORD_START_BITS >> 2)
/*
 * A thread may be stopped for long between its look at the clock and its store, by SIGSTOP or in a virtual machine; and one
 * core's counter may be ahead of another's.
 */
#define ERA_STALL_TICKS ERA_INTERVAL_TICKS
#define ERA_SKEW_TICKS (UINT64_C(1) << 36)

struct era {
	size_t end; /* of a log's slots: those before it, and behind the era before, are of this one */
	uint64_t after_ticks; /* all ends are at or behind it, */
	uint64_t before_ticks; /* and at or before this one */
};

/* What was written in it can be dated. */
static inline int era_is_known(const struct era *era)
{
	return era->before_ticks - era->after_ticks <= ERA_MAX_TICKS;
}

/* What is known to have been stored behind |ticks| has a time of this, or a later one. */
static inline uint64_t era_begin_before(uint64_t ticks)
{
	return ticks > ERA_STALL_TICKS ? ticks - ERA_STALL_TICKS : 0;
}

/* The full time of an end, of which |low|'s 48 bits are known. May be behind the era: then it makes no sense. */
static inline uint64_t era_date(const struct era *era, uint64_t low)
{
	return era->after_ticks + ((low - era->after_ticks) & RECORD_START_MASK);
}

#endif
