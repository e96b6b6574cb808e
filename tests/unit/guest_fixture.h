/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that is being recorded, without a server: an arena in anonymous shared memory, with
 * every ring mapped, and the words that the control thread would publish. The drain gets a target
 * that points at the same memory.
 *
 * This header leaves out lib/record/guest.h, so that a test can use the annotations of
 * <proftap/proftap.h>: the two declare the level page each in their own way.
 */
#ifndef TESTS_UNIT_GUEST_FIXTURE_H
#define TESTS_UNIT_GUEST_FIXTURE_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/target/target.h"
#include "lib/wire/arena.h"

#define FIXTURE_RINGS 4u
#define FIXTURE_RING_BYTES ARENA_MIN_RING_BYTES
#define FIXTURE_SLOTS (FIXTURE_RING_BYTES / SLOT_BYTES)

struct guest_fixture {
	struct arena *arena;
	struct target target;
};

extern struct guest_fixture fixture;

/* A checked fixture of a test case: FIXTURE_RINGS rings, all ready, nothing recorded. */
void fixture_open(void);
void fixture_close(void);
/* The same with |n_rings| rings of |ring_bytes| each. */
void fixture_open_rings(uint32_t n_rings);
void fixture_open_sized(uint32_t n_rings, uint32_t ring_bytes);

/* Starts a capture at |level|: publishes its word and returns it. */
uint32_t fixture_start(uint32_t level);
/*
 * Called before the fixture is opened. Annotations then take the slow path
 * (lib/record/slow_path.h), because the clock is CLOCK_MONOTONIC; otherwise they take the fast one.
 */
void fixture_take_slow_path(void);
/* The current time by the clock of the captures. */
uint64_t fixture_now(void);
/* Sets whether full rings overwrite their oldest entries from now on. */
void fixture_overwrite(bool overwrites);
/* Publishes |word|; 0 ends the capture. */
void fixture_publish(uint32_t word);

/* The result of guest_wipe_on_fork(). */
int fixture_wipe_on_fork(void);

/* The ring |i|, and the slot at its position |at|. */
struct ring *fixture_ring(uint32_t i);
struct slot *fixture_slot(uint32_t i, uint64_t at);
/* The number of slots ever written to ring |i|, and its losses. */
uint64_t fixture_head(uint32_t i);
uint64_t fixture_lost(uint32_t i, enum ring_loss reason);
/* Empties ring |i|, as a drain would. */
void fixture_empty(uint32_t i);

/* The text of |id| in the string table, terminated; valid until the next call. */
const char *fixture_string(uint32_t id);
/* Adds a string to the table as a library would, and returns its id. */
uint32_t fixture_add_string(const char *text);

/* The parts of a record. */
uint64_t fixture_start_of(const struct slot *slot);
uint64_t fixture_duration_of(const struct slot *slot);
const char *fixture_name_of(const struct slot *slot);

/*
 * The main function of a test that includes unit.h: runs |tests| on the fast path, and again on the
 * slow one.
 */
#define FIXTURE_MAIN_BOTH_WAYS(suite, open, close, tests)                        \
	static void open_on_slow_path(void)                                      \
	{                                                                        \
		fixture_take_slow_path();                                        \
		open();                                                          \
	}                                                                        \
	static const struct unit ways[] = {{"fast path", open, close, 0, tests}, \
		{"slow path", open_on_slow_path, close, 0, tests}, {NULL}};      \
	UNIT_MAIN_OF(suite, ways)

#endif
