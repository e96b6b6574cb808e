/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hub holds the last HUB_EVENTS events for streams (stream.h). Each event has a number, so that
 * a client can resume after a break. An event belongs to a user, and is sent to callers who may ask
 * for that user's programs; or it belongs to everybody.
 *
 * Threads: any.
 */
#ifndef DAEMON_HUB_H
#define DAEMON_HUB_H

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#define HUB_EVENTS 1024u

/* The topics that a stream may leave out. */
enum hub_topic {
	HUB_USAGE = 1,
	HUB_TARGETS = 2,
	HUB_CAPTURES = 4,
	HUB_RUNS = 8,
	HUB_ALL = 15,
};

#define HUB_EVERYBODY ((uid_t)-1)

struct hub_event {
	uint64_t number; /* from 1; 0: none */
	enum hub_topic topic;
	uid_t uid; /* or HUB_EVERYBODY */
	const char *name; /* a literal: "capture_gone" */
	uint64_t n_sample; /* the sample of HUB_USAGE, which each stream formats for itself */
	char *data; /* a JSON object on a line, malloc'ed; NULL for HUB_USAGE */
};

struct hub {
	pthread_mutex_t mutex;
	struct hub_event events[HUB_EVENTS]; /* number % HUB_EVENTS */
	uint64_t last; /* number */
	uint64_t forgotten; /* nobody can resume after a lower number; 0: everybody can */
	/* Start of the daemon. Distinguishes the ids of its events from those of other daemons. */
	int64_t started_unix_ms;
	/* Called for each event, in any thread, under the mutex; NULL: not called. */
	void (*wake)(void *context);
	void *context;
};

void hub_init(struct hub *h, int64_t started_unix_ms);
void hub_deinit(struct hub *h);
/* After this call |wake| is not called any more. */
void hub_silence(struct hub *h);

/* Takes |data|. If it is NULL, as after a lack of memory, nothing is posted. */
void hub_post(struct hub *h, enum hub_topic topic, uid_t uid, const char *name, char *data);
void hub_post_usage(struct hub *h, uint64_t n_sample);

/* Invalidates all events so far: hub_copy_next() returns -ESTALE even after the last one. */
void hub_forget(struct hub *h);

uint64_t hub_get_last(struct hub *h);

/*
 * Returns the number of the event with the id "STARTED.NUMBER"; for the id of another daemon, or an
 * invalid one, a number that does not exist and so is stale; for an |id| of NULL or "", the last
 * number.
 */
uint64_t hub_find_after(struct hub *h, const char *id);

/*
 * Copies the first event after the number |after|. 1: done, and the caller frees out->data; 0:
 * there is none yet; -ESTALE: events after |after| are lost, or there was no such number; -ENOMEM.
 */
int hub_copy_next(struct hub *h, uint64_t after, struct hub_event *out);

#endif
