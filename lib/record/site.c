/* SPDX-License-Identifier: Apache-2.0 */
/* Registering a place in the source; see site.h. */
#define PTAP_IMPL_BUILDING
#include <proftap/proftap.h>

#include "lib/record/guest.h"
#include "lib/record/site.h"
#include "lib/record/strings.h"

uint32_t site_register(struct ptap_impl_site *site)
{
	uint32_t id = strings_append(guest_get()->arena, site->name);

	__atomic_store_n(&site->id, id, __ATOMIC_RELEASE);
	return id;
}
