/* SPDX-License-Identifier: Apache-2.0 */
/* A queue of slots and the thread that empties it; see spooler.h. */
#include "daemon/pipeline/assembly/spooler.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/diag.h"
#include "daemon/kernel/memory_budget.h"
#include "daemon/pipeline/assembly/assembly.h"
#include "daemon/pipeline/assembly/part_writer.h"
#include "daemon/pipeline/assembly/slot_pool.h"
#include "daemon/pipeline/assembly/spool.h"
#include "daemon/pipeline/assembly/track.h"
#include "daemon/pipeline/drain/slot_sink.h"
#include "daemon/target/timeline.h"

/* Slots of smaller batches are not given to the spool: the drain reuses their memory soon. */
#define MIN_GIVEN_BYTES ((size_t)1 << 20)

/* Slots of one thread, and the clock pairs since the last batch. */
struct spooler_batch {
	struct spooler_batch *next;
	struct assembly *assembly;
	struct track *track;
	struct slot_batch slots; /* .slots is NULL when the spool owns them */
	size_t n_pairs;
	struct clock_pair pairs[];
};

struct spooler {
	struct slot_sink sink; /* the first member, so that a pointer to it points to the spooler */
	struct spool *spool;
	struct memory_budget keep; /* for data of threads */
	/* for data of devices: with a spool file, the part of the spool's size that is unused */
	struct memory_budget device_keep;
	struct part_writer *writer; /* NULL: |thread| does its work */
	int in_memory;
	uint64_t full_bytes; /* when the spool has this many bytes, no more slots are taken */
	struct timeline timeline; /* only the thread uses it */
	uint64_t last_ticks; /* of the last pair that was taken */
	pthread_t thread;
	bool is_running;
	pthread_mutex_t mutex;
	pthread_cond_t has_work;
	pthread_cond_t has_room;
	struct spooler_batch *first; /* under mutex, with the three below */
	struct spooler_batch **last; /* where the next batch is linked */
	bool is_ending; /* the thread ends when no batch is left */
	bool is_dropping; /* batches are freed unwritten */
	struct slot_pool pool; /* slots that were written */
	_Atomic uint64_t held_bytes;
	_Atomic int error; /* -ENOMEM */
};

/* --- the thread ---------------------------------------------------------------------------- */

/* Waits for the next batch. NULL at the end. */
static struct spooler_batch *next_batch(struct spooler *s)
{
	struct spooler_batch *b;

	pthread_mutex_lock(&s->mutex);
	while (!s->first && !s->is_ending)
		pthread_cond_wait(&s->has_work, &s->mutex);
	b = s->first;
	if (b) {
		s->first = b->next;
		if (!s->first)
			s->last = &s->first;
	}
	pthread_mutex_unlock(&s->mutex);
	return b;
}

static bool spooler_is_dropping(struct spooler *s)
{
	int is;

	pthread_mutex_lock(&s->mutex);
	is = s->is_dropping;
	pthread_mutex_unlock(&s->mutex);
	return is;
}

/*
 * Gives the slots' memory to a spool in memory. The encoded events, which take nearly as many
 * bytes, overwrite slots that were read.
 */
static int give_slots(struct spooler *s, const struct spooler_batch *b)
{
	return s->in_memory && b->slots.n * sizeof *b->slots.slots >= MIN_GIVEN_BYTES &&
	       !spool_take_used(s->spool, b->slots.slots);
}

static int write_batch(struct spooler *s, struct spooler_batch *b)
{
	struct assembly *as = b->assembly;
	struct slot *slots = b->slots.slots;
	int r = 0;

	for (size_t i = 0; i < b->n_pairs && !r; i++)
		r = timeline_add(&s->timeline, b->pairs[i]);
	if (r)
		return r;
	as->timeline = &s->timeline;
	assembly_set_eras(as, b->slots.eras, b->slots.n_eras);
	as->gives_slots = give_slots(s, b);
	if (as->gives_slots)
		b->slots.slots = NULL;
	r = assembly_spool(as, b->track, slots, b->slots.n);
	as->gives_slots = false;
	return r;
}

