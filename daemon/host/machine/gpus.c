/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs, by NVML: what its thread heard for the sample before. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/printable.h"
#include "daemon/host/machine/gpu_thread.h"
#include "daemon/host/machine/history.h"
#include "daemon/host/machine/machine.h"
#include "daemon/host/machine/source.h"

/* An older answer says nothing of this sample: the driver hangs. */
#define MAX_AGE_NS (5 * NS_PER_S / 2)

/* Those of a machine: GPU_MEMORY_TOTAL is the last. */
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

static void take(
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
		take(sampling, i, &g->readings.v[i]);
}

static void close_gpus(void *state)
{
	struct gpus *g = state;

	gpu_thread_stop(g->thread);
}

const struct machine_source source_gpus = {sizeof(struct gpus), open_gpus, read_gpus, close_gpus};
