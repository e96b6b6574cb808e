/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of activity that are recorded, and CUPTI's settings; see activity.h. */
#include "lib/plugins/cuda/activity.h"

#include <stddef.h>
#include <string.h>

#include "lib/plugins/cuda/cupti.h"
#include "lib/plugins/cuda/options.h"

enum kind_use {
	ALWAYS,
	WITH_WAITS,
	WITH_MEMORY,
	WITH_GRAPH_TRACE,
};

/*
 * The order in which kinds are enabled: contexts and streams first, whose records list the existing
 * ones; then graphs, which must come before the activities in them. CUPTI_KERNEL would serialise
 * kernels.
 */
static const struct {
	uint32_t kind;
	enum kind_use use;
	bool is_dumped;
	const char *what;
} kind_rows[] = {
	{CUPTI_CONTEXT, ALWAYS, 1, "recording contexts"},
	{CUPTI_STREAM, ALWAYS, 1, "recording streams"},
	{CUPTI_GRAPH_TRACE, WITH_GRAPH_TRACE, 0, "recording graphs as a whole"},
	{CUPTI_CONCURRENT_KERNEL, ALWAYS, 0, "recording kernels"},
	{CUPTI_MEMCPY, ALWAYS, 0, "recording copies"},
	{CUPTI_MEMCPY2, ALWAYS, 0, "recording copies between devices"},
	{CUPTI_MEMSET, ALWAYS, 0, "recording memory that is filled"},
	{CUPTI_OVERHEAD, ALWAYS, 0, "recording the overhead"},
	{CUPTI_SYNCHRONIZATION, WITH_WAITS, 0, "recording waits"},
	{CUPTI_MEMORY2, WITH_MEMORY, 0, "recording allocations"},
	{CUPTI_MEMORY_POOL, WITH_MEMORY, 0, "recording memory pools"},
};

#define N_KIND_ROWS (sizeof kind_rows / sizeof kind_rows[0])

static bool is_kind_wanted(enum kind_use use, const struct options *o)
{
	switch (use) {
	case WITH_WAITS:
		return o->has_waits;
	case WITH_MEMORY:
		return o->has_memory;
	case WITH_GRAPH_TRACE:
		return o->has_graph_trace;
	case ALWAYS:
		break;
	}
	return true;
}

static int enable_kind(const struct cupti *cupti, size_t row)
{
	int result = CUPTI_UNKNOWN;

	if (kind_rows[row].is_dumped && cupti->enable_and_dump)
		result = cupti->enable_and_dump(kind_rows[row].kind);
	return result ? cupti->enable(kind_rows[row].kind) : result;
}

/*
 * Some programs poll a thousand times for the end of a stream or event; those polls are left out.
 */
static void limit_waits(const struct cupti *cupti, bool is_limited)
{
	if (cupti->enable_all_waits)
		cupti->enable_all_waits(!is_limited);
}

int kinds_enable(struct kinds *k, const struct cupti *cupti, const struct options *options,
	void (*refused)(void *context, const char *what, int result), void *context)
{
	k->enabled = 0;
	if (options->has_waits)
		limit_waits(cupti, 1);
	for (size_t i = 0; i < N_KIND_ROWS; i++) {
		int result = is_kind_wanted(kind_rows[i].use, options) ? enable_kind(cupti, i) : -1;

		if (!result)
			k->enabled |= UINT64_C(1) << i;
		else if (result > 0 && kind_rows[i].kind == CUPTI_CONCURRENT_KERNEL)
			return result;
		else if (result > 0)
			refused(context, kind_rows[i].what, result);
	}
	return CUPTI_OK;
}

void kinds_disable(struct kinds *k, const struct cupti *cupti, bool may_disable_kernels)
{
	for (size_t i = N_KIND_ROWS; i-- > 0;) {
		if (!(k->enabled & UINT64_C(1) << i))
			continue;
		if (kind_rows[i].kind == CUPTI_SYNCHRONIZATION)
			limit_waits(cupti, 0);
		if (kind_rows[i].kind != CUPTI_CONCURRENT_KERNEL || may_disable_kernels)
			cupti->disable(kind_rows[i].kind);
	}
	k->enabled = 0;
}

/* --- settings ------------------------------------------------------------------------------ */

static const struct {
	uint32_t attribute;
	size_t n_bytes;
	uint64_t value;
	bool is_for_zeroed_buffers;
} attribute_rows[ATTRIBUTES_N] = {
	/* buffers of 3.2 MB of device memory each; CUPTI's own limit is 250 */
	{CUPTI_DEVICE_BUFFER_POOL_LIMIT, sizeof(size_t), 20, 0},
	/* Otherwise CUPTI zeroes each buffer on the program's thread that needs it. */
	{CUPTI_ZEROED_OUT_ACTIVITY_BUFFER, sizeof(uint8_t), 1, 1},
};

static int set_attribute_row(const struct cupti *cupti, int row, uint64_t value)
{
	size_t n = attribute_rows[row].n_bytes;

	return cupti->set_attribute(attribute_rows[row].attribute, &n, &value);
}

void attributes_set(struct attributes *a, const struct cupti *cupti, bool has_zeroes)
{
	memset(a, 0, sizeof *a);
	for (int i = 0; i < ATTRIBUTES_N; i++) {
		size_t n = attribute_rows[i].n_bytes;

		if (attribute_rows[i].is_for_zeroed_buffers && !has_zeroes)
			continue;
		if (cupti->get_attribute(attribute_rows[i].attribute, &n, &a->before[i]))
			continue;
		a->is_changed[i] = a->before[i] != attribute_rows[i].value &&
				   !set_attribute_row(cupti, i, attribute_rows[i].value);
	}
}

void attributes_restore(struct attributes *a, const struct cupti *cupti)
{
	for (int i = 0; i < ATTRIBUTES_N; i++) {
		if (a->is_changed[i])
			set_attribute_row(cupti, i, a->before[i]);
		a->is_changed[i] = 0;
	}
}
