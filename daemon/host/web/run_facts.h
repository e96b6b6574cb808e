/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is in runs: read once by proftap, and kept for as long as their files are the same. The newest RUN_FACTS_KEPT that were
 * asked for.
 *
 * Threads: any.
 */
#ifndef DAEMON_RUN_FACTS_H
#define DAEMON_RUN_FACTS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct json;

#define RUN_FACTS_KEPT 1024u

/* Which state of which run is meant: other files are another state. */
struct run_state {
	char name[128];
	int64_t written_ns; /* Unix time; of the youngest file */
	uint64_t n_bytes;
};

struct run_facts;

struct run_facts_cache {
	pthread_mutex_t mutex;
	struct run_facts *v[RUN_FACTS_KEPT];
	size_t n;
};

void run_facts_init(struct run_facts_cache *c);
void run_facts_deinit(struct run_facts_cache *c);

/* Whether they have been read, or could not be. */
int run_facts_has(struct run_facts_cache *c, const struct run_state *state);

/* Takes what proftap report --json printed, |n| bytes; or says in |error| why it could not. */
void run_facts_set(struct run_facts_cache *c, const struct run_state *state, const char *report,
	size_t n, const char *error);

/* The members duration_ms to unreadable; null as long as nothing is known. */
void run_facts_write(struct run_facts_cache *c, const struct run_state *state, struct json *j);

#endif
