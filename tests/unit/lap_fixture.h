/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings so long that the record clock wraps around; events must keep their times. A test is
 * linked with -Wl,--wrap of clock_pair_read and guest_read_clock, which are the clock here
 * (players.h moves it), and of orders_begin and orders_end, because no program answers orders.
 */
#ifndef TESTS_UNIT_LAP_FIXTURE_H
#define TESTS_UNIT_LAP_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/target/family.h"
#include "lib/wire/record.h"

struct assemble_input;
struct recording;

#define LAP (UINT64_C(1) << RECORD_START_BITS)
/*
 * The idle times of threads in the N_IDLE runs of a test. (A trace in picoseconds covers 106 days;
 * beyond that, all times are the same.)
 */
extern const uint64_t lap_idle_ticks[];
#define N_IDLE 7

extern struct lap_fixture {
	struct family family;
	unsigned n_undated; /* number of undated events that lap_see() found */
	bool is_seen[40000]; /* by event number: whether lap_see() found it */
} laps;

/*
 * A checked fixture without a teardown: each test is its own process, whose threads and mappings
 * end with it. The 48-bit clock soon wraps around.
 */
void lap_setup(void);
/* Opens another program, with rings of |ring_bytes|. */
void lap_reopen_sized(uint32_t ring_bytes);

/* Sets the number of ticks per nanosecond; 1: ticks are nanoseconds. */
void lap_set_rate(int ticks_per_ns);
int64_t lap_to_ns(uint64_t ticks);

/* Each thread begins and ends a span. */
void lap_each_writes(void);

/*
 * |r| is a recording that has ended. Returns the number of events of its first process. Asserts
 * that all have their times and that none is damaged.
 */
size_t lap_see(struct recording *r);
/* The same for |in|. */
size_t lap_see_input(struct assemble_input *in);

#endif
