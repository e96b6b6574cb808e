/* SPDX-License-Identifier: Apache-2.0 */
/* Putting a part together; see continuous_part.h. */
#include "daemon/pipeline/recording/continuous_part.h"

#include <errno.h>
#include <stdint.h>

#include "daemon/pipeline/devices/device_extent.h"
#include "daemon/pipeline/drain/drain_cut.h"
#include "daemon/pipeline/recording/part_origin.h"
#include "daemon/pipeline/recording/recording.h"
#include "daemon/pipeline/recording/slice.h"
#include "daemon/pipeline/recording/source.h"
#include "daemon/pipeline/recording/spill.h"
#include "daemon/target/target.h"

/* What the part's sources hold becomes one more slice: they are empty. 0 or -ENOMEM. */
static int slice_newest(struct continuous_part *p)
{
	struct recording *r = p->recording;
	struct slice *newest = slice_new(r->n_sources);
	struct slice **last = &p->slices;

	if (!newest)
		return -ENOMEM;
	for (; newest->n_drains < r->n_sources; newest->n_drains++) {
		struct drain *d = &r->sources[newest->n_drains]->drain;

		newest->drains[newest->n_drains] = *d;
		drain_init(d, d->target, d->budget);
	}
	while (*last)
		last = &(*last)->next;
	*last = newest;
	return 0;
}

/* What collectors hand on late can be from before the window: it was in no part yet. */
static int64_t find_first_of_devices(const struct continuous_part *p)
{
	struct device_extents devices = {.n = 0};
	int64_t first_ns = INT64_MAX;
	int error = 0;

	for (struct slice *slice = p->slices; slice && !error; slice = slice->next)
		error = slice_find_devices(slice, &devices);
	for (size_t i = 0; i < devices.n; i++) {
		const struct source *s = p->recording->sources[devices.v[i].process];
		int64_t at_ns = device_extent_find_first(&devices.v[i]);

		if (at_ns != INT64_MAX && at_ns - s->target->clock_ahead_ns < first_ns)
			first_ns = at_ns - s->target->clock_ahead_ns;
	}
	device_extents_deinit(&devices);
	if (error)
		p->recording->error = error;
	return first_ns;
}

/* Times are since the first of all, so it is looked for before any is given away. */
static void find_extent(struct continuous_part *p, uint64_t *n_bytes)
{
	uint64_t first = part_origin_find_first_carried(p->carries, p->recording->stop.ticks);

	*n_bytes = 0;
	for (struct slice *slice = p->slices; slice; slice = slice->next) {
		first = slice_find_first(slice, p->recording->earliest_ticks, first);
		for (size_t i = 0; i < slice->n_drains; i++)
			*n_bytes += slice_count(&slice->drains[i]) * sizeof(struct slot);
	}
	part_origin_begin(p->recording, first, find_first_of_devices(p));
}

/* Behind what the sources have; what is spooled is gone from there. */
static int join_slice(struct slice *slice, struct recording *r)
{
	int error = slice_load(slice);

	for (size_t i = 0; i < slice->n_drains; i++)
		if (drain_join(&r->sources[i]->drain, &slice->drains[i]))
			error = -ENOMEM;
	return spill_give(r) ? -ENOMEM : error;
}

void continuous_part_join(struct continuous_part *p)
{
	struct recording *r = p->recording;
	uint64_t n_bytes;

	if (r->n_sources && slice_newest(p))
		r->error = -ENOMEM;
	if (r->timeline.n_pairs) {
		find_extent(p, &n_bytes);
		r->budget.slot_bytes = n_bytes;
		spill_begin(r, n_bytes);
	}
	while (p->slices) {
		struct slice *slice = p->slices;

		p->slices = slice->next;
		if (join_slice(slice, r))
			r->error = -ENOMEM;
		slice_free(slice);
	}
}
