/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling GPUs; see gpu_sampler.h. */
#include "daemon/pipeline/nvml/gpu_sampler.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/kernel/thread.h"
#include "daemon/pipeline/nvml/gpu_reading.h"
#include "daemon/pipeline/nvml/gpu_samples.h"
#include "daemon/pipeline/nvml/nvml.h"

#define MAX_PIDS 64
/* The longest process list of a device that is read; a longer one counts as empty. */
#define MAX_PROCESSES 512
/* The time between two readings of the devices' process lists. */
#define PROCESSES_INTERVAL_NS NS_PER_S
/*
 * The library counts as hung if its last answer is older than both of these times
 * when the recording ends.
 */
#define SILENCE_NS NS_PER_S
#define SILENCE_INTERVALS 4

/* The devices that NVML has, found once and read often. */
struct gpu_device {
	struct nvml_device *handle; /* NULL: the device is lost, and keeps its number */
	struct gpm gpm;
};

struct gpu_devices {
	struct nvml nvml;
	bool is_started;
	struct gpu_device v[GPU_MAX];
	size_t n;
};

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

/* --- devices --------------------------------------------------------------------------------- */

/* |d| of zeros is closed. */
static void gpu_devices_close(struct gpu_devices *d)
{
	for (size_t i = 0; i < d->n; i++)
		gpm_close(&d->v[i].gpm);
	if (d->is_started)
		d->nvml.shutdown();
	nvml_close(&d->nvml);
	memset(d, 0, sizeof *d);
}

static int start_library(struct gpu_devices *d, char *said, size_t n)
{
	int r = d->nvml.init();

	if (r != NVML_OK) {
		snprintf(said, n, "%s (its error %d)",
			d->nvml.describe ? d->nvml.describe(r) : "unknown error", r);
		return -EIO;
	}
	d->is_started = true;
	return 0;
}

static void find_devices(struct gpu_devices *d)
{
	unsigned n;

	if (d->nvml.count(&n) != NVML_OK)
		n = 0;
	for (d->n = 0; d->n < n && d->n < GPU_MAX; d->n++) {
		struct gpu_device *device = &d->v[d->n];

		if (d->nvml.find((unsigned)d->n, &device->handle) == NVML_OK)
			gpm_open(&device->gpm, &d->nvml, device->handle);
		else
			device->handle = NULL;
	}
}

/*
 * Opens the library and finds its devices. Returns 0, -ENOENT or -ENOSYS as nvml_open() does, or
 * -EIO if the library does not start; |said| (|n| bytes) is then the reason.
 */
static int gpu_devices_open(struct gpu_devices *d, const char *library, char *said, size_t n)
{
	int r;

	memset(d, 0, sizeof *d);
	r = nvml_open(&d->nvml, library);
	if (!r)
		r = start_library(d, said, n);
	if (!r)
		find_devices(d);
	else
		gpu_devices_close(d);
	return r;
}

/* Sets the name and UUID of the device |i|. */
static void gpu_devices_describe(const struct gpu_devices *d, size_t i, struct gpu_track *out)
{
	struct nvml_device *handle = d->v[i].handle;

	if (!handle)
		return;
	gpu_read_name(&d->nvml, handle, out->name);
	if (!d->nvml.uuid || d->nvml.uuid(handle, out->uuid, sizeof out->uuid) != NVML_OK)
		out->uuid[0] = '\0';
	out->uuid[sizeof out->uuid - 1] = '\0';
}

/* Reads a device that is not lost. */
static void gpu_devices_read(struct gpu_devices *d, size_t i, struct gpu_sample *out)
{
	struct gpu_device *device = &d->v[i];

	*out = (struct gpu_sample){.at_ns = monotonic_ns()};
	/* GPM comes first: a slow reading before it could bring two GPM samples too close. */
	if (!gpm_read(&device->gpm, out->at_ns, out->gpm, &out->gpm_since_ns))
		out->gpm_since_ns = 0;
	gpu_reading_take(&d->nvml, device->handle, out->reading);
}

static bool list_has(int (*list)(struct nvml_device *, unsigned *, struct nvml_process *),
	struct nvml_device *device, const pid_t *pids, size_t n_pids)
{
	struct nvml_process found[MAX_PROCESSES];
	unsigned n = MAX_PROCESSES;

	if (!list || list(device, &n, found) != NVML_OK || n > MAX_PROCESSES)
		return false;
	for (unsigned i = 0; i < n; i++)
		for (size_t j = 0; j < n_pids; j++)
			if (found[i].pid == (unsigned)pids[j])
				return true;
	return false;
}

/* True when one of |pids| is among the processes of the device |i|. */
static bool gpu_devices_has_process(
	const struct gpu_devices *d, size_t i, const pid_t *pids, size_t n_pids)
{
	struct nvml_device *handle = d->v[i].handle;

	return handle && (list_has(d->nvml.compute, handle, pids, n_pids) ||
				 list_has(d->nvml.graphics, handle, pids, n_pids));
}

/* --- turns ---------------------------------------------------------------------------------- */

static pthread_mutex_t turn_mutex = PTHREAD_MUTEX_INITIALIZER;
static bool is_turn_taken; /* under turn_mutex */

static bool take_turn(void)
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
static bool sleep_until(struct gpu_sampler *s, int64_t due_ns)
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

static void find_processes(struct gpu_sampler *s)
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
		find_processes(s);
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

/* The caller holds |s->mutex|. */
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
