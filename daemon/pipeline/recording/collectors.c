/* SPDX-License-Identifier: Apache-2.0 */
/* The collectors of a recording; see collectors.h. */
#include "daemon/pipeline/recording/collectors.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/printable.h"
#include "daemon/pipeline/recording/recording.h"
#include "daemon/pipeline/recording/source.h"
#include "daemon/pipeline/recording/spill.h"
#include "daemon/target/collect.h"
#include "daemon/target/target.h"
#include "trace/model/space.h"
#include "trace/saturate.h"

/*
 * The interval at which the collectors' rings are emptied at the end. A ring that is as full as
 * MANY, in 1/1000, is emptied again at once.
 */
#define DRAIN_INTERVAL_NS NS_PER_MS
#define MANY 250
/* A warning reports a begin that is later than this. */
#define MAX_LATE_NS NS_PER_MS
/* The most sentences of one process. */
#define MAX_SENTENCES 16

static bool are_wanted(const struct recording *r)
{
	return r->collectors.options != NULL;
}

void collectors_arm(struct recording *r)
{
	for (size_t i = 0; i < r->n_sources && are_wanted(r); i++) {
		collecting_search_now(r->sources[i], &r->collectors);
		if (r->sources[i]->collecting.state == COLLECTING_WANTS)
			collecting_visit(r->sources[i], &r->collectors);
	}
}

bool collectors_are_beginning(const struct recording *r)
{
	for (size_t i = 0; i < r->n_sources && are_wanted(r); i++)
		if (collecting_is_beginning(r->sources[i]))
			return true;
	return false;
}

/* Visits one source at a time: even with hundreds, each has its turn within seconds. */
static void visit_next(struct recording *r)
{
	struct source *s = r->sources[r->collectors.next++ % r->n_sources];

	if (s->collecting.state == COLLECTING_SEARCHES)
		collecting_visit(s, &r->collectors);
}

void collectors_visit(struct recording *r)
{
	if (!are_wanted(r) || !r->n_sources)
		return;
	visit_next(r);
	for (size_t i = 0; i < r->n_sources; i++)
		if (r->sources[i]->collecting.state != COLLECTING_SEARCHES)
			collecting_visit(r->sources[i], &r->collectors);
}

void collectors_hand_on(struct recording *r)
{
	for (size_t i = 0; i < r->n_sources && are_wanted(r); i++)
		collecting_hand_on(r->sources[i]);
	r->collectors.handed_on_by_ns = monotonic_ns() + COLLECTORS_HAND_ON_NS;
}

bool collectors_have_handed_on(const struct recording *r)
{
	if (monotonic_ns() >= r->collectors.handed_on_by_ns)
		return true;
	for (size_t i = 0; i < r->n_sources && are_wanted(r); i++)
		if (!collecting_has_handed_on(r->sources[i]))
			return false;
	return true;
}

void collectors_repeat(struct recording *r)
{
	for (size_t i = 0; i < r->n_sources && are_wanted(r); i++)
		if (r->sources[i]->collecting.state == COLLECTING_ASKED)
			collect_repeat(r->sources[i]->target);
}

/* --- the end ------------------------------------------------------------------------------- */

/* A source whose collectors have not ended, or NULL. */
static struct source *find_late(const struct recording *r)
{
	for (size_t i = 0; i < r->n_sources; i++)
		if (!collecting_has_ended(r->sources[i]))
			return r->sources[i];
	return NULL;
}

/* Returns how full the fullest ring was, in 1/1000. */
static unsigned drain_sources(struct recording *r)
{
	unsigned fullest = 0;

	recording_note_clock(r);
	for (size_t i = 0; i < r->n_sources; i++) {
		unsigned full;

		collecting_visit(r->sources[i], &r->collectors);
		full = source_visit(r->sources[i], &r->error);
		if (full > fullest)
			fullest = full;
	}
	if (spill_excess(r))
		r->error = -ENOMEM;
	return fullest;
}

/* False when the recording is not wanted any more. */
static bool wait_for_all(struct recording *r)
{
	int64_t give_up = monotonic_ns() + COLLECTORS_PATIENCE_NS;
	unsigned fullest = 0;
	struct source *late;

	while ((late = find_late(r)) && monotonic_ns() < give_up) {
		if (r->collectors.are_wanted && !r->collectors.are_wanted(r->collectors.context))
			return false;
		if (fullest < MANY)
			collect_wait(late->target, monotonic_ns() + DRAIN_INTERVAL_NS);
		fullest = drain_sources(r);
	}
	return true;
}

void collectors_end(struct recording *r)
{
	bool is_wanted = true;
	bool is_late = false;

	if (!are_wanted(r))
		return;
	for (size_t i = 0; i < r->n_sources; i++)
		is_late |= collecting_end(r->sources[i]);
	if (is_late)
		is_wanted = wait_for_all(r);
	for (size_t i = 0; i < r->n_sources; i++)
		collecting_finish(r->sources[i], is_wanted);
}

void collectors_cancel(struct recording *r)
{
	for (size_t i = 0; i < r->n_sources && are_wanted(r); i++)
		collecting_finish(r->sources[i], 0);
	r->collectors.options = NULL;
}

/* --- sentences ----------------------------------------------------------------------------- */

bool collectors_see_device(const struct recording *r)
{
	for (size_t i = 0; i < r->n_sources; i++)
		if (r->sources[i]->collecting.is_seen)
			return true;
	return false;
}

/* Adds a sentence; that of a child names the child. */
static int add_sentence(
	const struct recording *r, size_t i, struct space *space, const char *sentence)
{
	const struct target *t = r->sources[i]->target;

	if (i == 0)
		return space_add_warning(space, "gpu: %s", sentence);
	return space_add_warning(
		space, "gpu: in the child %s [%d]: %s", t->name, (int)t->pid, sentence);
}

/* Adds a sentence if a program was recorded later, because it began to use its device later. */
static int add_begin_sentence(const struct recording *r, size_t i, struct space *space)
{
	const struct collecting *c = &r->sources[i]->collecting;
	int64_t late_ns = sub_saturated(c->since_ns, r->start.monotonic_ns);
	char sentence[96];

	if (!c->since_ns || late_ns <= MAX_LATE_NS)
		return 0;
	snprintf(sentence, sizeof sentence, "recorded from %.1f ms after the start on",
		(double)late_ns / 1e6);
	return add_sentence(r, i, space, sentence);
}

static int add_collector_sentences(const struct recording *r, size_t i, struct space *space)
{
	char said[COLLECTING_SAID_BYTES];
	char *rest = NULL;
	int n = 0;
	int error = 0;

	memcpy(said, r->sources[i]->collecting.said, sizeof said);
	for (char *line = strtok_r(said, "\n", &rest); line && !error;
		line = strtok_r(NULL, "\n", &rest)) {
		if (++n > MAX_SENTENCES)
			continue;
		printable_clean(line);
		error = add_sentence(r, i, space, line);
	}
	if (error || n <= MAX_SENTENCES)
		return error;
	snprintf(said, sizeof said, "further sentences: %d", n - MAX_SENTENCES);
	return add_sentence(r, i, space, said);
}

int collectors_add_warnings(const struct recording *r, struct space *space)
{
	int error = 0;

	for (size_t i = 0; i < r->n_sources && !error; i++) {
		const char *problem = r->sources[i]->collecting.problem;

		error = add_begin_sentence(r, i, space);
		if (!error)
			error = add_collector_sentences(r, i, space);
		if (!error && problem[0])
			error = add_sentence(r, i, space, problem);
	}
	return error;
}
