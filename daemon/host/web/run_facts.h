/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The facts of a run are its duration, totals, warnings and errors. proftap reads them once, and
 * this cache keeps them as long as the run's files stay the same, for the last RUN_FACTS_KEPT runs
 * that were read.
 *
 * Threads: any.
 */
#ifndef DAEMON_RUN_FACTS_H
#define DAEMON_RUN_FACTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;

#define RUN_FACTS_KEPT 1024u

/* A run with a state of its files; changed files are another state. */
struct run_state {
	char name[128];
	int64_t written_ns; /* Unix time of the youngest file */
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

/* Returns true if the facts have been read, or if reading them has failed. */
bool run_facts_has(struct run_facts_cache *c, const struct run_state *state);

/*
 * Keeps the facts in |report|, |n| bytes of output of proftap report --json; or, if |report| is
 * NULL, the |error| that tells why the run is unreadable.
 */
void run_facts_set(struct run_facts_cache *c, const struct run_state *state, const char *report,
	size_t n, const char *error);

/* Writes the members from duration_ms up to unreadable. They are null if nothing is known yet. */
void run_facts_write(struct run_facts_cache *c, const struct run_state *state, struct json *j);

#endif
