/* SPDX-License-Identifier: Apache-2.0 */
/* Instants, counters, flows and async spans; see acts.h. */
#include "tests/crash/acts.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "tests/crash/inside.h"
#include "tests/crash/script.h"
#include "tests/crash/stage.h"
#include "tests/unit/guest_fixture.h"

void act_instant(void)
{
	PTAP_INSTANT("an instant");
}

void act_instant_dyn(void)
{
	ptap_instant_dyn("an instant with a name of its own");
}

void act_instant_dyn_long(void)
{
	ptap_instant_dyn(acts_long_text);
}

#define LETTERS_10 "0123456789"
#define LETTERS_100                                                                             \
	LETTERS_10 LETTERS_10 LETTERS_10 LETTERS_10 LETTERS_10 LETTERS_10 LETTERS_10 LETTERS_10 \
		LETTERS_10 LETTERS_10

/* The table of names takes at most 1,023 bytes of one. */
void act_instant_with_a_cut_name(void)
{
	PTAP_INSTANT(LETTERS_100 LETTERS_100 LETTERS_100 LETTERS_100 LETTERS_100 LETTERS_100
			LETTERS_100 LETTERS_100 LETTERS_100 LETTERS_100 LETTERS_100);
}

/*
 * Stores the head before the slot, which is the wrong order: the test must detect the torn record.
 */
void act_instant_out_of_order(void)
{
	uint64_t at = atomic_load(&acts_ring()->head);
	struct slot *slot = fixture_slot(0, at);

	slot->word[0] = slot->word[1] = 0;
	atomic_store(&acts_ring()->head, at + 1);
	slot->word[0] = record_word0(stage_now(), RECORD_INSTANT, 0, 0);
	slot->word[1] = record_word1(0, acts_outer_site.id);
}

void act_counter_i(void)
{
	PTAP_COUNTER("a counter", 12);
}

void act_counter_f(void)
{
	PTAP_COUNTER("a counter", 0.5);
}

void act_counter_dyn(void)
{
	ptap_counter_dyn("a counter with a name of its own", 1.5);
}

void act_flow_out(void)
{
	PTAP_FLOW_OUT("a flow", 99);
}

void act_flow_in_dyn(void)
{
	ptap_flow_in_dyn("a flow", 99);
}

void act_flow_out_dyn(void)
{
	ptap_flow_out_dyn("another flow", 98);
}

void act_async_begin(void)
{
	PTAP_ASYNC_BEGIN("a request", 7);
}

void act_async_begin_dyn(void)
{
	ptap_async_begin_dyn("another request", 8);
}

void act_async_end(void)
{
	PTAP_ASYNC_END("a request", 7);
}

void act_async_end_dyn(void)
{
	ptap_async_end_dyn("another request", 8);
}

void act_ask(void)
{
	if (inside_ask(4))
		abort();
}
