/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of GPUs; see gpu_lines.h. */
#include "daemon/pipeline/assembly/gpu_lines.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/printable.h"
#include "daemon/pipeline/assembly/counters.h"
#include "daemon/pipeline/devices/device_plane.h"
#include "daemon/pipeline/nvml/gpu_samples.h"
#include "trace/model/space.h"

/* The names are those of XLA if it has the counter. */
static const struct {
	const char *name;
	double scale;
} readings[N_GPU_ROWS] = {
	[GPU_BUSY] = {"gpu_busy_pct", 1},
	[GPU_MEMORY_BUSY] = {"memory_busy_pct", 1},
	[GPU_MEMORY_USED] = {"memory_used_mib", 1.0 / (1 << 20)},
	[GPU_POWER] = {"power_mw", 1000},
	[GPU_TEMPERATURE] = {"gpu_temp_c", 1},
	[GPU_CLOCK] = {"sm_clock_mhz", 1},
	[GPU_MEMORY_CLOCK] = {"memory_clock_mhz", 1},
};

static const char *const means[N_GPM_ROWS] = {
	[GPM_SM_ACTIVE] = "sm_active_pct",
	[GPM_SM_OCCUPANCY] = "sm_occupancy_pct",
	[GPM_TENSOR_ACTIVE] = "tensor_active_pct",
	[GPM_DRAM_ACTIVE] = "dram_active_pct",
	[GPM_PCIE_TX] = "pcie_tx_mib_s",
	[GPM_PCIE_RX] = "pcie_rx_mib_s",
	[GPM_NVLINK_TX] = "nvlink_tx_mib_s",
	[GPM_NVLINK_RX] = "nvlink_rx_mib_s",
};

/*
 * The samples that are shown: from the last one before the start to the last one before the stop.
 */
struct sample_window {
	const struct gpu_sample *v;
	size_t n;
};

static struct sample_window find_window(
	const struct gpu_track *t, int64_t start_ns, int64_t stop_ns)
{
	size_t first = 0;
	size_t end = t->n;

	while (end && t->v[end - 1].at_ns > stop_ns)
		end--;
	while (first + 1 < end && t->v[first + 1].at_ns <= start_ns)
		first++;
	return (struct sample_window){t->v + first, end - first};
}

/* --- one device ----------------------------------------------------------------------------- */

static int draw_reading(struct counter_drawing *g, const struct sample_window *w, int row)
{
	bool is_begun = false;
	int r = 0;

	for (size_t i = 0; i < w->n && !r; i++) {
		double value = w->v[i].reading[row];

		if (isnan(value))
			continue;
		if (!is_begun)
			r = counter_drawing_begin(g, readings[row].name);
		is_begun = true;
		if (!r)
			r = counter_drawing_add(g, w->v[i].at_ns, readings[row].scale * value);
	}
	return r;
}

static int draw_mean(struct counter_drawing *g, const struct sample_window *w, int row)
{
	const struct gpu_sample *last = NULL;
	int r = 0;

	for (size_t i = 0; i < w->n && !r; i++) {
		const struct gpu_sample *sample = &w->v[i];

		if (!sample->gpm_since_ns || isnan(sample->gpm[row]) ||
			sample->at_ns <= g->start_ns)
			continue;
		if (!last)
			r = counter_drawing_begin(g, means[row]);
		if (!r)
			r = counter_drawing_add(g, sample->gpm_since_ns, sample->gpm[row]);
		last = sample;
	}
	return r || !last ? r : counter_drawing_add(g, last->at_ns, last->gpm[row]);
}

static int draw_counters(struct counter_drawing *g, const struct sample_window *w)
{
	int r = 0;

	for (int i = 0; i < N_GPU_ROWS && !r; i++)
		if (readings[i].name)
			r = draw_reading(g, w, i);
	for (int i = 0; i < N_GPM_ROWS && !r; i++)
		r = draw_mean(g, w, i);
	return r ? r : counter_drawing_finish(g);
}

