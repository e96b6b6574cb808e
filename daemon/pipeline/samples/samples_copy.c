/* SPDX-License-Identifier: Apache-2.0 */
/* Copies samples; see samples_copy.h. */
#include "daemon/pipeline/samples/samples_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "daemon/pipeline/samples/samples.h"
#include "trace/model/names.h"
#include "trace/model/stacks.h"

/* Returns an array of |n| numbers UINT32_MAX, or NULL. */
static uint32_t *make_numbers(size_t n)
{
	uint32_t *numbers = malloc((n + 1) * sizeof *numbers);

	if (numbers)
		memset(numbers, 0xff, (n + 1) * sizeof *numbers);
	return numbers;
}

static int copy_mappings(const struct stacks *from, struct stacks *to)
{
	for (size_t i = 0; i < from->n_mappings; i++) {
		const struct stack_mapping *m = &from->mappings[i];

		if (stacks_add_mapping(to, names_get(&from->texts, m->path),
			    names_get(&from->texts, m->build_id)) == STACKS_NONE)
			return -ENOMEM;
	}
	return 0;
}

static uint32_t copy_frame(const struct stacks *from, struct stacks *to, uint32_t i)
{
	const struct stack_frame *f = &from->frames[i];
	const char *name = names_get(&from->texts, f->function);
	uint32_t frame = stacks_take_frame(to, f->mapping, f->address);

	if (frame != STACKS_NONE && name[0] &&
		stacks_name(to, frame, name, names_get(&from->texts, f->raw_function)))
		return STACKS_NONE;
	return frame;
}

uint32_t samples_copy_take_stack(struct samples_copy *c, uint32_t stack)
{
	const struct stacks *from = &c->from->stacks;
	uint32_t path[STACKS_MAX_DEPTH];
	uint32_t callers = STACKS_NONE;
	size_t n;

	if (stack == STACKS_NONE || c->error || c->stacks[stack] != STACKS_NONE)
		return stack == STACKS_NONE || c->error ? STACKS_NONE : c->stacks[stack];
	n = stacks_get_path(from, stack, path);
	for (size_t i = 0; i < n && !c->error; i++) {
		uint32_t *number = &c->stacks[path[i]];

		if (*number == STACKS_NONE) {
			uint32_t frame = copy_frame(from, &c->to->stacks, from->v[path[i]].frame);

			if (frame != STACKS_NONE)
				*number = stacks_take(&c->to->stacks, callers, frame);
		}
		callers = *number;
		if (callers == STACKS_NONE)
			c->error = -ENOMEM;
	}
	return callers;
}

static uint32_t take_thread(struct samples_copy *c, uint32_t i)
{
	const struct sampled_thread *t = &c->from->threads[i];
	uint32_t number = c->threads[i];

	if (number != UINT32_MAX)
		return number;
	number = c->threads[i] = sampled_process_take_thread(c->to, t->tid);
	if (number == UINT32_MAX)
		c->error = -ENOMEM;
	else
		memcpy(c->to->threads[number].name, t->name, sizeof t->name);
	return number;
}

static void copy_sample(struct samples_copy *c, const struct cpu_sample *sample)
{
	struct sampled_process *to = c->to;
	struct cpu_sample copy = *sample;

	copy.thread = take_thread(c, sample->thread);
	copy.stack = samples_copy_take_stack(c, sample->stack);
	if (!c->error)
		c->error = grow(&to->v, &to->n_allocated, to->n + 1);
	if (c->error)
		return;
	to->v[to->n++] = copy;
	to->n_cut += copy.is_cut;
}

static void copy_interval(struct samples_copy *c, const struct thread_interval *interval)
{
	struct sampled_process *to = c->to;
	struct thread_interval copy = *interval;
	const char *reason = names_get(&c->from->stacks.texts, interval->reason);

	copy.thread = take_thread(c, interval->thread);
	copy.stack = samples_copy_take_stack(c, interval->stack);
	copy.reason = names_intern(&to->stacks.texts, reason, strlen(reason));
	if (!c->error &&
		(copy.reason == NAMES_NONE ||
			grow(&to->intervals, &to->n_intervals_allocated, to->n_intervals + 1)))
		c->error = -ENOMEM;
	if (!c->error)
		to->intervals[to->n_intervals++] = copy;
}

void samples_copy_begin(struct samples_copy *c, const struct sampled_process *from,
	struct sampled_process *to, int64_t from_ns)
{
	*c = (struct samples_copy){
		.from = from,
		.to = to,
		.stacks = make_numbers(from->stacks.n),
		.threads = make_numbers(from->n_threads),
	};
	to->pid = from->pid;
	to->n_left_out = from->n_left_out;
	to->n_short = from->n_short;
	if (!c->stacks || !c->threads || copy_mappings(&from->stacks, &to->stacks))
		c->error = -ENOMEM;
	for (size_t i = 0; i < from->n && !c->error; i++)
		if (from->v[i].at_ns >= from_ns)
			copy_sample(c, &from->v[i]);
	for (size_t i = 0; i < from->n_intervals && !c->error; i++)
		if (from->intervals[i].end_ns >= from_ns)
			copy_interval(c, &from->intervals[i]);
}

int samples_copy_end(struct samples_copy *c)
{
	free(c->stacks);
	free(c->threads);
	return c->error;
}
