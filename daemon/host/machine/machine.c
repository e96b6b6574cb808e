/* SPDX-License-Identifier: Apache-2.0 */
/* Samples the usage of a machine; see machine.h. */
#include "daemon/host/machine/machine.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "daemon/host/machine/history.h"
#include "daemon/host/machine/source.h"

/* Room for /proc/stat of a machine with hundreds of processors and interrupts. */
#define TEXT_BYTES (128u << 10)

static const struct machine_source *const sources[] = {
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
	pthread_mutex_t mutex; /* protects all below */
	struct history history;
	void *states[N_SOURCES];
	char text[TEXT_BYTES];
};

static void machine_init(struct machine *m, const struct machine_config *config)
{
	m->config = *config;
	m->history.root = config->root;
	pthread_mutex_init(&m->mutex, NULL);
}

int machine_new(const struct machine_config *config, struct machine **out)
{
	struct machine *m = calloc(1, sizeof *m);

	if (!m)
		return -ENOMEM;
	machine_init(m, config);
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
	pthread_mutex_destroy(&m->mutex);
	free(m);
	return NULL;
}

/* Reads all sources into the sample that has been begun. The caller has the mutex. */
static void read_sources(struct machine *m, int64_t now_ns)
{
	const struct sampling sampling = {
		.history = &m->history,
		.now_ns = now_ns,
		.text = m->text,
		.text_bytes = sizeof m->text,
	};

	for (size_t i = 0; i < N_SOURCES; i++)
		sources[i]->read(m->states[i], &sampling);
}

void machine_sample(struct machine *m, int64_t now_ns)
{
	pthread_mutex_lock(&m->mutex);
	history_begin(&m->history, now_ns);
	read_sources(m, now_ns);
	pthread_mutex_unlock(&m->mutex);
}

int machine_read(
	struct machine *m, int (*read)(const struct history *h, void *context), void *context)
{
	int r;

	pthread_mutex_lock(&m->mutex);
	r = read(&m->history, context);
	pthread_mutex_unlock(&m->mutex);
	return r;
}

/* Returns true if a sample at |now_ns| is needed and would be the first one after |at_ns|. */
static bool is_sample_missing(const struct history *h, int64_t at_ns, int64_t now_ns)
{
	return now_ns > at_ns && (!h->n || history_time_ns(h, h->n - 1) <= at_ns);
}

int machine_read_behind(struct machine *m, int64_t at_ns, int64_t now_ns,
	int (*read)(const struct history *h, void *context), void *context)
{
	bool is_peek;
	int r;

	pthread_mutex_lock(&m->mutex);
	is_peek = is_sample_missing(&m->history, at_ns, now_ns);
	if (is_peek) {
		history_begin_peek(&m->history, now_ns);
		read_sources(m, now_ns);
	}
	r = read(&m->history, context);
	if (is_peek)
		history_end_peek(&m->history);
	pthread_mutex_unlock(&m->mutex);
	return r;
}
