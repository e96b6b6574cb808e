/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's settings; see attributes.h. One whose value cannot be read is left alone, for nobody could set it back. Left alone in any
 * case: whether each thread has a buffer of its own, and the clock (see anchor.h).
 */
#include "lib/plugins/cuda/attributes.h"

#include <string.h>

#include "lib/plugins/cuda/cupti.h"

static const struct {
	uint32_t attribute;
	size_t n_bytes;
	uint64_t value;
	int is_of_zeroes;
} rows[ATTRIBUTES_N] = {
	/* Of 3.2 MB of device memory each; CUPTI's own limit is 250. */
	{CUPTI_DEVICE_BUFFER_POOL_LIMIT, sizeof(size_t), 20, 0},
	/* Else it zeroes each buffer on the thread of the program that needs it. */
	{CUPTI_ZEROED_OUT_ACTIVITY_BUFFER, sizeof(uint8_t), 1, 1},
};

static int set(const struct cupti *cupti, int row, uint64_t value)
{
	size_t n = rows[row].n_bytes;

	return cupti->set_attribute(rows[row].attribute, &n, &value);
}

void attributes_set(struct attributes *a, const struct cupti *cupti, int has_zeroes)
{
	memset(a, 0, sizeof *a);
	for (int i = 0; i < ATTRIBUTES_N; i++) {
		size_t n = rows[i].n_bytes;

		if (rows[i].is_of_zeroes && !has_zeroes)
			continue;
		if (cupti->get_attribute(rows[i].attribute, &n, &a->before[i]))
			continue;
		a->is_changed[i] = a->before[i] != rows[i].value && !set(cupti, i, rows[i].value);
	}
}

void attributes_restore(struct attributes *a, const struct cupti *cupti)
{
	for (int i = 0; i < ATTRIBUTES_N; i++) {
		if (a->is_changed[i])
			set(cupti, i, a->before[i]);
		a->is_changed[i] = 0;
	}
}
