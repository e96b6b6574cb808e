/* SPDX-License-Identifier: Apache-2.0 */
/* The flight recorder; see recorder.h. */
#include "daemon/pipeline/recording/recorder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "daemon/pipeline/drain/drain.h"
#include "daemon/pipeline/drain/ring_notes.h"
#include "daemon/pipeline/drain/ring_picture.h"
#include "daemon/pipeline/drain/rings.h"
#include "daemon/pipeline/drain/trigger_watch.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/pipeline/recording/orders.h"
#include "daemon/pipeline/recording/source.h"
#include "daemon/target/exit_note.h"
#include "daemon/target/family.h"
#include "daemon/target/ring_copy.h"
#include "daemon/target/target.h"

/* The most clock pairs, 32 KiB. Beyond them every other pair of the older half is dropped. */
#define MAX_PAIRS 2048u
/* The interval while threads come and go so fast that rings become few. */
#define SHORT_INTERVAL_NS (50 * NS_PER_MS)
/* Copies of ended threads' records may take a quarter as much memory as the rings, besides them. */
#define ENDED_SHARE 4
#define MAX_DEAD_CHILDREN 64
/* Samples take no more memory than this, however large a snapshot may be. */
#define MAX_SAMPLES_BYTES (UINT64_C(16) << 20)

void recorder_init(struct recorder *r, struct family *f)
{
	memset(r, 0, sizeof *r);
	r->family = f;
	r->due_ns = INT64_MAX;
	ended_pool_init(&r->ended);
}

/* --- sources ------------------------------------------------------------------------------ */

static struct source *get_source(const struct recorder *r, size_t i)
{
	return r->recording.sources[i];
}

/*
 * The parameter |since_ticks| of ring_notes_open(). It is 0 while the recorder is not yet on: the
 * present records do not belong to it. A process that joins later has no older records.
 */
static uint64_t find_since(const struct recorder *r)
{
	return r->due_ns == INT64_MAX ? 0 : r->recording.start.ticks;
}

static int add_recorder_source(struct recorder *r, struct target *t)
{
	struct recording *rec = &r->recording;
	size_t n = rec->n_sources;
	struct ended_threads *ended;

	if (grow(&rec->sources, &rec->n_allocated, n + 1) ||
		grow(&r->ended_of, &r->n_ended_allocated, n + 1))
		return -ENOMEM;
	ended = calloc(1, sizeof *ended);
	if (!ended || ring_notes_open(t, rec->uses_ticks, find_since(r)) ||
		source_new(t, &rec->budget, &rec->sources[n])) {
		ring_notes_close(t);
		free(ended);
		return -ENOMEM;
	}
	rec->sources[n]->drain.lost_no_ring_before = atomic_load(&t->arena->lost_no_ring);
	ended_threads_init(ended, &r->ended, t);
	r->ended_of[n] = ended;
	rec->n_sources++;
	return 0;
}

static void forget_source(struct recorder *r, size_t i)
{
	struct recording *rec = &r->recording;
	size_t n_behind = rec->n_sources - i - 1;

	recording_samples_forget(rec, i);
	trigger_watch_close(rec->sources[i]->target);
	ring_notes_close(rec->sources[i]->target);
	ended_sums_add(&r->gone, &r->ended_of[i]->sums);
	ended_threads_deinit(r->ended_of[i]);
	free(r->ended_of[i]);
	source_free(rec->sources[i]);
	memmove(&rec->sources[i], &rec->sources[i + 1], n_behind * sizeof *rec->sources);
	memmove(&r->ended_of[i], &r->ended_of[i + 1], n_behind * sizeof *r->ended_of);
	rec->n_sources--;
}

/* Lets the family free its dead children: their records are not wanted any more. */
static void release_children(struct recorder *r)
{
	for (size_t i = 0; i < r->family->n_children; i++)
		r->family->children[i]->is_recorded = false;
}

static void clear_recorder(struct recorder *r)
{
	family_remove_meeter(r->family, &r->recording.meeter);
	recording_samples_deinit(&r->recording);
	while (r->recording.n_sources)
		forget_source(r, r->recording.n_sources - 1);
	release_children(r);
	ended_pool_deinit(&r->ended);
	free(r->ended_of);
	free(r->recording.sources);
	timeline_deinit(&r->recording.timeline);
	recorder_init(r, r->family);
}

