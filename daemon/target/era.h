/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An era is the time within which a row of ring entries was written. An entry has only the lowest
 * 48 bits of its time, which repeat after one lap of the clock: 26 h at 3 GHz, and 78 h if ticks
 * are nanoseconds. A span is written when it ends, so the era gives the upper bits of its end;
 * the entry holds its whole duration.
 */
#ifndef DAEMON_ERA_H
#define DAEMON_ERA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/wire/record.h"

/*
 * In an era of a whole lap, two times could be confused. A quarter of a lap is left out, so that
 * impossible times can be recognized.
 */
#define ERA_MAX_TICKS (RECORD_START_MASK / 4 * 3)
/* The next era begins after a quarter of a lap: 6.5 h at 3 GHz, 19.5 h of nanoseconds. */
#define ERA_INTERVAL_TICKS (UINT64_C(1) << RECORD_START_BITS >> 2)
/*
 * SIGSTOP or a virtual machine may stop a thread for long after it reads the clock and before it
 * stores the record; and one core's counter may be ahead of another's.
 */
#define ERA_STALL_TICKS ERA_INTERVAL_TICKS
#define ERA_SKEW_TICKS (UINT64_C(1) << 36)

struct era {
	/* index behind the era's last slot in the log; the era begins at the previous one's end */
	size_t end;
	uint64_t after_ticks; /* all ends of spans are at or after this time, */
	uint64_t before_ticks; /* and at or before this one */
};

/* Returns true if entries of the era can be dated. */
static inline bool era_is_known(const struct era *era)
{
	return era->before_ticks - era->after_ticks <= ERA_MAX_TICKS;
}

/*
 * Returns a lower bound of the times in entries that are known to have been stored after |ticks|.
 */
static inline uint64_t era_begin_before(uint64_t ticks)
{
	return ticks > ERA_STALL_TICKS ? ticks - ERA_STALL_TICKS : 0;
}

/*
 * Returns the full time of an end whose lowest 48 bits are |low|. It may be after the era, which
 * means that the entry is invalid.
 */
static inline uint64_t era_date(const struct era *era, uint64_t low)
{
	return era->after_ticks + ((low - era->after_ticks) & RECORD_START_MASK);
}

/*
 * Finds the era of entries that are copied out of rings during a long recording. The entries that
 * are copied in one reading of the rings were written since the previous reading, with the
 * tolerances above. A struct of zeros: unknown. For one thread at a time.
 */
struct era_clock {
	uint64_t after_ticks; /* of the current era, as in struct era */
	uint64_t before_ticks; /* 0: unknown */
	uint64_t begun_ticks; /* when the current era began */
	uint64_t read_ticks; /* read before the last reading of the rings */
};

/* At |now_ticks| the rings hold nothing that was written before |earliest_ticks|. */
void era_clock_begin(struct era_clock *c, uint64_t earliest_ticks, uint64_t now_ticks);
/* Call it before each reading of the rings. */
void era_clock_update(struct era_clock *c, uint64_t now_ticks);

/*
 * Appends the current era to |*eras| for slots up to |end|, which were copied now. 0 or -ENOMEM.
 * Owner: |*eras| belongs to the caller (free).
 */
int era_clock_tell(const struct era_clock *c, size_t end, struct era **eras, size_t *n_eras);

#endif
