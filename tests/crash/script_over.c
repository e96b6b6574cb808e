/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The script of a program under a flight recorder: entries of each kind that begin at a boundary
 * between segments, and that begin in the last slot before one.
 */
#include "tests/crash/acts.h"
#include "tests/crash/script.h"
#include "tests/unit/guest_fixture.h"

#define SEGMENT (FIXTURE_SLOTS / RING_SEGMENTS)

static void nothing(void)
{
}

/*
 * Writes entries until the head is |left| slots before a boundary. Writes at least one, so that a
 * head that is already there moves on to the next boundary.
 */
static void come_to(uint32_t left)
{
	do
		PTAP_INSTANT("filling");
	while ((fixture_head(0) + left) % SEGMENT != 0);
}

static void come_to_boundary(void)
{
	come_to(0);
}

static void come_before(void)
{
	come_to(1);
}

/* Writes less than a lap. The test copies new slots after each act, before they are overwritten. */
static void fill_half(void)
{
	for (uint32_t i = 0; i < FIXTURE_SLOTS / 2; i++)
		PTAP_INSTANT("filling");
}

static void turn_recorder_on(void)
{
	fixture_overwrite(true);
}

static void turn_recorder_off(void)
{
	fixture_overwrite(false);
}

static void start_by_ticks(void)
{
	turn_recorder_on();
	act_start_by_ticks();
}

static void start_by_monotonic(void)
{
	turn_recorder_on();
	act_start_by_monotonic();
}

#define LOUD 0

/* clang-format off */
#define AT_BOUNDARY(title, prepare, act) \
	{title ": before", prepare, ACT_QUIET}, \
	{"to a boundary", come_to_boundary, ACT_QUIET}, \
	{title ", at a boundary", act, LOUD}, \
	{title ": before", prepare, ACT_QUIET}, \
	{"before a boundary", come_before, ACT_QUIET}, \
	{title ", before a boundary", act, LOUD}

/* No comma after the last row. */
#define ACTS_AT_BOUNDARIES \
	AT_BOUNDARY("span", act_begin, act_end), \
	AT_BOUNDARY("begin", nothing, act_begin), \
	AT_BOUNDARY("span with a token", act_begin_outer, act_end_outer), \
	AT_BOUNDARY("arguments", act_begin_args, act_end_nested), \
	AT_BOUNDARY("numbers", act_begin_numbers, act_end_nested), \
	AT_BOUNDARY("large", act_begin_large, act_end_nested), \
	AT_BOUNDARY("step", act_begin_step, act_end), \
	AT_BOUNDARY("dynamic span", act_begin_dyn, act_end), \
	AT_BOUNDARY("instant", nothing, act_instant), \
	AT_BOUNDARY("dynamic instant", nothing, act_instant_dyn), \
	AT_BOUNDARY("counter", nothing, act_counter_i), \
	AT_BOUNDARY("counter with a fraction", nothing, act_counter_f), \
	AT_BOUNDARY("dynamic counter", nothing, act_counter_dyn), \
	AT_BOUNDARY("flow", nothing, act_flow_out)

#define ACTS_OF_MODES \
	{"to a boundary", come_to_boundary, ACT_QUIET}, \
	{"recorder off", turn_recorder_off, ACT_QUIET}, \
	{"instant that is dropped", act_instant, LOUD}, \
	{"counter that is dropped", act_counter_i, LOUD}, \
	{"drained", act_empty_rings, ACT_QUIET}, \
	{"instant behind the drain", act_instant, LOUD}, \
	{"fill", act_fill_ring, ACT_QUIET}, \
	{"counter that does not fit", act_counter_i, LOUD}, \
	{"recorder on", turn_recorder_on, ACT_QUIET}, \
	{"counter that overwrites", act_counter_i, LOUD}, \
	{"counter that overwrites, too", act_counter_i, LOUD}

#define ACTS_FROM(start) \
	{"start", start, ACT_QUIET}, \
	{"first instant", act_instant, LOUD}, \
	{"fill", fill_half, ACT_QUIET}, \
	{"fill", fill_half, ACT_QUIET}, \
	{"fill", fill_half, ACT_QUIET}, \
	ACTS_AT_BOUNDARIES, \
	ACTS_OF_MODES
/* clang-format on */

/* The acts run on the fast path (ticks) and on the slow path (CLOCK_MONOTONIC). */
const struct act script[] = {
	{"make long text", act_make_long_text, ACT_QUIET},
	ACTS_FROM(start_by_ticks),
	ACTS_FROM(start_by_monotonic),
};

const size_t script_length = sizeof script / sizeof script[0];
