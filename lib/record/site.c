/* SPDX-License-Identifier: Apache-2.0 */
/* Registering a place in the source; see site.h. */
#define PTAP_IMPL_BUILDING
#include <proftap/proftap.h>

#include "lib/record/guest.h"
#include "lib/record/site.h"
#include "lib/record/strings.h"

uint32_t site_register(uint32_t *kept, const char *text)
{
	struct arena *arena = guest_get()->arena;
	uint32_t id = strings_append(arena, text);

	/* Else the server was replaced in between: nobody reads that record, and the id means another text now. */
	if (guest_get()->arena == arena)
		__atomic_store_n(kept, id, __ATOMIC_RELEASE);
	return id;
}
