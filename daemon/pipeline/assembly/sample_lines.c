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
	uint32_t name_waits;
	uint32_t *numbers; /* for each stack its number in the profile; STACKS_NONE: unused */
	struct stack_use *uses;
	size_t n_uses;
};

static bool is_in_recording(const struct sample_lines_input *in, const struct cpu_sample *sample)
{
	return sample->at_ns >= in->start_ns && sample->at_ns <= in->stop_ns;
}

/* Cuts the interval to the recording. false: nothing is left. */
static bool clip_interval(const struct sample_lines_input *in, struct thread_interval *interval)
{
	if (interval->start_ns < in->start_ns)
		interval->start_ns = in->start_ns;
	if (interval->end_ns > in->stop_ns)
		interval->end_ns = in->stop_ns;
	return interval->start_ns < interval->end_ns;
}

static void number_stack(struct sample_drawing *g, uint32_t stack)
{
	if (g->numbers[stack] == STACKS_NONE) {
		g->numbers[stack] = (uint32_t)g->n_uses;
		g->uses[g->n_uses++].stack = stack;
	}
	g->uses[g->numbers[stack]].n_samples++;
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
	for (size_t i = 0; i < p->n; i++)
		if (is_in_recording(g->in, &p->v[i]))
			number_stack(g, p->v[i].stack);
	for (size_t i = 0; i < p->n_intervals; i++) {
		struct thread_interval interval = p->intervals[i];

		if (interval.stack != STACKS_NONE && clip_interval(g->in, &interval))
			number_stack(g, interval.stack);
	}
	return 0;
}

static uint32_t intern(struct names *names, const char *text)
{
	return names_intern(names, text, strlen(text));
}

static const char *find_thread_name(
	const struct sample_lines_input *in, const struct sampled_thread *t)
{
	for (size_t i = 0; in->host && i < in->host->n_lines; i++)
		if (in->host->lines[i].id == t->tid && !line_is_counters(&in->host->lines[i]))
			return in->host->lines[i].name;
	return t->name;
}

/*
 * Finds or adds the line of a thread. |numbers| has for each thread the number of its line + 1, or
 * 0. NULL: out of memory.
 */
static struct line *take_line(const struct sample_lines_input *in, const struct sampled_process *p,
	uint32_t thread, struct plane *plane, size_t *numbers)
{
	const struct sampled_thread *t = &p->threads[thread];

	if (!numbers[thread]) {
		if (!plane_add_line(plane, t->tid, find_thread_name(in, t), 0))
			return NULL;
		numbers[thread] = plane->n_lines;
	}
	return &plane->lines[numbers[thread] - 1];
}

static void sort_lines(struct plane *plane)
{
	for (size_t i = 0; i < plane->n_lines; i++)
		line_sort(&plane->lines[i]);
}

