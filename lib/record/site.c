/* SPDX-License-Identifier: Apache-2.0 */
/* Registers a call site's name; see site.h. */
#define PTAP_IMPL_BUILDING
#include <proftap/proftap.h>

#include "lib/record/guest.h"
#include "lib/record/site.h"
#include "lib/record/strings.h"

uint32_t site_register(uint32_t *kept, const char *text)
{
	/* The arena that the record goes to, even if another server runs by now. */
	struct arena *arena = thread_self.arena;
	uint32_t id = strings_append(arena, text);

	/*
	 * Otherwise the server was replaced in between: nothing reads that record, and the id means
	 * another text now. This is a write, not a read: the exchange in fill_arena()
	 * (lib/control/handshake.c), which copies the strings after it, comes either before this,
	 * or sees the text.
	 */
	if (atomic_compare_exchange_strong(&guest_get()->arena, &arena, arena))
		__atomic_store_n(kept, id, __ATOMIC_RELEASE);
	return id;
}
