/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The annotations as functions, for languages that cannot use the macros. Each checks the level
 * itself, as a macro does at its call site. ptap_version() is here, too.
 */
#define PTAP_IMPL_BUILDING
#include <proftap/proftap.h>

#include "lib/record/guest.h"

/* The capture's word while anything is recorded, else 0. */
static uint32_t get_recording_word(void)
{
	uint32_t word = atomic_load_explicit(&guest_get()->word, memory_order_relaxed);

	return word & 3u ? word : 0;
}

int ptap_enabled(int level)
{
	int wanted = (int)(get_recording_word() & 3u) >= (level > 1 ? level : 1);

	atomic_thread_fence(memory_order_acquire);
	/*
	 * No branch: so a call while nothing is recorded, too, executes all these instructions.
	 * tests/crash counts those that it never reaches.
	 */
	return wanted & !atomic_load_explicit(&guest_page.level.is_early, memory_order_relaxed);
}

void ptap_begin_dyn(const char *name)
{
	uint32_t word = get_recording_word();

	if (word)
		ptap_impl_open_dyn(name, word);
}

void ptap_begin_step_dyn(const char *name, int64_t number)
{
	uint32_t word = get_recording_word();

	if (word)
		ptap_impl_open_step_dyn(name, word, number);
}

void ptap_end(void)
{
	uint32_t word = get_recording_word();

	if (word)
		ptap_impl_end_top(word);
}

void ptap_instant_dyn(const char *name)
{
	uint32_t word = get_recording_word();

	if (word)
		ptap_impl_instant_dyn(name, word);
}

void ptap_counter_dyn(const char *name, double value)
{
	uint32_t word = get_recording_word();

	if (word)
		ptap_impl_counter_dyn(name, word, value);
}

static void record_mark(const char *name, enum ptap_impl_mark_kind kind, uint64_t id)
{
	uint32_t word = get_recording_word();

	if (word)
		ptap_impl_mark_dyn(name, word, kind, id);
}

void ptap_flow_out_dyn(const char *name, uint64_t id)
{
	record_mark(name, PTAP_IMPL_FLOW_OUT, id);
}

void ptap_flow_in_dyn(const char *name, uint64_t id)
{
	record_mark(name, PTAP_IMPL_FLOW_IN, id);
}

void ptap_async_begin_dyn(const char *name, uint64_t id)
{
	record_mark(name, PTAP_IMPL_ASYNC_BEGIN, id);
}

void ptap_async_end_dyn(const char *name, uint64_t id)
{
	record_mark(name, PTAP_IMPL_ASYNC_END, id);
}

const char *ptap_version(void)
{
	return PACKAGE_VERSION;
}
