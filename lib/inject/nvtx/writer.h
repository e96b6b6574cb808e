/* SPDX-License-Identifier: Apache-2.0 */
/* Writes an annotation's arguments into slots. Arguments without room are left out, and counted. */
#ifndef INJECT_NVTX_WRITER_H
#define INJECT_NVTX_WRITER_H

#include <stdint.h>
#include <string.h>

#include "lib/record/args.h"
#include "lib/record/emit.h"
#include "lib/record/site.h"

struct nvtx_writer {
	struct ring *ring;
	struct slot *slots;
	uint32_t room; /* slots */
	uint32_t n; /* slots written so far */
};

/* The string id of |text|. |kept| is always used with the same text. */
static inline uint32_t writer_key(uint32_t *kept, const char *text)
{
	uint32_t id = __atomic_load_n(kept, __ATOMIC_ACQUIRE);

	return unlikely(!id) ? site_register(kept, text) : id;
}

static inline void writer_number(
	struct nvtx_writer *w, uint32_t key, enum slot_type type, uint64_t bits)
{
	if (unlikely(w->n == w->room)) {
		count_loss(w->ring, LOSS_CUT);
		return;
	}
	w->slots[w->n++] = (struct slot){{slot_word0(key, type, 0), bits}};
}

static inline void writer_f64(struct nvtx_writer *w, uint32_t key, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	writer_number(w, key, SLOT_F64, bits);
}

static inline void writer_text(struct nvtx_writer *w, uint32_t key, const char *text)
{
	w->n += args_write_text(w->ring, w->slots + w->n, w->room - w->n, key, text);
}

#endif
