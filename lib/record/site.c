/* SPDX-License-Identifier: Apache-2.0 */
/* Registering a place in the source; see site.h. */
#define PTAP_IMPL_BUILDING
#include <proftap/proftap.h>

#include "lib/record/guest.h"
#include "lib/record/site.h"
#include "lib/record/strings.h"

uint32_t site_register(uint32_t *kept, const char *text)
{
	/* Where the record goes, whatever server runs by now. */
	struct arena *arena = thread_self.arena;
	uint32_t id = strings_append(arena, text);

	/*
	 * Else the server was replaced in between: nobody reads that record, and the id means another text now. Written
	 * to, not read: the exchange of connect_server() (lib/control/launch.c), which copies the strings after it, comes before
	 * this, or sees the text.
	 */
	if (atomic_compare_exchange_strong(&guest_get()->arena, &arena, arena))
		__atomic_store_n(kept, id, __ATOMIC_RELEASE);
	return id;
}