/* Adds the facts that both planes of a process have. */
static int set_process(const struct sample_lines_input *in, pid_t pid, struct plane *plane)
{
	if (plane_set_int(plane, "process_id", pid) ||
		plane_set_string(plane, "ptap_process_name", in->process_name))
		return -ENOMEM;
	return 0;
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

/* Returns the function that waits: the frame of the kernel says nothing. */
static const char *get_waiting_function(const struct stacks *s, uint32_t stack)
{
	const char *name = stacks_get_function(s, stack);

	return name[0] == '[' && s->v[stack].callers != STACKS_NONE
		       ? stacks_get_function(s, s->v[stack].callers)
		       : name;
}

/* A wait with a stack is an event with a duration. */
static int draw_wait(
	struct sample_drawing *g, struct line *line, const struct thread_interval *interval)
{
	struct trace_stat stats[] = {
		{.name = g->name_stack,
			.type = STAT_UINT64,
			.value.u64 = g->numbers[interval->stack]},
		{.name = g->name_waits, .type = STAT_UINT64, .value.u64 = interval->n_waits},
	};
	struct trace_event event = {
		.start_ns = interval->start_ns - g->in->start_ns,
		.duration_ns = interval->end_ns - interval->start_ns,
		.name = intern(&g->plane->event_names,
			get_waiting_function(&g->p->stacks, interval->stack)),
		.stats = plane_add_stats(g->plane, stats, sizeof stats / sizeof *stats),
	};

	return event.name == NAMES_NONE || !event.stats ? -ENOMEM : line_add_event(line, &event);
}

static int draw_threads(struct sample_drawing *g)
{
	const struct sampled_process *p = g->p;
	_cleanup_free_ size_t *numbers = calloc((size_t)p->n_threads + 1, sizeof *numbers);
	struct line *line;
	int r = numbers ? 0 : -ENOMEM;

	for (size_t i = 0; i < p->n && !r; i++) {
		if (!is_in_recording(g->in, &p->v[i]))
			continue;
		line = take_line(g->in, p, p->v[i].thread, g->plane, numbers);
		r = line ? draw_sample(g, line, &p->v[i]) : -ENOMEM;
	}
	for (size_t i = 0; i < p->n_intervals && !r; i++) {
		struct thread_interval interval = p->intervals[i];

		if (interval.stack == STACKS_NONE || !clip_interval(g->in, &interval))
			continue;
		line = take_line(g->in, p, interval.thread, g->plane, numbers);
		r = line ? draw_wait(g, line, &interval) : -ENOMEM;
	}
	sort_lines(g->plane);
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

	if (set_process(g->in, g->p->pid, plane) ||
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
	g->name_waits = intern(&g->plane->stat_names, "waits");
	if (g->name_stack == NAMES_NONE || g->name_cpu == NAMES_NONE || g->name_waits == NAMES_NONE)
		return -ENOMEM;
	r = draw_threads(g);
	return r ? r : set_facts(g);
}

/* --- states ----------------------------------------------------------------------------------- */

struct state_drawing {
	const struct sample_lines_input *in;
	const struct sampled_process *p;
	struct plane *plane;
	uint32_t states[N_THREAD_STATES]; /* names of events */
	uint32_t name_cpu; /* stat names */
	uint32_t name_in;
};

/* Returns what a blocked thread waits for, or "". */
static const char *get_reason(const struct stacks *s, const struct thread_interval *interval)
{
	const char *reason = names_get(&s->texts, interval->reason);

	return reason[0] || interval->stack == STACKS_NONE
		       ? reason
		       : get_waiting_function(s, interval->stack);
}

/* Sets the stat of an interval. Returns the number of its stats, 0 or 1; -1: out of memory. */
static int make_stat(const struct state_drawing *g, const struct thread_interval *interval,
	struct trace_stat *stat)
{
	const char *reason;

	if (interval->state == THREAD_PREEMPTED)
		return 0;
	*stat = (struct trace_stat){
		.name = g->name_cpu, .type = STAT_UINT64, .value.u64 = interval->cpu};
	if (interval->state == THREAD_RUNNING)
		return 1;
	reason = get_reason(&g->p->stacks, interval);
	if (!reason[0])
		return 0;
	*stat = (struct trace_stat){.name = g->name_in, .type = STAT_STRING};
	stat->value.string = intern(&g->plane->stat_names, reason);
	return stat->value.string == NAMES_NONE ? -1 : 1;
}

static int draw_interval(
	const struct state_drawing *g, const struct thread_interval *interval, struct line *line)
{
	struct trace_stat stat;
	int n = make_stat(g, interval, &stat);
	struct trace_event event = {
		.start_ns = interval->start_ns - g->in->start_ns,
		.duration_ns = interval->end_ns - interval->start_ns,
		.name = g->states[interval->state],
	};

	if (n > 0)
		event.stats = plane_add_stats(g->plane, &stat, 1);
	return n < 0 || (n && !event.stats) ? -ENOMEM : line_add_event(line, &event);
}

/* Interns the names that many intervals have. 0 or -ENOMEM. */
static int intern_state_names(struct state_drawing *g)
{
	static const char *const names[N_THREAD_STATES] = {
		[THREAD_RUNNING] = STATE_RUNNING,
		[THREAD_PREEMPTED] = STATE_PREEMPTED,
		[THREAD_BLOCKED] = STATE_BLOCKED,
	};

	for (int i = 0; i < N_THREAD_STATES; i++) {
		g->states[i] = intern(&g->plane->event_names, names[i]);
		if (g->states[i] == NAMES_NONE)
			return -ENOMEM;
	}
	g->name_cpu = intern(&g->plane->stat_names, "cpu");
	g->name_in = intern(&g->plane->stat_names, "in");
	return g->name_cpu == NAMES_NONE || g->name_in == NAMES_NONE ? -ENOMEM : 0;
}

static int draw_states(struct state_drawing *g)
{
	const struct sampled_process *p = g->p;
	_cleanup_free_ size_t *numbers = calloc((size_t)p->n_threads + 1, sizeof *numbers);
	int r = numbers ? intern_state_names(g) : -ENOMEM;

	for (size_t i = 0; i < p->n_intervals && !r; i++) {
		struct thread_interval interval = p->intervals[i];
		struct line *line;

		if (!clip_interval(g->in, &interval))
			continue;
		line = take_line(g->in, p, interval.thread, g->plane, numbers);
		r = line ? draw_interval(g, &interval, line) : -ENOMEM;
	}
	sort_lines(g->plane);
	return r ? r : plane_set_uint(g->plane, PLANE_SHORT_WAITS, p->n_short);
}

int state_lines_add(
	const struct sample_lines_input *in, const struct sampled_process *p, struct space *space)
{
	struct state_drawing g = {.in = in, .p = p};
	int r;

	if (!p->n_intervals)
		return 0;
	g.plane = space_add_plane(space, (int64_t)space->n_planes + 1, in->plane_name);
	if (!g.plane)
		return -ENOMEM;
	r = set_process(in, p->pid, g.plane);
	return r ? r : draw_states(&g);
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
