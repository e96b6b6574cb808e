/* SPDX-License-Identifier: Apache-2.0 */
/* The string id of a call site: its name is copied at its first recording. */
#ifndef RECORD_SITE_H
#define RECORD_SITE_H

#include <stdint.h>

#include "lib/record/emit.h"

struct ptap_impl_site;

/* Copies |text| into the string table and keeps its id in |kept| for the next time. Returns the id. */
uint32_t site_register(uint32_t *kept, const char *text);

/*
 * The ids belong to one arena. A program that stops its server and starts another gets a new arena
 * with a copy of the old string table (lib/control/arena.c), so that ids stay valid.
 */
static inline uint32_t site_id(struct ptap_impl_site *site)
{
	uint32_t id = __atomic_load_n(&site->id, __ATOMIC_ACQUIRE);

	return unlikely(!id) ? site_register(&site->id, site->name) : id;
}

#endif
