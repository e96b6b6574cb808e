/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which era was written what is copied out of rings now, as a recording goes on for longer than one: whatever was copied
 * at one look at the rings was written since the look before, give or take what era.h says.
 *
 * Threads: none inside; one at a time.
 */
#ifndef DAEMON_ERA_CLOCK_H
#define DAEMON_ERA_CLOCK_H

#include <stddef.h>
#include <stdint.h>

struct era;

/* Zero: it is not known here. */
struct era_clock {
	uint64_t after_ticks; /* as of an era, the one at hand */
	uint64_t before_ticks; /* 0: it is not known here */
	uint64_t begun_ticks; /* when that was */
	uint64_t looked_ticks; /* before the last look at the rings */
};

/* At |now_ticks| nothing is in the rings that was written before |earliest_ticks|. */
void era_clock_begin(struct era_clock *c, uint64_t earliest_ticks, uint64_t now_ticks);
/* Before each look at the rings. */
void era_clock_look(struct era_clock *c, uint64_t now_ticks);

/*
 * Slots that end at |end| were copied now, behind those that |*eras| are of. 0 or -ENOMEM. Owner: |*eras| belongs to the caller
 * (free).
 */
int era_clock_tell(const struct era_clock *c, size_t end, struct era **eras, size_t *n_eras);

#endif
