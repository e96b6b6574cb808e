/* SPDX-License-Identifier: Apache-2.0 */
/* Samples as events; see sample_lines.h. */
#include "daemon/pipeline/assembly/sample_lines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "daemon/pipeline/samples/samples.h"
#include "trace/model/space.h"
#include "trace/xspace/stack_profile.h"

struct sample_drawing {
	const struct sample_lines_input *in;
	const struct sampled_process *p;
	struct plane *plane;
	uint32_t name_stack; /* stat names */
	uint32_t name_cpu;
	uint32_t *numbers; /* for each stack its number in the profile; STACKS_NONE: unused */
	struct stack_use *uses;
	size_t n_uses;
};

static bool is_in_recording(const struct sample_lines_input *in, const struct cpu_sample *sample)
{
	return sample->at_ns >= in->start_ns && sample->at_ns <= in->stop_ns;
}

/* Gives the stacks that were sampled their numbers, in the order of the samples. */
static int number_stacks(struct sample_drawing *g)
{
	const struct sampled_process *p = g->p;

	g->numbers = malloc((p->stacks.n + 1) * sizeof *g->numbers);
	g->uses = calloc(p->stacks.n + 1, sizeof *g->uses);
	if (!g->numbers || !g->uses)
		return -ENOMEM;
	for (size_t i = 0; i < p->stacks.n; i++)
		g->numbers[i] = STACKS_NONE;
	for (size_t i = 0; i < p->n; i++) {
		uint32_t *number = &g->numbers[p->v[i].stack];

		if (!is_in_recording(g->in, &p->v[i]))
			continue;
		if (*number == STACKS_NONE) {
			*number = (uint32_t)g->n_uses;
			g->uses[g->n_uses++].stack = p->v[i].stack;
		}
		g->uses[*number].n_samples++;
	}
	return 0;
}

static uint32_t intern(struct names *names, const char *text)
{
	return names_intern(names, text, strlen(text));
}

static const char *find_thread_name(const struct sample_drawing *g, uint32_t thread)
{
	const struct sampled_thread *t = &g->p->threads[thread];

	for (size_t i = 0; g->in->host && i < g->in->host->n_lines; i++)
		if (g->in->host->lines[i].id == t->tid && !line_is_counters(&g->in->host->lines[i]))
			return g->in->host->lines[i].name;
	return t->name;
}

static int draw_sample(struct sample_drawing *g, struct line *line, const struct cpu_sample *sample)
{
	struct trace_stat stats[] = {
		{.name = g->name_stack,
			.type = STAT_UINT64,
			.value.u64 = g->numbers[sample->stack]},
		{.name = g->name_cpu, .type = STAT_UINT64, .value.u64 = sample->cpu},
	};
	struct trace_event event = {
		.start_ns = sample->at_ns - g->in->start_ns,
		.name = intern(
			&g->plane->event_names, stacks_get_function(&g->p->stacks, sample->stack)),
		.stats = plane_add_stats(g->plane, stats, sizeof stats / sizeof *stats),
	};

	return event.name == NAMES_NONE || !event.stats ? -ENOMEM : line_add_event(line, &event);
}

/* Adds a line for each thread; its index is that of the thread. */
static int draw_threads(struct sample_drawing *g)
{
	const struct sampled_process *p = g->p;
	int r = 0;

	for (uint32_t i = 0; i < p->n_threads; i++)
		if (!plane_add_line(g->plane, p->threads[i].tid, find_thread_name(g, i), 0))
			return -ENOMEM;
	for (size_t i = 0; i < p->n && !r; i++)
		if (is_in_recording(g->in, &p->v[i]))
			r = draw_sample(g, &g->plane->lines[p->v[i].thread], &p->v[i]);
	for (size_t i = 0; i < g->plane->n_lines && !r; i++)
		line_sort(&g->plane->lines[i]);
	return r;
}

static int set_stacks(struct sample_drawing *g)
{
	struct chunks bytes = CHUNKS_INIT;
	struct chunk_reader reader = {.at = 0};
	_cleanup_free_ uint8_t *data = NULL;
	size_t n_bytes;
	int r;

	stack_profile_encode(&g->p->stacks, g->uses, g->n_uses, &bytes);
	r = bytes.error;
	n_bytes = (size_t)bytes.total_bytes;
	data = r ? NULL : malloc(n_bytes + 1);
	chunk_reader_init(&reader, &bytes);
	if (data) {
		chunk_reader_read(&reader, data, n_bytes);
		r = plane_set_bytes(g->plane, "ptap_stacks", data, n_bytes);
	}
	chunk_reader_deinit(&reader);
	return data ? r : -ENOMEM;
}

static int set_facts(struct sample_drawing *g)
{
	struct plane *plane = g->plane;

	if (plane_set_int(plane, "process_id", g->p->pid) ||
		plane_set_string(plane, "ptap_process_name", g->in->process_name) ||
		plane_set_int(plane, "ptap_sample_period_ns", g->in->period_ns) ||
		plane_set_uint(plane, "ptap_samples_cut", g->p->n_cut) ||
		plane_set_uint(plane, "ptap_samples_left_out", g->p->n_left_out))
		return -ENOMEM;
	return set_stacks(g);
}

static int draw_plane(struct sample_drawing *g, struct space *space)
{
	int r;

	g->plane = space_add_plane(space, (int64_t)space->n_planes + 1, g->in->plane_name);
	if (!g->plane)
		return -ENOMEM;
	g->name_stack = intern(&g->plane->stat_names, "stack");
	g->name_cpu = intern(&g->plane->stat_names, "cpu");
	if (g->name_stack == NAMES_NONE || g->name_cpu == NAMES_NONE)
		return -ENOMEM;
	r = draw_threads(g);
	return r ? r : set_facts(g);
}

int sample_lines_add(
	const struct sample_lines_input *in, const struct sampled_process *p, struct space *space)
{
	struct sample_drawing g = {.in = in, .p = p};
	int r = number_stacks(&g);

	if (!r && g.n_uses)
		r = draw_plane(&g, space);
	free(g.numbers);
	free(g.uses);
	return r;
}
