/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs by NVML: a sample has the values that the thread read for the previous sample. */
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/printable.h"
#include "daemon/host/machine/history.h"
#include "daemon/host/machine/machine.h"
#include "daemon/host/machine/source.h"
#include "daemon/kernel/thread.h"
#include "daemon/pipeline/nvml/gpu_reading.h"
#include "daemon/pipeline/nvml/nvml.h"

/* --- the thread that asks NVML ---------------------------------------------------------------- */

/*
 * Only this thread waits for a driver. It takes one reading for each gpu_thread_take(), which
 * returns the previous one. It outlives gpu_thread_stop() if a call of the driver does not return.
 */

struct gpu_reading {
	char name[GPU_NAME_BYTES];
	double values[N_GPU_ROWS]; /* NAN: unknown */
};

struct gpu_readings {
	int64_t at_ns; /* CLOCK_MONOTONIC; 0: never */
	unsigned n;
	struct gpu_reading v[GPU_MAX];
};

#define PATIENCE_NS NS_PER_S

struct gpu_thread {
	struct nvml nvml; /* used by the thread only */
	pthread_mutex_t mutex; /* protects all below */
	pthread_cond_t changed; /* CLOCK_MONOTONIC */
	struct gpu_readings readings;
	bool is_wanted; /* a reading is wanted */
	bool is_ending;
	bool has_ended;
	bool is_abandoned; /* the thread frees this struct at its end */
};

static void read_all_gpus(const struct nvml *nvml, struct gpu_readings *out)
{
	struct nvml_device *device;
	unsigned n;

	memset(out, 0, sizeof *out);
	if (nvml->count(&n) != NVML_OK)
		n = 0;
	/* A lost device keeps its number. */
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

static void gpu_thread_free(struct gpu_thread *t)
{
	nvml_close(&t->nvml);
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->mutex);
	free(t);
}

/* Returns true when a reading is wanted, or false when the thread must end. */
static bool gpu_thread_await_order(struct gpu_thread *t)
{
	bool is_wanted;

	pthread_mutex_lock(&t->mutex);
	while (!t->is_wanted && !t->is_ending)
		pthread_cond_wait(&t->changed, &t->mutex);
	t->is_wanted = false;
	is_wanted = !t->is_ending;
	pthread_mutex_unlock(&t->mutex);
	return is_wanted;
}

static void gpu_thread_serve(struct gpu_thread *t)
{
	struct gpu_readings readings;
	int r = t->nvml.init();

	if (r != NVML_OK) {
		log_info(LOG_COLLECT, "GPUs: NVML does not start: its error %d", r);
		return;
	}
	while (gpu_thread_await_order(t)) {
		read_all_gpus(&t->nvml, &readings);
		pthread_mutex_lock(&t->mutex);
		t->readings = readings;
		pthread_mutex_unlock(&t->mutex);
	}
	t->nvml.shutdown();
}

static void *gpu_thread_run(void *context)
{
	struct gpu_thread *t = context;
	bool is_abandoned;

	gpu_thread_serve(t);
	pthread_mutex_lock(&t->mutex);
	t->has_ended = 1;
	is_abandoned = t->is_abandoned;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->mutex);
	if (is_abandoned)
		gpu_thread_free(t);
	return NULL;
}

static void gpu_thread_init_locks(struct gpu_thread *t)
{
	pthread_mutex_init(&t->mutex, NULL);
	cond_init(&t->changed);
}

/*
 * |library| is that of nvml_open(). Returns NULL if there is no such library, or no memory or
 * thread.
 */
static struct gpu_thread *gpu_thread_start(const char *library)
{
	struct gpu_thread *t = calloc(1, sizeof *t);

	if (!t)
		return NULL;
	gpu_thread_init_locks(t);
	if (nvml_open(&t->nvml, library) || thread_start_detached(gpu_thread_run, t)) {
		gpu_thread_free(t);
		return NULL;
	}
	return t;
}

