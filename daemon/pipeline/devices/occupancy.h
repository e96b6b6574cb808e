/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How full a kernel's launch can make a multiprocessor of an NVIDIA GPU: as CUDA's occupancy calculator has it, by what a block takes
 * of warps, registers and shared memory.
 */
#ifndef DAEMON_OCCUPANCY_H
#define DAEMON_OCCUPANCY_H

#include "lib/wire/device.h"

struct occupancy {
	double percent; /* of the threads that a multiprocessor can have; 0: unknown, or it cannot run */
	int min_grid; /* blocks that fill the device, of the suggested size */
	int block_size; /* threads of a block that gets the most out of it; 0: unknown */
};

/* |info| may be all zero, or anything. */
struct occupancy occupancy_find(const struct device_info *info, const struct device_kernel *kernel);

#endif
