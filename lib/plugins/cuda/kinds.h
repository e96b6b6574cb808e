/* SPDX-License-Identifier: Apache-2.0 */
/* Which kinds of activity are recorded in a capture. */
#ifndef PLUGINS_CUDA_KINDS_H
#define PLUGINS_CUDA_KINDS_H

#include <stdint.h>

struct cupti;
struct options;

struct kinds {
	uint64_t enabled; /* a bit a row of the table */
};

/*
 * Turns on what |options| ask for. Returns CUPTI_OK, or the result for kernels, without which there is no recording. What else
 * cannot be had is told to |refused|, one call each.
 */
int kinds_enable(struct kinds *k, const struct cupti *cupti, const struct options *options,
	void (*refused)(void *context, const char *what, int result), void *context);

/* Turns off what was turned on, kernels only if |may_disable_kernels|. */
void kinds_disable(struct kinds *k, const struct cupti *cupti, int may_disable_kernels);

#endif