/* |t| may be NULL. Waits for a call of the driver a second at most. */
static void gpu_thread_stop(struct gpu_thread *t)
{
	const int64_t end_ns = monotonic_ns() + PATIENCE_NS;
	const struct timespec end = {end_ns / NS_PER_S, end_ns % NS_PER_S};
	bool has_ended;

	if (!t)
		return;
	pthread_mutex_lock(&t->mutex);
	t->is_ending = true;
	pthread_cond_broadcast(&t->changed);
	while (!t->has_ended && pthread_cond_timedwait(&t->changed, &t->mutex, &end) == 0)
		;
	has_ended = t->has_ended;
	t->is_abandoned = !has_ended;
	pthread_mutex_unlock(&t->mutex);
	if (has_ended)
		gpu_thread_free(t);
}

/* Returns the last reading and orders the next one, without waiting. */
static void gpu_thread_take(struct gpu_thread *t, struct gpu_readings *out)
{
	pthread_mutex_lock(&t->mutex);
	*out = t->readings;
	t->is_wanted = true;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->mutex);
}

/* --- the source ------------------------------------------------------------------------------- */

/* An older reading is not used, because it means that the driver hangs. */
#define MAX_AGE_NS (5 * NS_PER_S / 2)

/* A machine's samples have the GPU_ rows up to GPU_MEMORY_TOTAL. */
#define N_ROWS (GPU_MEMORY_TOTAL + 1)

static const struct metric rows[N_ROWS] = {
	[GPU_BUSY] = {"busy", METRIC_PERCENT, METRIC_RATE, 1},
	[GPU_MEMORY_USED] = {"memory used", METRIC_BYTES, METRIC_GAUGE, 1},
	[GPU_MEMORY_BUSY] = {"memory busy", METRIC_PERCENT, METRIC_RATE, 1},
	[GPU_POWER] = {"power", METRIC_WATT, METRIC_GAUGE, 1},
	[GPU_TEMPERATURE] = {"temperature", METRIC_CELSIUS, METRIC_GAUGE, 1},
	[GPU_CLOCK] = {"clock", METRIC_MHZ, METRIC_GAUGE, 1},
	[GPU_MEMORY_TOTAL] = {"memory total", METRIC_BYTES, METRIC_GAUGE, 1},
};
static const struct metric_group group = {"gpu", rows, N_ROWS, GPU_MEMORY_TOTAL, NULL};

struct gpus {
	struct gpu_thread *thread; /* NULL: no library */
	struct gpu_readings readings;
};

static void open_gpus(void *state, const struct machine_config *config)
{
	struct gpus *g = state;

	g->thread = gpu_thread_start(config->nvml);
}

static void take_gpu(
	const struct sampling *sampling, unsigned number, const struct gpu_reading *reading)
{
	struct subject *s;
	char name[16];

	snprintf(name, sizeof name, "%u", number);
	s = history_touch(sampling->history, &group, number + 1, name);
	if (!s)
		return;
	if (!s->detail[0] && reading->name[0]) {
		memcpy(s->detail, reading->name, sizeof s->detail);
		printable_clean(s->detail);
	}
	for (unsigned i = 0; i < N_ROWS; i++)
		subject_set(s, i, reading->values[i]);
}

static void read_gpus(void *state, const struct sampling *sampling)
{
	struct gpus *g = state;

	if (!g->thread)
		return;
	gpu_thread_take(g->thread, &g->readings);
	if (!g->readings.at_ns || sampling->now_ns - g->readings.at_ns > MAX_AGE_NS)
		return;
	for (unsigned i = 0; i < g->readings.n; i++)
		take_gpu(sampling, i, &g->readings.v[i]);
}

static void close_gpus(void *state)
{
	struct gpus *g = state;

	gpu_thread_stop(g->thread);
}

const struct machine_source source_gpus = {sizeof(struct gpus), open_gpus, read_gpus, close_gpus};
