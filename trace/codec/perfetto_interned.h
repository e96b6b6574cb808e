/* SPDX-License-Identifier: Apache-2.0 */
/* What a sequence has given numbers to: names, keys, counters. They are known by their indices, and forgotten with the sequence. */
#ifndef TRACE_CODEC_PERFETTO_INTERNED_H
#define TRACE_CODEC_PERFETTO_INTERNED_H

#include <stddef.h>
#include <stdint.h>

struct perfetto_interned {
	struct perfetto_number {
		uint64_t id; /* valid if it is of this sequence */
		uint32_t sequence;
	} * v;
	size_t n_allocated; /* as many as there are indices */
	uint32_t n; /* ids given in |sequence| */
	uint32_t sequence; /* > 0 */
};

/* Room for indices below |n|. 0 or -ENOMEM. */
int perfetto_interned_resize(struct perfetto_interned *t, size_t n);

static inline void perfetto_interned_begin(struct perfetto_interned *t, uint32_t sequence)
{
	t->sequence = sequence;
	t->n = 0;
}

/* The id of |index|; 0: it has none yet. */
static inline uint64_t perfetto_interned_find(const struct perfetto_interned *t, uint32_t index)
{
	return t->v[index].sequence == t->sequence ? t->v[index].id : 0;
}

static inline void perfetto_interned_set(struct perfetto_interned *t, uint32_t index, uint64_t id)
{
	t->v[index].sequence = t->sequence;
	t->v[index].id = id;
}

#endif
