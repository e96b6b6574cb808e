/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling GPUs; see gpu_sampler.h. */
#include "daemon/pipeline/nvml/gpu_sampler.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/kernel/thread.h"
#include "daemon/pipeline/nvml/gpu_devices.h"
#include "daemon/pipeline/nvml/gpu_samples.h"

#define MAX_PIDS 64
/* The time between two looks at the devices' processes. */
#define PROCESSES_INTERVAL_NS NS_PER_S
/*
 * The library hangs when the last sample is so much older than the end, and some intervals older.
 */
#define SILENCE_NS NS_PER_S
#define SILENCE_INTERVALS 4

struct gpu_sampler {
	char library[PATH_MAX]; /* "": the system's library */
	int64_t interval_ns;
	struct gpu_devices devices; /* only the thread uses it */
	int64_t processes_due_ns; /* only the thread uses it */
	pthread_mutex_t mutex; /* protects all below */
	pthread_cond_t changed; /* CLOCK_MONOTONIC */
	struct gpu_samples samples;
	pid_t pids[MAX_PIDS];
	size_t n_pids;
	int64_t heard_ns; /* the last answer; 0: none */
	char why[GPU_SAMPLER_WHY_BYTES]; /* why the library cannot be asked, or "" */
	bool is_abandoned; /* the thread frees the sampler */
	bool has_ended; /* the thread is gone */
};

/* --- turns ---------------------------------------------------------------------------------- */

static pthread_mutex_t turn_mutex = PTHREAD_MUTEX_INITIALIZER;
static bool is_turn_taken; /* under turn_mutex */

static int take_turn(void)
{
	bool is_ours;

	pthread_mutex_lock(&turn_mutex);
	is_ours = !is_turn_taken;
	is_turn_taken = true;
	pthread_mutex_unlock(&turn_mutex);
	return is_ours;
}

static void give_turn(void)
{
	pthread_mutex_lock(&turn_mutex);
	is_turn_taken = false;
	pthread_mutex_unlock(&turn_mutex);
}

/* --- the thread ----------------------------------------------------------------------------- */

static void free_all(struct gpu_sampler *s)
{
	gpu_samples_deinit(&s->samples);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->mutex);
	free(s);
}

/* True when the thread must end. */
static int sleep_until(struct gpu_sampler *s, int64_t due_ns)
{
	const struct timespec due = {due_ns / NS_PER_S, due_ns % NS_PER_S};
	bool is_over;

	pthread_mutex_lock(&s->mutex);
	while (!s->is_abandoned && pthread_cond_timedwait(&s->changed, &s->mutex, &due) == 0)
		;
	is_over = s->is_abandoned;
	pthread_mutex_unlock(&s->mutex);
	return is_over;
}

static int await_turn(struct gpu_sampler *s)
{
	while (!take_turn())
		if (sleep_until(s, monotonic_ns() + s->interval_ns))
			return -ECANCELED;
	return 0;
}

static void note_failure(struct gpu_sampler *s, int r, const char *said)
{
	char why[GPU_SAMPLER_WHY_BYTES];

	if (r == -EIO)
		snprintf(why, sizeof why, "NVML does not start: %s", said);
	else
		snprintf(why, sizeof why, "%.200s %s", s->library[0] ? s->library : NVML_LIBRARY,
			r == -ENOENT ? "was not found" : "is no NVML");
	pthread_mutex_lock(&s->mutex);
	memcpy(s->why, why, sizeof why);
	pthread_mutex_unlock(&s->mutex);
}

static void describe_devices(struct gpu_sampler *s)
{
	struct gpu_track tracks[GPU_MAX] = {{.n = 0}};

	for (size_t i = 0; i < s->devices.n; i++)
		gpu_devices_describe(&s->devices, i, &tracks[i]);
	pthread_mutex_lock(&s->mutex);
	memcpy(s->samples.tracks, tracks, sizeof tracks);
	s->samples.n = s->devices.n;
	s->heard_ns = monotonic_ns();
	pthread_mutex_unlock(&s->mutex);
}

static void look_for_processes(struct gpu_sampler *s)
{
	bool is_used[GPU_MAX];
	pid_t pids[MAX_PIDS];
	size_t n_pids;

	if (monotonic_ns() < s->processes_due_ns)
		return;
	s->processes_due_ns = monotonic_ns() + PROCESSES_INTERVAL_NS;
	pthread_mutex_lock(&s->mutex);
	n_pids = s->n_pids;
	memcpy(pids, s->pids, sizeof pids);
	pthread_mutex_unlock(&s->mutex);
	for (size_t i = 0; i < s->devices.n; i++)
		is_used[i] = gpu_devices_has_process(&s->devices, i, pids, n_pids);
	pthread_mutex_lock(&s->mutex);
	for (size_t i = 0; i < s->devices.n; i++)
		s->samples.tracks[i].is_used |= is_used[i];
	pthread_mutex_unlock(&s->mutex);
}

