/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings; see recording.h. */
#include "daemon/pipeline/recording/recording.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "daemon/kernel/descriptors.h"
#include "daemon/kernel/proc_file.h"
#include "daemon/pipeline/assembly/spooler.h"
#include "daemon/pipeline/recording/collectors.h"
#include "daemon/pipeline/recording/orders.h"
#include "daemon/pipeline/recording/source.h"
#include "daemon/pipeline/recording/spill.h"
#include "daemon/pipeline/samples/samples_copy.h"
#include "daemon/target/family.h"
#include "daemon/target/target.h"
#include "trace/model/space.h"

#define PAIR_INTERVAL_NS (20 * NS_PER_MS)
/* The time between two calls of |poll| while waiting for the spooler, whose end wakes nobody. */
#define POLL_INTERVAL_NS NS_PER_MS
/*
 * The share of memory for slots that are not spooled yet: enough for the records between two
 * visits, and little of all memory.
 */
#define WINDOW_SHARE 64
#define MAX_WINDOW_BYTES (UINT64_C(8) << 20)
#define MIN_SPOOLED_BYTES (UINT64_C(32) << 20)
/* The memory of a source without its records. */
#define SOURCE_BYTES (16u << 10)

/* --- recording usage -------------------------------------------------------------------------- */

/* The time that a visit may take; the visit finishes the process that it has begun. */
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

/*
 * Samples some processes at each visit, one after the other. The visit is short: there may be many
 * processes, and the rings fill meanwhile.
 */
static void recording_usage_visit(struct recording *r)
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

/* Takes the last samples. Sets |r->error| when memory ran out. */
static void recording_usage_end(struct recording *r)
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

/* Called often from arming to the end: starts the sampler when a process uses a GPU. */
static void recording_gpus_visit(struct recording *r)
{
	struct recording_gpus *g = &r->gpus;

	if (g->config.interval_ns && !g->is_tried && collectors_see_device(r)) {
		g->is_tried = true;
		g->sampler = gpu_sampler_start(&g->config);
	}
	for (; g->sampler && g->n_told < r->n_sources; g->n_told++)
		gpu_sampler_add_process(g->sampler, r->sources[g->n_told]->target->pid);
}

/* Does nothing the second time. */
static void recording_gpus_end(struct recording *r)
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

/* --- CPU samples ------------------------------------------------------------------------------ */

void recording_samples_begin(struct recording *r)
{
	struct recording_samples *s = &r->samples;
	const struct sampler_config config = {
		.root = "",
		.rate_hz = s->rate_hz,
		.has_states = s->has_states,
		.max_bytes =
			s->newest_bytes ? s->newest_bytes : r->max_bytes / RECORDING_SAMPLES_SHARE,
		.keeps_newest = s->newest_bytes != 0,
	};

	if (!s->rate_hz)
		return;
	s->sampler = sampler_start(&config, r->sources[0]->target->pid, s->why);
	s->n_told = 1;
}

void recording_samples_visit(struct recording *r)
{
	struct recording_samples *s = &r->samples;

	for (; s->sampler && s->n_told < r->n_sources; s->n_told++)
		sampler_add_process(s->sampler, r->sources[s->n_told]->target->pid);
}

void recording_samples_forget(struct recording *r, size_t i)
{
	struct recording_samples *s = &r->samples;

	if (!s->sampler || i >= s->n_told)
		return;
	sampler_remove_process(s->sampler, r->sources[i]->target->pid);
	s->n_told--;
}

void recording_samples_end(struct recording *r)
{
	struct recording_samples *s = &r->samples;

	if (!s->sampler)
		return;
	sampler_stop(s->sampler, &s->samples, s->why);
	s->sampler = NULL;
	if (s->samples.error)
		r->error = -ENOMEM;
}

void recording_samples_cut(struct recording *r, struct recording *part, int64_t from_ns)
{
	memset(&part->samples, 0, sizeof part->samples);
	if (r->samples.sampler) {
		sampler_cut(r->samples.sampler, &part->samples.samples, from_ns);
	} else {
		part->samples.samples = r->samples.samples;
		memset(&r->samples.samples, 0, sizeof r->samples.samples);
	}
	memcpy(part->samples.why, r->samples.why, sizeof part->samples.why);
}

static void copy_ended_samples(const struct samples *from, struct samples *to, int64_t from_ns)
{
	struct samples_copy copy;

	to->period_ns = from->period_ns;
	to->n_lost = from->n_lost;
	to->n_throttles = from->n_throttles;
	to->error = from->error;
	to->processes = calloc(from->n + 1, sizeof *to->processes);
	if (!to->processes)
		to->error = -ENOMEM;
	for (; to->processes && to->n < from->n; to->n++) {
		samples_copy_begin(&copy, &from->processes[to->n], &to->processes[to->n], from_ns);
		if (samples_copy_end(&copy))
			to->error = -ENOMEM;
	}
}

