/* SPDX-License-Identifier: Apache-2.0 */
/* The library's own state; see inside.h. */
#define PTAP_IMPL_BUILDING
#include "tests/crash/inside.h"

#include <proftap/proftap.h>
#include <string.h>

#include "lib/record/guest.h"
#include "lib/record/thread.h"

void inside_set_clock(uint32_t clock)
{
	atomic_store(&guest_get()->clock, clock);
}

void inside_use_system_calls(void)
{
	inside_set_clock(GUEST_CLOCK_BY_CALL);
}

void inside_forget_thread(void)
{
	memset(&thread_self, 0, sizeof thread_self);
}

void inside_set_entering(uint32_t word)
{
	thread_self.entering = word;
}

static uint32_t joined_word;

static void join(void)
{
	atomic_store(&guest_get()->word, joined_word);
}

void inside_set_guard(bool is_taken)
{
	thread_self.idle = is_taken ? 0 : thread_get_idle_word(&thread_self);
}

void inside_follow(uint32_t word)
{
	joined_word = word;
	guest_join = join;
	atomic_store(&guest_get()->word, GUEST_WORD_FOLLOW);
}

int inside_ask(int level)
{
	return ptap_enabled(level);
}

uint32_t *inside_word(void)
{
	return (uint32_t *)&guest_get()->word;
}

void *inside_page(void)
{
	return guest_get();
}
