/* SPDX-License-Identifier: Apache-2.0 */
/* Asking NVML; see gpu_thread.h. */
#include "daemon/machine/gpu_thread.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "daemon/kernel/cond.h"
#include "daemon/machine/nvml.h"

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

/* One device. */

static double ask_number(
	int (*ask)(struct nvml_device *, unsigned *), struct nvml_device *device, double scale)
{
	unsigned value;

	return ask && ask(device, &value) == NVML_OK ? scale * (double)value : (double)NAN;
}

static double ask_of(
	int (*ask)(struct nvml_device *, int, unsigned *), struct nvml_device *device, int what)
{
	unsigned value;

	return ask && ask(device, what, &value) == NVML_OK ? (double)value : (double)NAN;
}

static void read_device(
	const struct nvml *nvml, struct nvml_device *device, struct gpu_reading *out)
{
	struct nvml_utilization use;
	struct nvml_memory memory;

	for (int i = 0; i < N_GPU_ROWS; i++)
		out->values[i] = (double)NAN;
	if (nvml->name(device, out->name, sizeof out->name) != NVML_OK)
		out->name[0] = '\0';
	out->name[sizeof out->name - 1] = '\0';
	if (nvml->utilization && nvml->utilization(device, &use) == NVML_OK) {
		out->values[GPU_BUSY] = use.gpu;
		out->values[GPU_MEMORY_BUSY] = use.memory;
	}
	if (nvml->memory && nvml->memory(device, &memory) == NVML_OK) {
		out->values[GPU_MEMORY_USED] = (double)memory.used;
		out->values[GPU_MEMORY_TOTAL] = (double)memory.total;
	}
	out->values[GPU_POWER] = ask_number(nvml->power, device, 1e-3);
	out->values[GPU_TEMPERATURE] = ask_of(nvml->temperature, device, NVML_SENSOR_GPU);
	out->values[GPU_CLOCK] = ask_of(nvml->clock, device, NVML_CLOCK_SM);
}

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

		if (nvml->find(out->n, &device) == NVML_OK)
			read_device(nvml, device, reading);
		else
			for (int i = 0; i < N_GPU_ROWS; i++)
				reading->values[i] = (double)NAN;
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

/* Signals are for the other threads. */
static int start_detached(struct gpu_thread *t)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	int r;

	sigfillset(&all);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&thread, &attributes, run, t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return -r;
}

struct gpu_thread *gpu_thread_start(const char *library)
{
	struct gpu_thread *t = calloc(1, sizeof *t);

	if (!t)
		return NULL;
	init_locks(t);
	if (nvml_open(&t->nvml, library) || start_detached(t)) {
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
