/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings that last for laps of the clock: whatever comes of them has the time that it had. For
 * tests that are linked with -Wl,--wrap of clock_pair_read and guest_read_clock, which are the
 * clock here (players.h moves it), and of orders_begin and orders_end: nobody answers them.
 */
#ifndef TESTS_UNIT_LAP_FIXTURE_H
#define TESTS_UNIT_LAP_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/target/family.h"
#include "lib/wire/record.h"

struct assemble_input;
struct recording;

#define LAP (UINT64_C(1) << RECORD_START_BITS)
/*
 * How long threads are idle, in the N_IDLE runs of a test. (A trace reaches over 106 days, in
 * picoseconds; then its times are all the same.)
 */
extern const uint64_t lap_idle_ticks[];
#define N_IDLE 7

extern struct lap_fixture {
	struct family family;
	unsigned n_undated; /* what lap_see() found to be counted */
	int is_seen[40000]; /* and to be there, by its number */
} laps;

/*
 * A checked fixture, without an end: each test is a process of its own, threads and maps go with
 * it. The 48 bits run over soon.
 */
void lap_setup(void);
/* Another program, with rings of |ring_bytes|. */
void lap_reopen_sized(uint32_t ring_bytes);

/* Ticks are so many to the nanosecond; 1: they are nanoseconds. */
void lap_set_rate(int ticks_per_ns);
int64_t lap_to_ns(uint64_t ticks);

/* Each thread begins a span and ends it. */
void lap_each_writes(void);

/*
 * How many events of its first process are in |r|, which has ended: all have their time, and none
 * was damaged.
 */
size_t lap_see(struct recording *r);
/* The same of |in|. */
size_t lap_see_input(struct assemble_input *in);

#endif
