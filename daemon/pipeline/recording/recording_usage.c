/* SPDX-License-Identifier: Apache-2.0 */
/* What the processes of a recording use; see recording_usage.h. */
#include "daemon/pipeline/recording/recording_usage.h"

#include <errno.h>
#include <stdbool.h>

#include "base/clock.h"
#include "daemon/kernel/descriptors.h"
#include "daemon/pipeline/recording/recording.h"
#include "daemon/pipeline/recording/source.h"
#include "daemon/target/target.h"

/* What a visit may take; the last process begun is finished. */
#define USAGE_SLICE_NS (NS_PER_MS / 2)

void recording_usage_begin(struct recording *r, size_t first)
{
	for (size_t i = first; i < r->n_sources; i++) {
		struct source *s = r->sources[i];
		/* The program's always; clients need some, too. */
		bool has_room =
			i == 0 || descriptors_are_left(USAGE_DESCRIPTORS, DESCRIPTORS_OF_CHILDREN);

		r->n_without_usage += r->usage_interval_ms && !has_room;
		usage_open(&s->usage, "", s->target->pid, has_room ? r->usage_interval_ms : 0);
		/* Followed children are among the program's descendants. */
		if (i == 0)
			usage_open_family(&s->usage, "");
	}
	for (size_t i = 0; i < r->n_sources; i++)
		r->sources[i]->usage.n_sharing = r->n_sources;
}

/* There may be many, and the rings fill meanwhile. */
void recording_usage_visit(struct recording *r)
{
	int64_t give_up = monotonic_ns() + USAGE_SLICE_NS;

	for (size_t n = 0; n < r->n_sources && monotonic_ns() < give_up; n++) {
		struct source *s = r->sources[r->next_usage++ % r->n_sources];

		if (target_get_life(s->target) == TARGET_DEAD)
			usage_finish(&s->usage, 1);
		else
			usage_visit(&s->usage);
	}
}

void recording_usage_end(struct recording *r)
{
	for (size_t i = 0; i < r->n_sources; i++) {
		struct source *s = r->sources[i];

		/* One that only stopped its server still is there. */
		usage_finish(&s->usage, target_get_life(s->target) == TARGET_DEAD);
		if (s->usage.error || s->usage.threads.error)
			r->error = -ENOMEM;
	}
}
