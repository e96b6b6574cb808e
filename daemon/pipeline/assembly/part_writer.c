/* SPDX-License-Identifier: Apache-2.0 */
/* A queue of parts and the thread that writes them; see part_writer.h. */
#include "daemon/pipeline/assembly/part_writer.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/grow.h"
#include "daemon/pipeline/assembly/events.h"
#include "daemon/pipeline/assembly/track.h"
#include "trace/model/space.h"
#include "trace/xspace/xspace_events.h"

/* The part that is being written and those that wait: this many fit into a core's cache. */
#define MAX_PARTS 3
/* With this many parts the thread is busy, so the caller orders the next one itself. */
#define ENOUGH_PARTS 2

struct writer_part {
	struct track *track;
	struct events events;
	struct line ordered; /* the same events in order; the line has no name */
	bool is_ordered;
};

struct part_writer {
	struct spool *spool;
	struct memory_budget *keep;
	struct xspace_events encoder; /* only the thread uses it */
	pthread_t thread;
	bool is_running;
	pthread_mutex_t mutex;
	pthread_cond_t has_part;
	pthread_cond_t has_room;
	/* the |n| parts from |first| on belong to the thread, the others to the caller */
	struct writer_part parts[MAX_PARTS];
	unsigned first; /* |mutex| protects this and the three members below */
	unsigned n;
	bool is_ending; /* the thread ends when no part is left */
	int error; /* -ENOMEM */
};

static int put_in_order(struct writer_part *p)
{
	int r = grow(&p->ordered.events, &p->ordered.n_allocated, p->events.n);

	if (!r)
		r = events_order_by_start(&p->events, &p->ordered, NULL);
	p->events.n = 0;
	p->is_ordered = true;
	return r;
}

/* --- the thread ---------------------------------------------------------------------------- */

/* Waits for the next part. NULL at the end. */
static struct writer_part *next_part(struct part_writer *w)
{
	struct writer_part *p;

	pthread_mutex_lock(&w->mutex);
	while (!w->n && !w->is_ending)
		pthread_cond_wait(&w->has_part, &w->mutex);
	p = w->n ? &w->parts[w->first] : NULL;
	pthread_mutex_unlock(&w->mutex);
	return p;
}

static int write_part(struct part_writer *w, struct writer_part *p)
{
	int r = p->is_ordered ? 0 : put_in_order(p);

	return r ? r
		 : track_append(p->track, &w->encoder, p->ordered.events, p->ordered.n_events,
			   w->spool, w->keep);
}

static void finish_part(struct part_writer *w, int error)
{
	pthread_mutex_lock(&w->mutex);
	w->first = (w->first + 1) % MAX_PARTS;
	w->n--;
	if (error)
		w->error = error;
	pthread_cond_signal(&w->has_room);
	pthread_mutex_unlock(&w->mutex);
}

static void *write_parts(void *context)
{
	struct part_writer *w = context;
	struct writer_part *p;

	while ((p = next_part(w)) != NULL)
		finish_part(w, write_part(w, p));
	return NULL;
}

/* --- life ---------------------------------------------------------------------------------- */

static int start_writer(struct part_writer *w)
{
	int r = pthread_create(&w->thread, NULL, write_parts, w);

	if (r)
		return -r;
	pthread_setname_np(w->thread, "ptap-encoder");
	w->is_running = true;
	return 0;
}

int part_writer_new(struct spool *spool, struct memory_budget *keep, struct part_writer **out)
{
	struct part_writer *w = calloc(1, sizeof *w);
	int r;

	if (!w)
		return -ENOMEM;
	w->spool = spool;
	w->keep = keep;
	xspace_events_init(&w->encoder, NULL);
	pthread_mutex_init(&w->mutex, NULL);
	pthread_cond_init(&w->has_part, NULL);
	pthread_cond_init(&w->has_room, NULL);
	r = start_writer(w);
	if (r)
		w = part_writer_free(w);
	*out = w;
	return r;
}

struct part_writer *part_writer_free(struct part_writer *w)
{
	if (!w)
		return NULL;
	part_writer_end(w);
	for (unsigned i = 0; i < MAX_PARTS; i++) {
		events_deinit(&w->parts[i].events);
		free(w->parts[i].ordered.events);
	}
	xspace_events_deinit(&w->encoder);
	pthread_cond_destroy(&w->has_room);
	pthread_cond_destroy(&w->has_part);
	pthread_mutex_destroy(&w->mutex);
	free(w);
	return NULL;
}

/* --- the calling thread -------------------------------------------------------------------- */

/* Waits until the thread has at most |n| parts left. The caller holds the mutex. */
static int await_parts(struct part_writer *w, unsigned n)
{
	while (w->n > n)
		pthread_cond_wait(&w->has_room, &w->mutex);
	return w->error;
}

/* Moves |events| to a free part. Sets *is_enough if the other parts keep the thread busy. */
static int fill_part(struct part_writer *w, struct track *track, struct events *events,
	struct writer_part **out, bool *is_enough)
{
	struct events empty;
	struct writer_part *p;
	int r;

	pthread_mutex_lock(&w->mutex);
	r = await_parts(w, MAX_PARTS - 1);
	*is_enough = w->n >= ENOUGH_PARTS;
	p = *out = &w->parts[(w->first + w->n) % MAX_PARTS];
	pthread_mutex_unlock(&w->mutex);
	if (r)
		return r;
	empty = p->events;
	p->events = *events;
	*events = empty;
	p->track = track;
	p->is_ordered = false;
	return 0;
}

static void hand_over(struct part_writer *w)
{
	pthread_mutex_lock(&w->mutex);
	w->n++;
	pthread_cond_signal(&w->has_part);
	pthread_mutex_unlock(&w->mutex);
}

int part_writer_give(struct part_writer *w, struct track *track, struct events *events)
{
	struct writer_part *p;
	bool is_enough;
	int r = fill_part(w, track, events, &p, &is_enough);

	if (r)
		return r;
	if (!w->is_running)
		return write_part(w, p);
	if (is_enough)
		r = put_in_order(p);
	if (!r)
		hand_over(w);
	return r;
}

int part_writer_settle(struct part_writer *w)
{
	int r;

	pthread_mutex_lock(&w->mutex);
	r = await_parts(w, 0);
	pthread_mutex_unlock(&w->mutex);
	return r;
}

int part_writer_end(struct part_writer *w)
{
	if (w->is_running) {
		pthread_mutex_lock(&w->mutex);
		w->is_ending = true;
		pthread_cond_signal(&w->has_part);
		pthread_mutex_unlock(&w->mutex);
		pthread_join(w->thread, NULL);
		w->is_running = false;
	}
	return w->error;
}
