/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI's settings, which are the whole process's: ours during a capture, what they were after it. */
#ifndef PLUGINS_CUDA_ATTRIBUTES_H
#define PLUGINS_CUDA_ATTRIBUTES_H

#include <stdint.h>

struct cupti;

#define ATTRIBUTES_N 2

struct attributes {
	uint64_t before[ATTRIBUTES_N];
	int is_changed[ATTRIBUTES_N];
};

/* |has_zeroes|: the buffers that it is given are zero. */
void attributes_set(struct attributes *a, const struct cupti *cupti, int has_zeroes);
void attributes_restore(struct attributes *a, const struct cupti *cupti);

#endif
