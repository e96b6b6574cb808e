/* SPDX-License-Identifier: Apache-2.0 */
/* Asking NVML; see gpu_thread.h. */
#include "daemon/host/machine/gpu_thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "daemon/kernel/thread.h"
#include "daemon/pipeline/nvml/nvml.h"

#define PATIENCE_NS NS_PER_S

struct gpu_thread {
	struct nvml nvml; /* the thread's */
	pthread_mutex_t mutex; /* of all below */
	pthread_cond_t changed; /* CLOCK_MONOTONIC */
	struct gpu_readings readings;
	int is_wanted; /* a reading */
	int is_ending;
	int has_ended;
	int is_abandoned; /* nobody waits: the thread frees all this */
};

static void read_all(const struct nvml *nvml, struct gpu_readings *out)
{
	struct nvml_device *device;
	unsigned n;

	memset(out, 0, sizeof *out);
	if (nvml->count(&n) != NVML_OK)
		n = 0;
	/* One that has been lost keeps its number. */
	for (out->n = 0; out->n < n && out->n < GPU_MAX; out->n++) {
		struct gpu_reading *reading = &out->v[out->n];

		if (nvml->find(out->n, &device) == NVML_OK) {
			gpu_read_name(nvml, device, reading->name);
			gpu_reading_take(nvml, device, reading->values);
		} else {
			gpu_reading_clear(reading->values);
		}
	}
	out->at_ns = monotonic_ns();
}

/* The thread. */

static void free_all(struct gpu_thread *t)
{
	nvml_close(&t->nvml);
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->mutex);
	free(t);
}

/* 1: a reading is wanted; 0: it is to end. */
static int wait_for_wish(struct gpu_thread *t)
{
	int is_wanted;

	pthread_mutex_lock(&t->mutex);
	while (!t->is_wanted && !t->is_ending)
		pthread_cond_wait(&t->changed, &t->mutex);
	t->is_wanted = 0;
	is_wanted = !t->is_ending;
	pthread_mutex_unlock(&t->mutex);
	return is_wanted;
}

static void serve(struct gpu_thread *t)
{
	struct gpu_readings readings;
	int r = t->nvml.init();

	if (r != NVML_OK) {
		log_info(LOG_COLLECT, "GPUs: NVML does not start: its error %d", r);
		return;
	}
	while (wait_for_wish(t)) {
		read_all(&t->nvml, &readings);
		pthread_mutex_lock(&t->mutex);
		t->readings = readings;
		pthread_mutex_unlock(&t->mutex);
	}
	t->nvml.shutdown();
}

static void *run(void *context)
{
	struct gpu_thread *t = context;
	int is_abandoned;

	serve(t);
	pthread_mutex_lock(&t->mutex);
	t->has_ended = 1;
	is_abandoned = t->is_abandoned;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->mutex);
	if (is_abandoned)
		free_all(t);
	return NULL;
}

static void init_locks(struct gpu_thread *t)
{
	pthread_mutex_init(&t->mutex, NULL);
	cond_init(&t->changed);
}

struct gpu_thread *gpu_thread_start(const char *library)
{
	struct gpu_thread *t = calloc(1, sizeof *t);

	if (!t)
		return NULL;
	init_locks(t);
	if (nvml_open(&t->nvml, library) || thread_start_detached(run, t)) {
		free_all(t);
		return NULL;
	}
	return t;
}

void gpu_thread_stop(struct gpu_thread *t)
{
	const int64_t end_ns = monotonic_ns() + PATIENCE_NS;
	const struct timespec end = {end_ns / NS_PER_S, end_ns % NS_PER_S};
	int has_ended;

	if (!t)
		return;
	pthread_mutex_lock(&t->mutex);
	t->is_ending = 1;
	pthread_cond_broadcast(&t->changed);
	while (!t->has_ended && pthread_cond_timedwait(&t->changed, &t->mutex, &end) == 0)
		;
	has_ended = t->has_ended;
	t->is_abandoned = !has_ended;
	pthread_mutex_unlock(&t->mutex);
	if (has_ended)
		free_all(t);
}

void gpu_thread_take(struct gpu_thread *t, struct gpu_readings *out)
{
	pthread_mutex_lock(&t->mutex);
	*out = t->readings;
	t->is_wanted = 1;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->mutex);
}
