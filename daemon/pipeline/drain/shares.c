/* SPDX-License-Identifier: Apache-2.0 */
/* Shares; see shares.h. */
#include "daemon/pipeline/drain/shares.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "daemon/pipeline/drain/thread_log.h"

void shares_deinit(struct shares *s)
{
	free(s->wants);
	*s = (struct shares){.n = 0};
}

int shares_add(struct shares *s, uint64_t n_slots, uint32_t n_open)
{
	if (grow(&s->wants, &s->n_allocated, s->n + 1))
		return -ENOMEM;
	s->wants[s->n++] = n_slots;
	s->fixed_bytes += thread_log_count_bytes(n_open);
	return 0;
}

static int compare_wants(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Serves the threads that want least first, so that the rest of their shares goes to the others. */
uint64_t shares_find(struct shares *s, uint64_t max_bytes)
{
	uint64_t left =
		max_bytes > s->fixed_bytes ? (max_bytes - s->fixed_bytes) / sizeof(struct slot) : 0;

	if (s->n)
		qsort(s->wants, s->n, sizeof *s->wants, compare_wants);
	for (size_t i = 0; i < s->n; i++) {
		uint64_t share = left / (s->n - i);

		if (s->wants[i] > share)
			return share ? share : 1;
		left -= s->wants[i];
	}
	return UINT64_MAX;
}
