/* SPDX-License-Identifier: Apache-2.0 */
/* Events that were written too late; see stragglers.h. */
#include "daemon/pipeline/assembly/stragglers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

void stragglers_deinit(struct stragglers *s)
{
	free(s->v);
	free(s->bytes);
	memset(s, 0, sizeof *s);
}

int stragglers_add(struct stragglers *s, const struct trace_event *event, const uint8_t *bytes,
	uint32_t n_bytes)
{
	if (grow(&s->v, &s->n_allocated, s->n + 1) ||
		grow(&s->bytes, &s->n_bytes_allocated, s->n_bytes + n_bytes))
		return -ENOMEM;
	s->v[s->n] = (struct straggler){
		.event = *event, .at = s->n_bytes, .n_bytes = n_bytes, .round = s->round};
	memcpy(s->bytes + s->n_bytes, bytes, n_bytes);
	s->n++;
	s->n_bytes += n_bytes;
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct straggler *a = left;
	const struct straggler *b = right;

	if (event_comes_before(&a->event, &b->event))
		return -1;
	if (event_comes_before(&b->event, &a->event))
		return 1;
	if (a->round != b->round)
		return a->round > b->round ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

void stragglers_sort(struct stragglers *s)
{
	if (s->n)
		qsort(s->v, s->n, sizeof *s->v, compare);
}