static int64_t find_earliest_sample(const struct samples *s, int64_t from_ns)
{
	int64_t earliest_ns = INT64_MAX;

	for (size_t i = 0; i < s->n; i++) {
		const struct sampled_process *p = &s->processes[i];

		for (size_t k = 0; k < p->n; k++)
			if (p->v[k].at_ns < earliest_ns)
				earliest_ns = p->v[k].at_ns;
		for (size_t k = 0; k < p->n_intervals; k++)
			if (p->intervals[k].start_ns < earliest_ns)
				earliest_ns = p->intervals[k].start_ns;
	}
	return earliest_ns < from_ns ? from_ns : earliest_ns;
}

int64_t recording_samples_copy(
	const struct recording *r, struct recording_samples *part, int64_t from_ns)
{
	*part = (struct recording_samples){.rate_hz = r->samples.rate_hz};
	if (r->samples.sampler)
		sampler_copy(r->samples.sampler, &part->samples, from_ns);
	else
		copy_ended_samples(&r->samples.samples, &part->samples, from_ns);
	memcpy(part->why, r->samples.why, sizeof part->why);
	return find_earliest_sample(&part->samples, from_ns);
}

bool recording_samples_exist(const struct recording *r)
{
	for (size_t i = 0; i < r->samples.samples.n; i++)
		if (r->samples.samples.processes[i].n)
			return true;
	return false;
}

void recording_samples_deinit(struct recording *r)
{
	recording_samples_end(r);
	samples_deinit(&r->samples.samples);
}

/* --- the recording ---------------------------------------------------------------------------- */

/* Chooses the window; 0: a small capture needs no file. */
static uint64_t choose_window(uint64_t max_bytes, uint64_t asked)
{
	if (asked)
		return asked < max_bytes / WINDOW_SHARE ? asked : max_bytes / WINDOW_SHARE;
	if (max_bytes < MIN_SPOOLED_BYTES)
		return 0;
	return max_bytes / WINDOW_SHARE < MAX_WINDOW_BYTES ? max_bytes / WINDOW_SHARE
							   : MAX_WINDOW_BYTES;
}

void recording_limit(struct recording *r, uint64_t max_bytes, uint64_t window_bytes)
{
	r->max_bytes = max_bytes;
	r->budget.max_bytes = max_bytes / RECORDING_BYTES_PER_SLOT_BYTE;
	r->budget.window_bytes = choose_window(max_bytes, window_bytes);
}

void recording_init(
	struct recording *r, struct family *f, uint64_t max_bytes, uint64_t window_bytes)
{
	memset(r, 0, sizeof *r);
	r->family = f;
	r->asked = &f->capture_level;
	r->collectors.root = "";
	r->gpus.config.root = "";
	recording_limit(r, max_bytes, window_bytes);
	r->end_ns = INT64_MAX;
	r->uses_ticks = atomic_load(&f->main->arena->clock) == ARENA_CLOCK_TICKS;
	timeline_init(&r->timeline, r->uses_ticks);
}

void recording_set_unlimited(struct recording *r)
{
	r->budget.max_bytes = UINT64_MAX;
	r->part_window_bytes = r->budget.window_bytes;
	r->budget.window_bytes = 0;
}

int64_t recording_find_end(const struct recording *r)
{
	return r->end_ns == INT64_MAX ? INT64_MAX : r->end_ns - r->start.monotonic_ns;
}

/*
 * Children that join from here on need not wait to be recorded, except with a flight recorder;
 * family_meet() greets those that wait already, so that they go on.
 */
static void close_to_newcomers(struct recording *r)
{
	family_remove_meeter(r->family, &r->meeter);
	if (r->family->recorder_level)
		return;
	atomic_store(&r->family->is_recording, 0);
	family_meet(r->family);
}

void recording_deinit(struct recording *r)
{
	collectors_cancel(r);
	recording_gpus_deinit(r);
	recording_samples_deinit(r);
	close_to_newcomers(r);
	/* The spooler's thread uses the sources. */
	spooler_free(r->spooler);
	timeline_deinit(&r->timeline);
	for (size_t i = 0; i < r->n_sources; i++)
		source_free(r->sources[i]);
	free(r->sources);
}

static int add_source(struct recording *r, struct target *t)
{
	if (grow(&r->sources, &r->n_allocated, r->n_sources + 1) ||
		source_new(t, &r->budget, &r->sources[r->n_sources]))
		return -ENOMEM;
	drain_reset_rings(&r->sources[r->n_sources]->drain);
	r->n_sources++;
	return 0;
}

/* Makes sources of children that joined since the last call. 0 or -ENOMEM. */
static int add_children(struct recording *r)
{
	struct family *f = r->family;

	for (; r->n_met < f->n_children; r->n_met++) {
		struct target *t = &f->children[r->n_met]->target;

		/* A dead child is kept for the flight recorder only. */
		if (f->children[r->n_met]->is_recorded && target_get_life(t) != TARGET_ALIVE)
			continue;
		if (r->budget.used_bytes + SOURCE_BYTES > r->budget.max_bytes) {
			r->n_left_out++;
			continue;
		}
		r->budget.used_bytes += SOURCE_BYTES;
		if (add_source(r, t))
			return -ENOMEM;
	}
	return 0;
}

