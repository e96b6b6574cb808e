/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happened lately, for streams of events (stream.h): the last HUB_EVENTS, each with a number, so that who was away can go on
 * where it was. An event is of a user, and told to those who may ask for that one's programs; or of all.
 *
 * Threads: any.
 */
#ifndef DAEMON_HUB_H
#define DAEMON_HUB_H

#include <pthread.h>
#include <stddef.h>
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
	uint64_t n_sample; /* of HUB_USAGE: what is told of it is for each stream to say */
	char *data; /* a JSON object on a line, malloc'ed; NULL for HUB_USAGE */
};

struct hub {
	pthread_mutex_t mutex;
	struct hub_event events[HUB_EVENTS]; /* number % HUB_EVENTS */
	uint64_t last; /* number */
	uint64_t forgotten; /* the number below which nobody goes on; 0: all may */
	int64_t started_unix_ms; /* of the daemon: no other one's numbers are these */
	/* Told of each event, in any thread, under the mutex; NULL: nobody is. */
	void (*wake)(void *context);
	void *context;
};

void hub_init(struct hub *h, int64_t started_unix_ms);
void hub_deinit(struct hub *h);
/* Nobody is told of events any more. */
void hub_silence(struct hub *h);

/* Takes |data|, also when it is NULL, which is a lack of memory: then nothing is told. */
void hub_post(struct hub *h, enum hub_topic topic, uid_t uid, const char *name, char *data);
void hub_post_usage(struct hub *h, uint64_t n_sample);

/* What was told until now is not so any more: who has heard it all gets -ESTALE, too. */
void hub_forget(struct hub *h);

uint64_t hub_get_last(struct hub *h);

/*
 * The number of the event with the id "STARTED.NUMBER"; of another daemon's, or of none at all, one that there is not, so that it is
 * stale. Without an id the last one's.
 */
uint64_t hub_find_after(struct hub *h, const char *id);

/*
 * A copy of the first event behind number |after|: 1, and the caller frees out->data; 0: there is none yet; -ESTALE: some that
 * followed |after| are gone, or there was no such number; -ENOMEM.
 */
int hub_copy_next(struct hub *h, uint64_t after, struct hub_event *out);

#endif
