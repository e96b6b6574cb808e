/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs of a recording; see recording_gpus.h. */
#include "daemon/pipeline/recording/recording_gpus.h"

#include <errno.h>
#include <string.h>

#include "daemon/pipeline/recording/collectors.h"
#include "daemon/pipeline/recording/recording.h"
#include "daemon/pipeline/recording/source.h"
#include "daemon/target/target.h"
#include "trace/model/space.h"

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
