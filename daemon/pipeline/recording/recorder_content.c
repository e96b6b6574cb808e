/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the flight recorder holds anything; see recorder.h. */
#include "daemon/pipeline/drain/rings.h"

#include "daemon/pipeline/recording/recorder.h"
#include "daemon/pipeline/recording/source.h"
#include "daemon/target/ring_copy.h"
#include "daemon/target/target.h"
#include <stdbool.h>

static bool has_entries(const struct target *t, uint32_t i)
{
	struct ring *ring = target_ring(t, i);

	return rings_is_recorded(t, i) &&
	       (atomic_load(&ring->head) != atomic_load(&ring->first) || atomic_load(&ring->depth));
}

static bool has_rings(const struct source *s)
{
	for (uint32_t i = 0; s->state != SOURCE_ENDED && i < s->target->n_rings; i++)
		if (has_entries(s->target, i))
			return true;
	return false;
}

bool recorder_has_content(const struct recorder *r)
{
	for (size_t i = 0; i < r->recording.n_sources; i++)
		if (r->ended_of[i]->n || has_rings(r->recording.sources[i]))
			return true;
	return false;
}
