/* SPDX-License-Identifier: Apache-2.0 */
/* What a machine uses; see machine.h. */
#include "daemon/machine/machine.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "daemon/kernel/cond.h"
#include "daemon/machine/history.h"
#include "daemon/machine/source.h"

/* /proc/stat of a machine with hundreds of processors and interrupts. */
#define TEXT_BYTES (128u << 10)

static const struct source *const sources[] = {
	&source_processors,
	&source_memory,
	&source_pressure,
	&source_disks,
	&source_networks,
	&source_gpus,
	&source_npus,
	&source_processes,
};
#define N_SOURCES (sizeof sources / sizeof *sources)

struct machine {
	struct machine_config config;
	pthread_mutex_t mutex; /* of all below */
	pthread_cond_t changed; /* CLOCK_MONOTONIC; a sample has been taken */
	struct history history;
	void *states[N_SOURCES];
	char text[TEXT_BYTES];
};

static void init(struct machine *m, const struct machine_config *config)
{
	m->config = *config;
	m->history.root = config->root;
	pthread_mutex_init(&m->mutex, NULL);
	cond_init(&m->changed);
}

int machine_new(const struct machine_config *config, struct machine **out)
{
	struct machine *m = calloc(1, sizeof *m);

	if (!m)
		return -ENOMEM;
	init(m, config);
	for (size_t i = 0; i < N_SOURCES; i++) {
		m->states[i] = calloc(1, sources[i]->state_bytes);
		if (!m->states[i]) {
			machine_free(m);
			return -ENOMEM;
		}
		sources[i]->open(m->states[i], &m->config);
	}
	*out = m;
	return 0;
}

struct machine *machine_free(struct machine *m)
{
	if (!m)
		return NULL;
	for (size_t i = 0; i < N_SOURCES && m->states[i]; i++) {
		sources[i]->close(m->states[i]);
		free(m->states[i]);
	}
	history_deinit(&m->history);
	pthread_cond_destroy(&m->changed);
	pthread_mutex_destroy(&m->mutex);
	free(m);
	return NULL;
}

void machine_sample(struct machine *m, int64_t now_ns)
{
	struct sampling sampling = {
		.history = &m->history, .text = m->text, .text_bytes = sizeof m->text};

	pthread_mutex_lock(&m->mutex);
	sampling.now_ns = now_ns;
	history_begin(&m->history, sampling.now_ns);
	for (size_t i = 0; i < N_SOURCES; i++)
		sources[i]->read(m->states[i], &sampling);
	pthread_cond_broadcast(&m->changed);
	pthread_mutex_unlock(&m->mutex);
}

static int has_sample(const struct history *h, int64_t at_ns)
{
	return h->n > 0 && history_time_ns(h, h->n - 1) > at_ns;
}

int machine_await(struct machine *m, int64_t at_ns, int wait_ms)
{
	const int64_t end_ns = monotonic_ns() + wait_ms * NS_PER_MS;
	const struct timespec end = {end_ns / NS_PER_S, end_ns % NS_PER_S};
	int r = 0;
	int has;

	pthread_mutex_lock(&m->mutex);
	while (!has_sample(&m->history, at_ns) && r == 0)
		r = pthread_cond_timedwait(&m->changed, &m->mutex, &end);
	has = has_sample(&m->history, at_ns);
	pthread_mutex_unlock(&m->mutex);
	return has;
}

int machine_read(
	struct machine *m, int (*look)(const struct history *h, void *context), void *context)
{
	int r;

	pthread_mutex_lock(&m->mutex);
	r = look(&m->history, context);
	pthread_mutex_unlock(&m->mutex);
	return r;
}
