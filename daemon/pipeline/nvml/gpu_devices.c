/* SPDX-License-Identifier: Apache-2.0 */
/* NVML's devices; see gpu_devices.h. */
#include "daemon/pipeline/nvml/gpu_devices.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

/* The most processes of one device that are looked at. */
#define MAX_PROCESSES 512

static int start_library(struct gpu_devices *d, char *said, size_t n)
{
	int r = d->nvml.init();

	if (r != NVML_OK) {
		snprintf(said, n, "%s (its error %d)",
			d->nvml.describe ? d->nvml.describe(r) : "it says no more", r);
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

int gpu_devices_open(struct gpu_devices *d, const char *library, char *said, size_t n)
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

void gpu_devices_close(struct gpu_devices *d)
{
	for (size_t i = 0; i < d->n; i++)
		gpm_close(&d->v[i].gpm);
	if (d->is_started)
		d->nvml.shutdown();
	nvml_close(&d->nvml);
	memset(d, 0, sizeof *d);
}

void gpu_devices_describe(const struct gpu_devices *d, size_t i, struct gpu_track *out)
{
	struct nvml_device *handle = d->v[i].handle;

	if (!handle)
		return;
	gpu_read_name(&d->nvml, handle, out->name);
	if (!d->nvml.uuid || d->nvml.uuid(handle, out->uuid, sizeof out->uuid) != NVML_OK)
		out->uuid[0] = '\0';
	out->uuid[sizeof out->uuid - 1] = '\0';
}

void gpu_devices_read(struct gpu_devices *d, size_t i, struct gpu_sample *out)
{
	struct gpu_device *device = &d->v[i];

	*out = (struct gpu_sample){.at_ns = monotonic_ns()};
	/* GPM is read first, so that two looks are not nearer to each other than two samples. */
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

bool gpu_devices_has_process(
	const struct gpu_devices *d, size_t i, const pid_t *pids, size_t n_pids)
{
	struct nvml_device *handle = d->v[i].handle;

	return handle && (list_has(d->nvml.compute, handle, pids, n_pids) ||
				 list_has(d->nvml.graphics, handle, pids, n_pids));
}