static void sample_devices(struct gpu_sampler *s)
{
	struct gpu_sample fresh[GPU_MAX];

	for (size_t i = 0; i < s->devices.n; i++)
		if (s->devices.v[i].handle)
			gpu_devices_read(&s->devices, i, &fresh[i]);
	pthread_mutex_lock(&s->mutex);
	for (size_t i = 0; i < s->devices.n && !s->is_abandoned; i++)
		if (s->devices.v[i].handle)
			gpu_samples_add(&s->samples, i, &fresh[i]);
	s->heard_ns = monotonic_ns();
	pthread_mutex_unlock(&s->mutex);
}

static void sample_until_end(struct gpu_sampler *s)
{
	char said[128] = "";
	int r = gpu_devices_open(&s->devices, s->library[0] ? s->library : NULL, said, sizeof said);
	int64_t begin_ns;

	if (r) {
		note_failure(s, r, said);
		return;
	}
	describe_devices(s);
	do {
		begin_ns = monotonic_ns();
		sample_devices(s);
		look_for_processes(s);
	} while (!sleep_until(s, begin_ns + s->interval_ns));
	gpu_devices_close(&s->devices);
}

static void *run_sampler(void *context)
{
	struct gpu_sampler *s = context;
	bool is_abandoned;

	pthread_setname_np(pthread_self(), "ptap-gpus");
	if (!await_turn(s)) {
		sample_until_end(s);
		give_turn();
	}
	pthread_mutex_lock(&s->mutex);
	s->has_ended = true;
	is_abandoned = s->is_abandoned;
	pthread_mutex_unlock(&s->mutex);
	if (is_abandoned)
		free_all(s);
	return NULL;
}

/* --- other threads -------------------------------------------------------------------------- */

static bool has_driver(const char *root)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/dev/nvidiactl", root);
	return access(path, F_OK) == 0;
}

struct gpu_sampler *gpu_sampler_start(const struct gpu_sampler_config *config)
{
	struct gpu_sampler *s = has_driver(config->root) ? calloc(1, sizeof *s) : NULL;

	if (!s)
		return NULL;
	s->interval_ns = config->interval_ns;
	if (config->library)
		snprintf(s->library, sizeof s->library, "%s", config->library);
	pthread_mutex_init(&s->mutex, NULL);
	cond_init(&s->changed);
	if (thread_start_detached(run_sampler, s)) {
		free_all(s);
		return NULL;
	}
	return s;
}

void gpu_sampler_add_process(struct gpu_sampler *s, pid_t pid)
{
	pthread_mutex_lock(&s->mutex);
	if (s->n_pids < MAX_PIDS)
		s->pids[s->n_pids++] = pid;
	pthread_mutex_unlock(&s->mutex);
}

void gpu_sampler_cut(struct gpu_sampler *s, struct gpu_samples *out, int64_t from_ns)
{
	pthread_mutex_lock(&s->mutex);
	gpu_samples_cut(&s->samples, out, from_ns);
	pthread_mutex_unlock(&s->mutex);
}

/* Under the lock. */
static void say_why(const struct gpu_sampler *s, int64_t now_ns, char *why)
{
	int64_t silence_ns = now_ns - s->heard_ns;

	memcpy(why, s->why, GPU_SAMPLER_WHY_BYTES);
	if (why[0])
		return;
	if (!s->heard_ns)
		snprintf(why, GPU_SAMPLER_WHY_BYTES,
			"NVML had not answered when the recording ended");
	else if (silence_ns > SILENCE_NS && silence_ns > SILENCE_INTERVALS * s->interval_ns)
		snprintf(why, GPU_SAMPLER_WHY_BYTES,
			"NVML gave no answer in the last %" PRId64 " ms of the recording",
			silence_ns / NS_PER_MS);
}

void gpu_sampler_stop(struct gpu_sampler *s, struct gpu_samples *out, char *why)
{
	bool has_ended;

	pthread_mutex_lock(&s->mutex);
	say_why(s, monotonic_ns(), why);
	*out = s->samples;
	memset(&s->samples, 0, sizeof s->samples);
	s->is_abandoned = true;
	has_ended = s->has_ended;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->mutex);
	if (has_ended)
		free_all(s);
}