void recorder_deinit(struct recorder *r)
{
	clear_recorder(r);
}

/* --- recording children from their joining on --------------------------------------------- */

static void meet_child(struct recorder *r, struct child *child)
{
	size_t n = r->recording.n_sources;

	child->is_recorded = add_recorder_source(r, &child->target) == 0;
	if (!child->is_recorded)
		return;
	recording_samples_visit(&r->recording);
	orders_start_newcomers(&r->recording, n);
}

static void meet_children(void *recorder)
{
	struct recorder *r = recorder;
	struct family *f = r->family;

	for (size_t i = 0; i < f->n_children; i++)
		if (!f->children[i]->is_recorded &&
			target_get_life(&f->children[i]->target) == TARGET_ALIVE)
			meet_child(r, f->children[i]);
}

/* --- on and off --------------------------------------------------------------------------- */

static int add_recorder_pair(struct recorder *r, struct clock_pair pair)
{
	int error = timeline_add(&r->recording.timeline, pair);

	timeline_limit(&r->recording.timeline, MAX_PAIRS);
	return error;
}

static int begin_recorder(struct recorder *r, struct diag *d)
{
	struct recording *rec = &r->recording;
	int error = orders_begin(rec, ARENA_OP_PREPARE, d);

	rec->start = clock_pair_read(rec->uses_ticks);
	if (!error)
		error = timeline_add(&rec->timeline, rec->start);
	return error ? error : orders_begin(rec, ARENA_OP_START, d);
}

static uint64_t count_rings_bytes(const struct source *s)
{
	uint64_t n_bytes = 0;

	for (uint32_t i = 0; i < s->target->n_rings; i++)
		if (rings_is_used(s->target, i))
			n_bytes += ring_stride_bytes(s->target->ring_bytes);
	return n_bytes > s->rings_bytes ? n_bytes : s->rings_bytes;
}

/*
 * Bounds the memory of ended threads by a share of the rings' and by the free memory. Called before
 * rings are freed.
 */
static void limit_ended(struct recorder *r)
{
	uint64_t n_bytes = 0;

	for (size_t i = 0; i < r->recording.n_sources; i++)
		if (get_source(r, i)->state != SOURCE_ENDED)
			n_bytes += count_rings_bytes(get_source(r, i));
	if (n_bytes > r->most_rings_bytes)
		r->most_rings_bytes = n_bytes;
	ended_pool_limit(&r->ended, r->most_rings_bytes / ENDED_SHARE);
	ended_pool_allow(&r->ended, capture_find_max_bytes(0, &r->family->headroom));
}

static void begin_samples(struct recorder *r, const struct recorder_config *config)
{
	struct recording_samples *s = &r->recording.samples;
	uint64_t n_bytes = capture_find_max_bytes(config->max_bytes, &r->family->headroom) /
			   RECORDING_SAMPLES_SHARE;

	s->rate_hz = config->sample_rate_hz;
	s->has_states = config->has_states;
	s->newest_bytes = n_bytes < MAX_SAMPLES_BYTES ? n_bytes + 1 : MAX_SAMPLES_BYTES;
	recording_samples_begin(&r->recording);
}

int recorder_start(struct recorder *r, const struct recorder_config *config, struct diag *d)
{
	struct recording *rec = &r->recording;
	int error;

	recording_init(rec, r->family, 0, 0);
	r->max_bytes = config->max_bytes;
	rec->asked = &r->family->recorder_level;
	rec->level = config->level;
	error = add_recorder_source(r, r->family->main);
	if (!error && config->sample_rate_hz)
		begin_samples(r, config);
	if (!error)
		error = begin_recorder(r, d);
	if (error) {
		r->family->recorder_level = 0;
		clear_recorder(r);
		return error;
	}
	r->is_on = true;
	atomic_store(&r->family->is_recording, 1);
	rec->meeter = (struct family_meeter){.meet = meet_children, .context = r};
	family_add_meeter(r->family, &rec->meeter);
	family_meet(r->family);
	r->due_ns = monotonic_ns() + RECORDER_INTERVAL_NS;
	limit_ended(r);
	return 0;
}

