/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fake libcupti: the client's buffers, one for each thread or one for all, from the request
 * until they are complete. A record whose work has not ended on the device has no end time, and its
 * buffer is not complete, except for a forced flush.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/fake_inside.h"

struct buffer {
	uint8_t *at;
	size_t size;
	size_t used;
	int n_open; /* records without an end */
	struct buffer *next; /* of the buffers that are no longer written */
};

/* The place to which a thread writes. All threads have the same one if they share a buffer. */
struct place {
	struct buffer *buffer;
	struct place *next;
};

struct open_record {
	struct buffer *buffer;
	uint8_t *at;
	uint64_t end_ns;
	struct open_record *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* never held during a callback */
static pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER; /* with FAKE_HOLDS_LOCK: all calls */
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER; /* of writers to the shared buffer */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static _Thread_local struct place *mine;
static _Thread_local uint64_t era_of_mine; /* number of resets */
static struct place *places;
static struct place for_all;
static struct buffer *full;
static struct open_record *open_records;
static request_function request;
static complete_function complete;
static bool device_is_held;
static int n_buffers;
static size_t n_dropped;
static uint64_t era = 1;
static pthread_t worker;
static bool has_worker;
static bool worker_ends;
static int n_delivering;

static struct place *find_place(void)
{
	if (!knob(FAKE_HAS_THREAD_BUFFERS))
		return &for_all;
	if (era_of_mine != era) {
		mine = calloc(1, sizeof *mine);
		era_of_mine = era;
		mine->next = places;
		places = mine;
	}
	return mine;
}

static void check_buffer(const uint8_t *at, size_t size)
{
	if ((uintptr_t)at % 8)
		broken("a buffer at %p", (const void *)at);
	if (size < FAKE_MAX_RECORD_BYTES)
		broken("a buffer of %zu bytes", size);
	if (activity_get_attribute(5) && knob(FAKE_CHECKS_ZEROES) &&
		(at[0] || memcmp(at, at + 1, size - 1) != 0))
		broken("a buffer that is said to be zero, and is not");
}

/* Returns NULL if the client refuses. The caller does not hold |lock|. */
static struct buffer *ask_for_buffer(void)
{
	struct buffer *b;
	uint8_t *at = NULL;
	size_t size = 0;
	size_t max = 1;
	enum inside before = inside_set(IN_REQUEST);

