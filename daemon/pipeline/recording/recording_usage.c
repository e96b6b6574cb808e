/* SPDX-License-Identifier: Apache-2.0 */
/* The usage of a recording's processes; see recording_usage.h. */
#include "daemon/pipeline/recording/recording_usage.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/kernel/descriptors.h"
#include "daemon/pipeline/recording/collectors.h"
#include "daemon/pipeline/recording/recording.h"
#include "daemon/pipeline/recording/source.h"
#include "daemon/target/target.h"
#include "trace/model/space.h"

/* The time that a visit may take; it finishes the process that it has begun. */
#define USAGE_SLICE_NS (NS_PER_MS / 2)

void recording_usage_begin(struct recording *r, size_t first)
{
	for (size_t i = first; i < r->n_sources; i++) {
		struct source *s = r->sources[i];
		/* The program itself is always sampled. Clients need descriptors, too. */
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

/* It is short: there may be many processes, and the rings fill meanwhile. */
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

		/* A program that only stopped its server still runs. */
		usage_finish(&s->usage, target_get_life(s->target) == TARGET_DEAD);
		if (s->usage.error || s->usage.threads.error)
			r->error = -ENOMEM;
	}
}

/* --- GPUs --------------------------------------------------------------------------------- */

void recording_gpus_visit(struct recording *r)
{
	struct recording_gpus *g = &r->gpus;

	if (g->config.interval_ns && !g->is_tried && collectors_see_device(r)) {
		g->is_tried = true;
		g->sampler = gpu_sampler_start(&g->config);
	}
	for (; g->sampler && g->n_told < r->n_sources; g->n_told++)
		gpu_sampler_add_process(g->sampler, r->sources[g->n_told]->target->pid);
}

void recording_gpus_end(struct recording *r)
{
	struct recording_gpus *g = &r->gpus;

	if (!g->sampler)
		return;
	gpu_sampler_stop(g->sampler, &g->samples, g->why);
	g->sampler = NULL;
	if (g->samples.error)
		r->error = -ENOMEM;
}

void recording_gpus_cut(struct recording *r, struct recording *part, int64_t from_ns)
{
	memset(&part->gpus, 0, sizeof part->gpus);
	if (r->gpus.sampler)
		gpu_sampler_cut(r->gpus.sampler, &part->gpus.samples, from_ns);
	else
		gpu_samples_cut(&r->gpus.samples, &part->gpus.samples, from_ns);
	memcpy(part->gpus.why, r->gpus.why, sizeof part->gpus.why);
}

void recording_gpus_deinit(struct recording *r)
{
	recording_gpus_end(r);
	gpu_samples_deinit(&r->gpus.samples);
}

int recording_gpus_add_warning(const struct recording *r, struct space *space)
{
	if (!r->gpus.why[0])
		return 0;
	return space_add_warning(space,
		"gpu: NVML's counters are missing or not whole: %s; see proftap doctor",
		r->gpus.why);
}