static void finish_batch(struct spooler *s, struct spooler_batch *b)
{
	uint64_t n_bytes = b->slots.n * sizeof *b->slots.slots;

	slot_pool_take(&s->pool, b->slots.slots, b->slots.n_allocated);
	free(b->slots.eras);
	free(b);
	pthread_mutex_lock(&s->mutex);
	atomic_fetch_sub(&s->held_bytes, n_bytes);
	pthread_cond_signal(&s->has_room);
	pthread_mutex_unlock(&s->mutex);
}

static void *spooler_run(void *context)
{
	struct spooler *s = context;
	struct spooler_batch *b;

	while ((b = next_batch(s)) != NULL) {
		if (!spooler_is_dropping(s) && write_batch(s, b))
			atomic_store(&s->error, -ENOMEM);
		finish_batch(s, b);
	}
	return NULL;
}

/* --- the sink ------------------------------------------------------------------------------ */

/* The index of the first pair that no batch has. The timeline may have dropped earlier ones. */
static size_t find_new_pairs(const struct spooler *s, const struct timeline *timeline)
{
	size_t i = timeline->n_pairs;

	while (i > 0 && timeline->pairs[i - 1].ticks > s->last_ticks)
		i--;
	return i;
}

static struct spooler_batch *new_batch(const struct spooler *s, const struct timeline *timeline)
{
	size_t first = find_new_pairs(s, timeline);
	size_t n = timeline->n_pairs - first;
	struct spooler_batch *b = calloc(1, sizeof *b + n * sizeof b->pairs[0]);

	if (!b)
		return NULL;
	if (n)
		memcpy(b->pairs, timeline->pairs + first, n * sizeof b->pairs[0]);
	b->n_pairs = n;
	return b;
}

static void queue_batch(struct spooler *s, struct spooler_batch *b)
{
	pthread_mutex_lock(&s->mutex);
	atomic_fetch_add(&s->held_bytes, b->slots.n * sizeof *b->slots.slots);
	*s->last = b;
	s->last = &b->next;
	pthread_cond_signal(&s->has_work);
	pthread_mutex_unlock(&s->mutex);
}

static int spooler_take(struct slot_sink *sink, void *assembly, void **track,
	const struct slot_batch *slots, const struct timeline *timeline)
{
	struct spooler *s = (struct spooler *)sink;
	struct spooler_batch *b;

	if (!*track)
		*track = track_new(s->spool);
	b = *track ? new_batch(s, timeline) : NULL;
	if (!b)
		return -ENOMEM;
	b->assembly = assembly;
	b->track = *track;
	b->slots = *slots;
	s->last_ticks = timeline->pairs[timeline->n_pairs - 1].ticks;
	queue_batch(s, b);
	return 0;
}

static struct slot *spooler_reuse(struct slot_sink *sink, size_t *n_out)
{
	return slot_pool_steal(&((struct spooler *)sink)->pool, n_out);
}

static uint64_t spooler_count_held_bytes(const struct slot_sink *sink)
{
	return atomic_load(&((const struct spooler *)sink)->held_bytes);
}

/* True when the spool and the devices' data reach |full_bytes|, or the disk has failed. */
static bool spooler_is_full(const struct slot_sink *sink)
{
	const struct spooler *s = (const struct spooler *)sink;

	return spool_get_error(s->spool) ||
	       spool_get_bytes(s->spool) + atomic_load(&s->device_keep.used_bytes) >= s->full_bytes;
}

static const struct slot_sink spooler_sink = {
	.take = spooler_take,
	.reuse = spooler_reuse,
	.count_held_bytes = spooler_count_held_bytes,
	.is_full = spooler_is_full,
};

/* --- life ---------------------------------------------------------------------------------- */

static int spooler_start_thread(struct spooler *s)
{
	int r = pthread_create(&s->thread, NULL, spooler_run, s);

	if (r)
		return -r;
	pthread_setname_np(s->thread, "ptap-spooler");
	s->is_running = true;
	return 0;
}

static int open_spool(const struct spooler_config *config, struct spool **out, struct diag *d)
{
	int r;

	if (!config->in_memory)
		return spool_new(config->dir, config->max_bytes, out, d);
	r = spool_new_in_memory(config->max_bytes, out);
	return r ? diag_set(d, r, "%s", errno_words(-r)) : 0;
}