static int draw_device(
	const struct gpu_track *t, int64_t start_ns, int64_t stop_ns, struct plane *plane)
{
	struct sample_window w = find_window(t, start_ns, stop_ns);
	struct counter_drawing g;
	int r = counter_drawing_init(&g, plane, start_ns, stop_ns);

	if (!r)
		r = draw_counters(&g, &w);
	counter_drawing_deinit(&g);
	return r;
}

/* --- all devices ---------------------------------------------------------------------------- */

static const struct gpu_track *find_track(const struct gpu_samples *samples, const char *uuid)
{
	for (size_t i = 0; uuid && i < samples->n; i++)
		if (samples->tracks[i].uuid[0] && strcmp(samples->tracks[i].uuid, uuid) == 0)
			return &samples->tracks[i];
	return NULL;
}

/* Draws the devices whose planes have a UUID. Returns their number, or -ENOMEM. */
static int draw_by_uuid(const struct gpu_samples *samples, int64_t start_ns, int64_t stop_ns,
	const struct space *space)
{
	int n = 0;

	for (size_t i = 0; i < space->n_planes; i++) {
		struct plane *plane = space->planes[i];
		const struct gpu_track *t = NULL;

		if (strncmp(plane->name, DEVICE_PLANE_PREFIX, strlen(DEVICE_PLANE_PREFIX)) == 0)
			t = find_track(samples, plane_find_text(plane, DEVICE_PLANE_UUID));
		if (t && draw_device(t, start_ns, stop_ns, plane))
			return -ENOMEM;
		n += t != NULL;
	}
	return n;
}

static int describe_device(const struct gpu_track *t, pid_t pid, struct plane *plane)
{
	char name[GPU_NAME_BYTES];

	memcpy(name, t->name, sizeof name);
	printable_clean(name);
	if (plane_set_int(plane, "process_id", pid) ||
		plane_set_string(plane, "device_vendor", "Nvidia") ||
		(name[0] && plane_set_string(plane, "gpu_device_name", name)))
		return -ENOMEM;
	return 0;
}

/*
 * Returns the plane of the device |i|; a new one, with the id |i|, if there is none. (XProf tells
 * devices apart by their planes' ids, if these are 500 at most.) NULL when memory ran out.
 */
static struct plane *get_plane(struct space *space, const struct gpu_track *t, size_t i, pid_t pid)
{
	struct plane *plane;
	char name[sizeof DEVICE_PLANE_PREFIX + 20]; /* room for the digits of any number */

	snprintf(name, sizeof name, DEVICE_PLANE_PREFIX "%zu", i);
	plane = space_find_plane(space, name);
	if (plane)
		return plane;
	plane = space_add_plane(space, (int64_t)i, name);
	return plane && !describe_device(t, pid, plane) ? plane : NULL;
}

static bool is_any_used(const struct gpu_samples *samples)
{
	for (size_t i = 0; i < samples->n; i++)
		if (samples->tracks[i].is_used)
			return true;
	return false;
}

static int draw_by_number(const struct gpu_samples *samples, int64_t start_ns, int64_t stop_ns,
	pid_t pid, struct space *space)
{
	bool is_chosen = is_any_used(samples);

	for (size_t i = 0; i < samples->n; i++) {
		const struct gpu_track *t = &samples->tracks[i];
		struct plane *plane;

		if (!find_window(t, start_ns, stop_ns).n || (is_chosen && !t->is_used))
			continue;
		plane = get_plane(space, t, i, pid);
		if (!plane || draw_device(t, start_ns, stop_ns, plane))
			return -ENOMEM;
	}
	return 0;
}

int gpu_lines_add(const struct gpu_samples *samples, int64_t start_ns, int64_t stop_ns, pid_t pid,
	struct space *space)
{
	int n = draw_by_uuid(samples, start_ns, stop_ns, space);

	if (n)
		return n < 0 ? n : 0;
	return draw_by_number(samples, start_ns, stop_ns, pid, space);
}
