/* SPDX-License-Identifier: Apache-2.0 */
/* Events into rings; see annotate.h. */
#include "lib/inject/nvtx/annotate.h"

#include <stdatomic.h>

#include "lib/inject/nvtx/event.h"
#include "lib/inject/nvtx/vocabulary.h"
#include "lib/record/range.h"

/* A range's number: how many were started before it, and the place of its name in the store. */
#define PLACE_BITS 24
#define PLACE_MASK ((UINT64_C(1) << PLACE_BITS) - 1)

void nvtx_push(struct nvtx_event *e, uint32_t word)
{
	struct range_what what = nvtx_event_describe(e);

	range_push(e->domain->owner, word, &what);
}

void nvtx_pop(const struct nvtx_domain *domain, uint32_t word)
{
	range_pop(domain->owner, word);
}

void nvtx_mark(struct nvtx_event *e, uint32_t word)
{
	struct range_what what = nvtx_event_describe(e);

	range_point(word, RECORD_INSTANT, &what);
}

static _Atomic uint64_t n_started;

uint64_t nvtx_start(struct nvtx_event *e)
{
	uint32_t word = nvtx_get_word();
	struct range_what what;

	if (!e->string)
		e->string = nvtx_string_get_passing(e->domain, e->text);
	e->range_id = (atomic_fetch_add_explicit(&n_started, 1, memory_order_relaxed) + 1)
			      << PLACE_BITS |
		      e->string->place;
	if (word) {
		what = nvtx_event_describe(e);
		range_point(word, RECORD_ASYNC_BEGIN, &what);
	}
	return e->range_id;
}

/* A program may end what it never started. */
static int was_started(uint64_t range_id)
{
	uint64_t number = range_id >> PLACE_BITS;

	return number && number <= atomic_load_explicit(&n_started, memory_order_relaxed);
}

void nvtx_end(uint64_t range_id, uint32_t word)
{
	struct nvtx_event e = {
		.string = nvtx_string_at((uint32_t)(range_id & PLACE_MASK)),
		.range_id = range_id,
	};
	struct range_what what;

	if (!e.string || !was_started(range_id))
		return;
	what = nvtx_event_describe(&e);
	range_point(word, RECORD_ASYNC_END, &what);
}
