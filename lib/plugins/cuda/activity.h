/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of activity that a capture records, and CUPTI's settings. */
#ifndef PLUGINS_CUDA_ACTIVITY_H
#define PLUGINS_CUDA_ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

struct cupti;
struct options;

struct kinds {
	uint64_t enabled; /* one bit for each row of the table */
};

/*
 * Enables the kinds that |options| want. Returns CUPTI_OK, or the result for kernels, without which
 * there is no recording. |refused| is called for each other kind that fails.
 */
int kinds_enable(struct kinds *k, const struct cupti *cupti, const struct options *options,
	void (*refused)(void *context, const char *what, int result), void *context);

/* Disables the enabled kinds, kernels only if |may_disable_kernels|. */
void kinds_disable(struct kinds *k, const struct cupti *cupti, bool may_disable_kernels);

/* --- settings ------------------------------------------------------------------------------ */

/*
 * CUPTI's settings hold for the whole process: a capture changes them and restores them after it. A
 * setting whose value cannot be read is left alone, because it could not be restored. Two settings
 * are never changed: whether each thread has a buffer of its own, and the clock (see struct
 * anchor).
 */
#define ATTRIBUTES_N 2

struct attributes {
	uint64_t before[ATTRIBUTES_N];
	int is_changed[ATTRIBUTES_N];
};

/* |has_zeroes|: CUPTI gets zeroed buffers. */
void attributes_set(struct attributes *a, const struct cupti *cupti, bool has_zeroes);
void attributes_restore(struct attributes *a, const struct cupti *cupti);

#endif
