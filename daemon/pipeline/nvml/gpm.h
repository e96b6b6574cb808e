/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of a device's hardware, from Hopper on: means over the time between two looks, which the driver refreshes each 100 ms. They need no rights, no
 * context, and nothing in the program.
 */
#ifndef DAEMON_GPM_H
#define DAEMON_GPM_H

#include <stdint.h>

struct nvml;
struct nvml_device;
struct nvml_gpm_sample;

enum {
	GPM_SM_ACTIVE, /* %, as the three below */
	GPM_SM_OCCUPANCY,
	GPM_TENSOR_ACTIVE,
	GPM_DRAM_ACTIVE,
	GPM_PCIE_TX, /* MiB/s from the device, as those below */
	GPM_PCIE_RX,
	GPM_NVLINK_TX,
	GPM_NVLINK_RX,
	N_GPM_ROWS
};

struct gpm {
	const struct nvml *nvml; /* borrowed */
	struct nvml_device *device; /* NULL: it has no such counters */
	struct nvml_gpm_sample *looks[2];
	int newest; /* of looks */
	int64_t at_ns; /* of the newest look; 0: there is none */
};

/* The caller closes it, also when the device has no such counters. */
void gpm_open(struct gpm *g, const struct nvml *nvml, struct nvml_device *device);
void gpm_close(struct gpm *g); /* all zero is closed */

/*
 * Looks when the last time is 100 ms ago, |now_ns| (CLOCK_MONOTONIC) being now. 1: |values| are the means since *since_ns,
 * NAN for what the device does not tell; else 0, and they are all NAN.
 */
int gpm_read(struct gpm *g, int64_t now_ns, double values[N_GPM_ROWS], int64_t *since_ns);

#endif
