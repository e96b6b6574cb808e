/* SPDX-License-Identifier: Apache-2.0 */
/* One process in a capture; see source.h. */
#include "daemon/pipeline/recording/source.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "daemon/pipeline/assembly/assembly.h"
#include "daemon/target/exit_note.h"
#include "daemon/target/target.h"

int source_new(struct target *target, struct drain_budget *budget, struct source **out)
{
	struct source *s = calloc(1, sizeof *s);

	if (!s)
		return -ENOMEM;
	s->target = target;
	s->state = SOURCE_STARTING;
	s->word_before = target->is_told_to_record ? 0 : atomic_load(&target->arena->word);
	drain_init(&s->drain, target, budget);
	usage_open(&s->usage, "", target->pid, 0);
	collecting_init(s);
	*out = s;
	return 0;
}

struct source *source_free(struct source *s)
{
	if (s) {
		assembly_free(s->assembly);
		collecting_deinit(s);
		usage_close(&s->usage);
		drain_deinit(&s->drain);
	}
	free(s);
	return NULL;
}

void source_begin_over(struct source *s, int *error)
{
	drain_begin_over(&s->drain, atomic_load(&s->target->arena->word), error);
	s->is_over = true;
}

void source_begin(struct source *s)
{
	if (!s->is_over)
		drain_begin(&s->drain, atomic_load(&s->target->arena->word));
	s->state = SOURCE_RECORDING;
}

void source_begin_without_threads(struct source *s)
{
	drain_begin(&s->drain, 0);
	s->state = SOURCE_RECORDING;
}

static void begin_if_answered(struct source *s)
{
	if (s->state == SOURCE_STARTING && target_await(s->target, 0) == 0)
		source_begin(s);
}

/* Calls source_begin() if the process recorded, and ended before it answered. */
static void begin_if_gone(struct source *s)
{
	if (s->state == SOURCE_STARTING && target_get_life(s->target) != TARGET_ALIVE &&
		atomic_load(&s->target->arena->word) != s->word_before)
		source_begin(s);
}

unsigned source_visit(struct source *s, int *error)
{
	enum target_life life = target_get_life(s->target);
	unsigned full = 0;

	begin_if_answered(s);
	if (s->state == SOURCE_RECORDING)
		full = drain_visit(&s->drain, error);
	/*
	 * Records that did not fit are fetched at the next visit. Collectors go on when the program
	 * has only stopped its server.
	 */
	if (life != TARGET_ALIVE && !s->drain.is_behind && collecting_has_ended(s))
		source_end(s, error);
	return full;
}

void source_end(struct source *s, int *error)
{
	if (s->state == SOURCE_ENDED)
		return;
	exit_note_update(s->target);
	begin_if_answered(s);
	begin_if_gone(s);
	if (s->state == SOURCE_RECORDING)
		drain_finish(&s->drain, error);
	s->state = SOURCE_ENDED;
	if (target_get_life(s->target) == TARGET_DEAD && !s->target->ended)
		target_empty(s->target);
}

bool source_has_content(const struct source *s)
{
	const struct drain *d = &s->drain;

	for (size_t i = 0; i < d->n_logs; i++) {
		const struct thread_log *log = d->logs[i];

		if (log->n_slots || log->track || log->n_open || log->lost_memory)
			return true;
		for (int k = 0; k < LOSS_KINDS; k++)
			if (log->lost[k])
				return true;
	}
	return d->lost_no_ring || d->lost_memory || d->lost_oldest || d->n_broken;
}
