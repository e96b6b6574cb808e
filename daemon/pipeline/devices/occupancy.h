/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The occupancy of a multiprocessor of an NVIDIA GPU by a kernel's launch, as CUDA's occupancy
 * calculator finds it from the warps, registers and shared memory of a block.
 */
#ifndef DAEMON_OCCUPANCY_H
#define DAEMON_OCCUPANCY_H

#include "lib/wire/device.h"

struct occupancy {
	/* of the threads that a multiprocessor can have; 0: unknown, or the kernel cannot run */
	double percent;
	int min_grid; /* blocks of |block_size| that fill the device */
	int block_size; /* threads per block for the highest occupancy; 0: unknown */
};

/* |info| may have any values, also all zero. */
struct occupancy occupancy_find(const struct device_info *info, const struct device_kernel *kernel);

#endif