/*
 * Records of devices stay in memory until they are encoded, and then go to the spool. So they and
 * the spool share its size.
 */
static void share_with_devices(struct spooler *s, uint64_t max_bytes)
{
	s->device_keep.max_bytes = max_bytes;
	s->device_keep.others = spool_watch_bytes(s->spool);
	spool_set_others(s->spool, &s->device_keep.used_bytes);
}

int spooler_new(const struct spooler_config *config, struct spooler **out, struct diag *d)
{
	struct spooler *s = calloc(1, sizeof *s);
	uint64_t max_bytes;
	int r;

	if (!s)
		return diag_set(d, -ENOMEM, "%s", errno_words(ENOMEM));
	pthread_mutex_init(&s->mutex, NULL);
	pthread_cond_init(&s->has_work, NULL);
	pthread_cond_init(&s->has_room, NULL);
	s->sink = spooler_sink;
	slot_pool_init(&s->pool);
	s->last = &s->first;
	s->in_memory = config->in_memory;
	s->keep.max_bytes = config->keep_bytes;
	s->device_keep.max_bytes = UINT64_MAX;
	timeline_init(&s->timeline, config->uses_ticks);
	r = open_spool(config, &s->spool, d);
	if (!r) {
		r = spooler_start_thread(s);
		if (r)
			diag_set(d, r, "no thread: %s", errno_words(-r));
	}
	if (r) {
		spooler_free(s);
		return r;
	}
	/* Without a writer the work only takes longer, so a failure is ignored. */
	if (config->encodes_apart && cpus_count(0) > 1)
		part_writer_new(s->spool, &s->keep, &s->writer);
	max_bytes = spool_get_max_bytes(s->spool);
	if (!config->in_memory)
		share_with_devices(s, max_bytes);
	s->full_bytes = max_bytes > config->reserve_bytes ? max_bytes - config->reserve_bytes : 0;
	*out = s;
	return 0;
}

static void end_thread(struct spooler *s, int drops)
{
	if (!s->is_running)
		return;
	pthread_mutex_lock(&s->mutex);
	s->is_ending = true;
	s->is_dropping = drops;
	pthread_cond_signal(&s->has_work);
	pthread_mutex_unlock(&s->mutex);
	pthread_join(s->thread, NULL);
	s->is_running = false;
}

struct spooler *spooler_free(struct spooler *s)
{
	if (!s)
		return NULL;
	end_thread(s, 1);
	part_writer_free(s->writer);
	spool_release(s->spool);
	timeline_deinit(&s->timeline);
	slot_pool_deinit(&s->pool);
	pthread_cond_destroy(&s->has_room);
	pthread_cond_destroy(&s->has_work);
	pthread_mutex_destroy(&s->mutex);
	free(s);
	return NULL;
}

/* --- the worker's side --------------------------------------------------------------------- */

void spooler_adopt(struct spooler *s, struct assembly *as)
{
	assembly_set_spool(as, s->spool, &s->keep);
	devices_set_keep(&as->devices, &s->device_keep);
	assembly_set_writer(as, s->writer);
}

uint64_t spooler_get_held_bytes(const struct spooler *s)
{
	return atomic_load(&s->held_bytes);
}

struct slot_sink *spooler_get_sink(struct spooler *s)
{
	return &s->sink;
}

void spooler_wait(struct spooler *s)
{
	uint64_t held;

	pthread_mutex_lock(&s->mutex);
	held = atomic_load(&s->held_bytes);
	while (held && atomic_load(&s->held_bytes) == held)
		pthread_cond_wait(&s->has_room, &s->mutex);
	pthread_mutex_unlock(&s->mutex);
}

int spooler_finish(struct spooler *s)
{
	end_thread(s, 0);
	if (s->writer && part_writer_end(s->writer))
		atomic_store(&s->error, -ENOMEM);
	return atomic_load(&s->error);
}

struct spool *spooler_get_spool(const struct spooler *s)
{
	return s->spool;
}