/* Meets new children. Their usage is sampled from the start of the recording on. */
static void meet_children(void *recording)
{
	struct recording *r = recording;
	size_t n_before = r->n_sources;

	if (add_children(r))
		r->error = -ENOMEM;
	orders_start_newcomers(r, n_before);
	if (r->n_sources > n_before && r->start.monotonic_ns)
		recording_usage_begin(r, n_before);
}

void recording_meet(struct recording *r)
{
	r->meeter = (struct family_meeter){.meet = meet_children, .context = r};
	family_add_meeter(r->family, &r->meeter);
	family_meet(r->family);
}

int recording_arm(struct recording *r, unsigned level, struct diag *d)
{
	int error = add_source(r, r->family->main);

	atomic_store(&r->family->is_recording, level || r->family->recorder_level);
	if (!error && (level || r->collectors.options)) {
		family_admit(r->family);
		error = add_children(r);
	}
	if (!error && (level || r->collectors.options))
		error = orders_begin(r, ARENA_OP_PREPARE, d);
	r->armed = clock_pair_read(r->uses_ticks);
	if (error)
		return error;
	collectors_arm(r);
	recording_gpus_visit(r);
	recording_samples_begin(r);
	return 0;
}

void recording_note_clock(struct recording *r)
{
	era_clock_update(&r->budget.era_clock, clock_pair_read(r->uses_ticks).ticks);
}

static void add_clock_pair(struct recording *r)
{
	struct clock_pair pair;

	if (monotonic_ns() - r->last_pair_ns < PAIR_INTERVAL_NS)
		return;
	pair = clock_pair_read(r->uses_ticks);
	r->last_pair_ns = pair.monotonic_ns;
	if (timeline_add(&r->timeline, pair))
		r->error = -ENOMEM;
}

unsigned recording_visit(struct recording *r)
{
	unsigned fullest = 0;

	recording_usage_visit(r);
	collectors_visit(r);
	recording_gpus_visit(r);
	recording_samples_visit(r);
	if (!r->level && !r->collectors.options) {
		add_clock_pair(r);
		return 0;
	}
	family_handle_news(r->family);
	recording_note_clock(r);
	for (size_t i = 0; i < r->n_sources; i++) {
		unsigned full = source_visit(r->sources[i], &r->error);

		if (full > fullest)
			fullest = full;
	}
	if (spill_excess(r))
		r->error = -ENOMEM;
	add_clock_pair(r);
	return fullest;
}

/* Each of two successive checks stands for half of the time between them. */
void recording_poll_halt(struct recording *r)
{
	int64_t now_ns = monotonic_ns();
	int64_t since_ns = r->halt_polled_ns ? now_ns - r->halt_polled_ns : 0;
	bool is_halted = proc_is_stopped(r->family->main->pid);

	r->halted_ns += since_ns / 2 * (r->was_halted + is_halted);
	r->halt_polled_ns = now_ns;
	r->was_halted = is_halted;
}

int recording_end(struct recording *r)
{
	int result;

	close_to_newcomers(r);
	result = r->level ? orders_end(r) : 0;
	r->stop = clock_pair_read(r->uses_ticks);
	if (timeline_add(&r->timeline, r->stop))
		return -ENOMEM;
	/* With a flight recorder the program goes on recording, so later records are left out. */
	if (r->family->recorder_level && r->stop.monotonic_ns < r->end_ns)
		r->end_ns = r->stop.monotonic_ns;
	recording_note_clock(r);
	if (r->stop.monotonic_ns > r->end_ns)
		r->stop = clock_pair_interpolate(r->start, r->stop, r->end_ns);
	recording_samples_end(r);
	recording_gpus_end(r);
	collectors_end(r);
	for (size_t i = 0; i < r->n_sources && (r->level || r->collectors.options); i++) {
		spill_catch_up(r, r->sources[i]);
		source_end(r->sources[i], &r->error);
	}
	recording_usage_end(r);
	return result == -ETIMEDOUT ? result : 0;
}

/*
 * Serves the flight recorder while this recording is encoded, so that its snapshots need not wait.
 * When the program is gone, recorder_end.c serves it instead.
 */
static void serve_recorder(struct recording *r, void (*poll)(void *), void *context)
{
	struct family *f = r->family;

	while (f->recorder_level && target_get_life(f->main) == TARGET_ALIVE &&
		spooler_get_held_bytes(r->spooler)) {
		poll(context);
		target_wait(f->main, monotonic_ns() + POLL_INTERVAL_NS);
	}
}

void recording_finish(struct recording *r, void (*poll)(void *), void *context)
{
	if (spill_rest(r))
		r->error = -ENOMEM;
	if (poll && r->spooler)
		serve_recorder(r, poll, context);
	if (r->spooler && spooler_finish(r->spooler))
		r->error = -ENOMEM;
}
