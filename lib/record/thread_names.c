/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads' names; see thread_names.h; and ptap_thread_name(). Names are only ever appended, so a
 * reader always reads whole ones.
 */
#define PTAP_IMPL_BUILDING
#include "lib/record/thread_names.h"

#include <proftap/proftap.h>
#include <stdatomic.h>
#include <string.h>

#include "base/utf8.h"
#include "lib/record/guest.h"
#include "lib/record/thread.h"

static struct {
	_Atomic int32_t tid; /* 0: not written yet; stored after the name */
	char name[RING_NAME_BYTES];
} names[THREAD_NAMES_MAX];

static _Atomic uint32_t n_names;

void thread_names_set(int32_t tid, const char *name)
{
	uint32_t at = atomic_load(&n_names);

	do {
		if (at == THREAD_NAMES_MAX)
			return;
	} while (!atomic_compare_exchange_weak(&n_names, &at, at + 1));
	memcpy(names[at].name, name, strnlen(name, RING_NAME_BYTES - 1));
	atomic_store_explicit(&names[at].tid, tid, memory_order_release);
}

bool thread_names_find(int32_t tid, char name[RING_NAME_BYTES])
{
	for (uint32_t i = atomic_load(&n_names); i-- > 0;) {
		if (atomic_load_explicit(&names[i].tid, memory_order_acquire) == tid) {
			memcpy(name, names[i].name, RING_NAME_BYTES);
			return true;
		}
	}
	return false;
}

void ptap_thread_name(const char *name)
{
	struct thread *self = &thread_self;

	utf8_fit(self->name, sizeof self->name, name ? name : "");
	/* A thread that already has a ring gets the name there, too. */
	if (self->ring && self->arena && self->arena == guest_get()->arena)
		ring_set_name(self->ring, self->name);
}
