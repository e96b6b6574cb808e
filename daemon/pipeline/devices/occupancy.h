/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The occupancy of a multiprocessor of an NVIDIA GPU by a kernel's launch, as CUDA's occupancy
 * calculator finds it from the warps, registers and shared memory of a block.
 */
#ifndef DAEMON_OCCUPANCY_H
#define DAEMON_OCCUPANCY_H

#include "lib/wire/device.h"

struct occupancy {
	/* of the threads that a multiprocessor can have; 0: unknown, or it cannot run */
	double percent;
	int min_grid; /* blocks that fill the device, of the suggested size */
	int block_size; /* threads of a block that gets the most out of it; 0: unknown */
};

/* |info| may be all zero, or anything. */
struct occupancy occupancy_find(const struct device_info *info, const struct device_kernel *kernel);

#endif