	request(&at, &size, &max);
	inside_set(before);
	if (!at && knob(FAKE_VERSION) < 27)
		broken("a version that needs buffers was refused one");
	if (!at)
		return NULL;
	if (max)
		broken("a buffer for %zu records", max);
	check_buffer(at, size);
	b = calloc(1, sizeof *b);
	b->at = at;
	b->size = size;
	return b;
}

/* The caller holds |lock|. */
static void leave(struct place *place)
{
	struct buffer *b = place->buffer;

	place->buffer = NULL;
	if (!b)
		return;
	b->next = full;
	full = b;
}

/* The caller holds |lock|, which is released meanwhile. Returns 0 when there is room. */
static int make_room(struct place *place, size_t bytes)
{
	struct buffer *b;

	if (place->buffer && place->buffer->used + bytes <= place->buffer->size)
		return 0;
	leave(place);
	pthread_mutex_unlock(&lock);
	b = request ? ask_for_buffer() : NULL;
	pthread_mutex_lock(&lock);
	n_buffers += b != NULL;
	place->buffer = b;
	return b ? 0 : -1;
}

static void note_open(struct buffer *b, uint8_t *at, uint64_t end_ns)
{
	struct open_record *o = calloc(1, sizeof *o);

	*o = (struct open_record){b, at, end_ns, open_records};
	open_records = o;
	b->n_open++;
	record_set_end(at, 0);
}

static void write(struct place *place, const struct fake_record *r)
{
	struct buffer *b = place->buffer;
	uint8_t *at = b->at + b->used;

	b->used += record_write((uint32_t)knob(FAKE_VERSION), r, at);
	if (device_is_held && record_is_of_device(r->kind))
		note_open(b, at, r->end_ns);
}

/* Takes a complete buffer from the full ones; NULL: there is none. The caller holds |lock|. */
static struct buffer *take_complete(void)
{
	for (struct buffer **b = &full; *b; b = &(*b)->next)
		if (!(*b)->n_open) {
			struct buffer *taken = *b;

			*b = taken->next;
			n_delivering++;
			return taken;
		}
	return NULL;
}

/* The caller does not hold |lock|. */
static void deliver(struct buffer *b)
{
	enum inside before = inside_set(IN_COMPLETE);

	complete(NULL, 0, b->at, b->size, b->used);
	inside_set(before);
	free(b);
}

static void deliver_all(void)
{
	struct buffer *b;

	pthread_mutex_lock(&lock);
	while ((b = take_complete())) {
		pthread_mutex_unlock(&lock);
		deliver(b);
		pthread_mutex_lock(&lock);
		n_buffers--;
		n_delivering--;
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&lock);
}

static bool has_complete(void)
{
	for (const struct buffer *b = full; b; b = b->next)
		if (!b->n_open)
			return true;
	return false;
}

static void *work(void *unused)
{
	pthread_mutex_lock(&lock);
	while (!worker_ends) {
		if (!has_complete()) {
			pthread_cond_wait(&changed, &lock);
			continue;
		}
		pthread_mutex_unlock(&lock);
		deliver_all();
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
	return unused;
}

/* Hands complete buffers back, on this thread or on CUPTI's own. */
static void send_back(void)
{
	if (!knob(FAKE_HAS_WORKER)) {
		deliver_all();
		return;
	}
	pthread_mutex_lock(&lock);
	if (!has_worker && pthread_create(&worker, NULL, work, NULL))
		broken("no thread");
	has_worker = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void wait_for_worker(void)
{
	pthread_mutex_lock(&lock);
	while (has_worker && (has_complete() || n_delivering))
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static void begin(void)
{
	if (knob(FAKE_HOLDS_LOCK))
		pthread_mutex_lock(&big);
	if (!knob(FAKE_HAS_THREAD_BUFFERS))
		pthread_mutex_lock(&order);
}

static void end(void)
{
	if (!knob(FAKE_HAS_THREAD_BUFFERS))
		pthread_mutex_unlock(&order);
	send_back();
	if (knob(FAKE_HOLDS_LOCK))
		pthread_mutex_unlock(&big);
}

void buffers_append(const struct fake_record *r)
{
	size_t bytes = record_stride((uint32_t)knob(FAKE_VERSION), r->kind);
	struct place *place;

	begin();
	pthread_mutex_lock(&lock);
	place = find_place();
	if (!bytes)
		broken("no kind %u in this version", r->kind);
	if (make_room(place, bytes))
		n_dropped++;
	else
		write(place, r);
	pthread_mutex_unlock(&lock);
	end();
}

void buffers_ask(void)
{
	pthread_mutex_lock(&lock);
	make_room(find_place(), FAKE_MAX_RECORD_BYTES);
	pthread_mutex_unlock(&lock);
}

/* Gives up the work on the device: its records get no end. The caller holds |lock|. */
static void forget_open(void)
{
	while (open_records) {
		struct open_record *next = open_records->next;

		open_records->buffer->n_open = 0;
		free(open_records);
		open_records = next;
	}
}

static void leave_all(bool is_forced, bool with_empty)
{
	pthread_mutex_lock(&lock);
	if (is_forced)
		forget_open();
	for (struct place *p = places; p; p = p->next)
		if (p->buffer && (p->buffer->used || with_empty) && !p->buffer->n_open)
			leave(p);
	if (for_all.buffer && (for_all.buffer->used || with_empty) && !for_all.buffer->n_open)
		leave(&for_all);
	pthread_mutex_unlock(&lock);
}

void buffers_flush(bool is_forced)
{
	if (knob(FAKE_FLUSH_HANGS))
		wait_for_release();
	if (knob(FAKE_HOLDS_LOCK))
		pthread_mutex_lock(&big);
	leave_all(is_forced, false);
	send_back();
	if (knob(FAKE_HOLDS_LOCK))
		pthread_mutex_unlock(&big);
	wait_for_worker();
}

void buffers_give_back(void)
{
	leave_all(true, true);
	send_back();
	wait_for_worker();
}

void buffers_register(request_function request_, complete_function complete_)
{
	pthread_mutex_lock(&lock);
	request = request_;
	complete = complete_;
	pthread_mutex_unlock(&lock);
}

void buffers_hold_device(void)
{
	pthread_mutex_lock(&lock);
	device_is_held = true;
	pthread_mutex_unlock(&lock);
}

void buffers_let_device_go(void)
{
	pthread_mutex_lock(&lock);
	device_is_held = false;
	while (open_records) {
		struct open_record *next = open_records->next;

		record_set_end(open_records->at, open_records->end_ns);
		open_records->buffer->n_open--;
		free(open_records);
		open_records = next;
	}
	pthread_mutex_unlock(&lock);
	send_back();
}

int buffers_count(void)
{
	int n;

	pthread_mutex_lock(&lock);
	n = n_buffers;
	pthread_mutex_unlock(&lock);
	return n;
}

size_t buffers_take_dropped(void)
{
	size_t n;

	pthread_mutex_lock(&lock);
	n = n_dropped + knob(FAKE_DROPPED);
	n_dropped = 0;
	knob_set(FAKE_DROPPED, 0);
	pthread_mutex_unlock(&lock);
	return n;
}

static void end_worker(void)
{
	pthread_mutex_lock(&lock);
	worker_ends = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	if (has_worker)
		pthread_join(worker, NULL);
	has_worker = false;
	worker_ends = false;
}

/* In a forked child: drops all buffers, because the parent's requests are never answered here. */
static void lose_all(void)
{
	places = NULL;
	for_all.buffer = NULL;
	full = NULL;
	open_records = NULL;
	n_buffers = 0;
	has_worker = false;
	complete = NULL;
}

void buffers_reset(void)
{
	if (is_forked())
		lose_all();
	if (complete)
		buffers_give_back();
	end_worker();
	pthread_mutex_lock(&lock);
	while (places) {
		struct place *next = places->next;

		free(places);
		places = next;
	}
	era++;
	device_is_held = false;
	n_dropped = 0;
	request = NULL;
	complete = NULL;
	pthread_mutex_unlock(&lock);
}
