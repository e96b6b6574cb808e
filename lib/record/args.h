/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a call's arguments into slots of a frame. */
#ifndef RECORD_ARGS_H
#define RECORD_ARGS_H

#include <proftap/proftap.h>
#include <stdint.h>

#include "lib/wire/record.h"

struct ring;

_Static_assert((int)PTAP_IMPL_I64 == SLOT_I64 && (int)PTAP_IMPL_U64 == SLOT_U64 &&
		       (int)PTAP_IMPL_F64 == SLOT_F64 && (int)PTAP_IMPL_STR == SLOT_TEXT &&
		       (int)PTAP_IMPL_PTR == SLOT_POINTER,
	"the header's types are the wire's");

/* Makes the slot of an argument that is not a text. */
static inline struct slot args_number(uint32_t key, const struct ptap_impl_arg *arg)
{
	uint64_t bits = sizeof(void *) < sizeof(uint64_t) && arg->type == PTAP_IMPL_PTR
				? (uint64_t)(uintptr_t)arg->value.p
				: arg->value.u;

	return (struct slot){{slot_word0(key, (enum slot_type)arg->type, 0), bits}};
}

/*
 * Both return the number of slots written, at most RECORD_MAX_EXTRA. What they cut is counted as
 * LOSS_CUT.
 */
uint32_t args_write(struct ring *ring, struct slot *slots, struct ptap_impl_site *site,
	const struct ptap_impl_arg *args, unsigned n_args);
uint32_t args_write_name(struct ring *ring, struct slot *slots, const char *name);
/*
 * Writes one text into at most |room| slots, which may be 0. NULL is written as "(null)". Returns
 * as above.
 */
uint32_t args_write_text(
	struct ring *ring, struct slot *slots, uint32_t room, uint32_t key, const char *text);

#endif