void recorder_stop(struct recorder *r)
{
	if (!r->is_on)
		return;
	orders_end(&r->recording);
	atomic_store(&r->family->is_recording, r->family->capture_level != 0);
	clear_recorder(r);
}

void recorder_freeze(struct recorder *r)
{
	r->frozen = ring_picture_now(r->recording.uses_ticks);
	orders_end(&r->recording);
	recording_samples_end(&r->recording);
}

/* --- children that end -------------------------------------------------------------------- */

static struct child *find_child(const struct recorder *r, const struct target *t)
{
	for (size_t i = 0; i < r->family->n_children; i++)
		if (&r->family->children[i]->target == t)
			return r->family->children[i];
	return NULL;
}

/* Takes the records of a dead child's threads, and frees its rings' memory. */
static void take_dead_child(struct recorder *r, size_t i)
{
	struct target *t = get_source(r, i)->target;

	if (get_source(r, i)->state == SOURCE_ENDED)
		return;
	exit_note_update(t);
	for (uint32_t k = 0; k < t->n_rings; k++)
		if (rings_is_used(t, k))
			rings_free(t, k);
	get_source(r, i)->state = SOURCE_ENDED;
	get_source(r, i)->rings_bytes = 0;
	target_empty(t);
}

static void forget_child(struct recorder *r, size_t i)
{
	struct child *child = find_child(r, get_source(r, i)->target);

	forget_source(r, i);
	if (child)
		child->is_recorded = false;
}

/*
 * Keeps the records of children that are gone. A child is forgotten when its records were dropped,
 * or MAX_DEAD_CHILDREN other dead ones joined later, because each costs a mapping.
 */
static void drop_dead_children(struct recorder *r)
{
	size_t n_kept = 0;

	for (size_t i = r->recording.n_sources; i-- > 1;) {
		if (target_get_life(get_source(r, i)->target) == TARGET_ALIVE)
			continue;
		take_dead_child(r, i);
		if (r->is_lent)
			continue;
		if (n_kept == MAX_DEAD_CHILDREN)
			ended_threads_drop(r->ended_of[i]);
		if (r->ended_of[i]->n)
			n_kept++;
		else
			forget_child(r, i);
	}
}

void recorder_tend(struct recorder *r, bool is_capturing)
{
	int64_t interval_ns = RECORDER_INTERVAL_NS;
	struct clock_pair now;

	if (!r->is_on || monotonic_ns() < r->due_ns)
		return;
	now = clock_pair_read(r->recording.uses_ticks);
	if (add_recorder_pair(r, now))
		r->recording.error = -ENOMEM;
	/* Unread reports about crashes of other processes would fill the socket's buffer. */
	target_note_crash(r->family->main, r->family->main);
	family_meet(r->family);
	limit_ended(r);
	for (size_t i = 0; i < r->recording.n_sources; i++) {
		struct target *t = get_source(r, i)->target;

		if (target_get_life(t) != TARGET_ALIVE)
			continue;
		ring_notes_update(t, now.ticks);
		if (!is_capturing && rings_free_gone(t))
			interval_ns = SHORT_INTERVAL_NS;
	}
	if (!is_capturing)
		drop_dead_children(r);
	r->due_ns = monotonic_ns() + interval_ns;
}

/* --- content ------------------------------------------------------------------------------ */

static bool has_entries(const struct target *t, uint32_t i)
{
	struct ring *ring = target_ring(t, i);

	return rings_is_recorded(t, i) &&
	       (atomic_load(&ring->head) != atomic_load(&ring->first) || atomic_load(&ring->depth));
}

static bool has_rings(const struct source *s)
{
	for (uint32_t i = 0; s->state != SOURCE_ENDED && i < s->target->n_rings; i++)
		if (has_entries(s->target, i))
			return true;
	return false;
}

bool recorder_has_content(const struct recorder *r)
{
	for (size_t i = 0; i < r->recording.n_sources; i++)
		if (r->ended_of[i]->n || has_rings(r->recording.sources[i]))
			return true;
	return recording_samples_exist(&r->recording);
}
