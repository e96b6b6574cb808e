/* SPDX-License-Identifier: Apache-2.0 */
/* Threads' names; see thread_names.h. They are only ever appended, so who reads one reads all of it. */
#include "lib/record/thread_names.h"

#include <stdatomic.h>
#include <string.h>

static struct {
	_Atomic int32_t tid; /* 0: not written yet; behind the name */
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

int thread_names_find(int32_t tid, char name[RING_NAME_BYTES])
{
	for (uint32_t i = atomic_load(&n_names); i-- > 0;) {
		if (atomic_load_explicit(&names[i].tid, memory_order_acquire) == tid) {
			memcpy(name, names[i].name, RING_NAME_BYTES);
			return 1;
		}
	}
	return 0;
}
