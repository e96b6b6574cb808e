/* SPDX-License-Identifier: Apache-2.0 */
/* Which kinds of activity are recorded; see kinds.h. */
#include "lib/plugins/cuda/kinds.h"

#include <stddef.h>

#include "lib/plugins/cuda/cupti.h"
#include "lib/plugins/cuda/options.h"

enum use {
	ALWAYS,
	WITH_WAITS,
	WITH_MEMORY,
	WITH_GRAPH_TRACE,
};

/*
 * In the order in which they are turned on: contexts and streams first, which tell of those that there are, then graphs, which must
 * be before what is in them. CUPTI_KERNEL would let kernels run one at a time only.
 */
static const struct {
	uint32_t kind;
	enum use use;
	int is_dumped;
	const char *what;
} rows[] = {
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

#define N_ROWS (sizeof rows / sizeof rows[0])

static int is_asked_for(enum use use, const struct options *o)
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
	return 1;
}

static int enable(const struct cupti *cupti, size_t row)
{
	int result = CUPTI_UNKNOWN;

	if (rows[row].is_dumped && cupti->enable_and_dump)
		result = cupti->enable_and_dump(rows[row].kind);
	return result ? cupti->enable(rows[row].kind) : result;
}

/* Some programs ask a thousand times whether something is done. */
static void limit_waits(const struct cupti *cupti, int is_limited)
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
	for (size_t i = 0; i < N_ROWS; i++) {
		int result = is_asked_for(rows[i].use, options) ? enable(cupti, i) : -1;

		if (!result)
			k->enabled |= UINT64_C(1) << i;
		else if (result > 0 && rows[i].kind == CUPTI_CONCURRENT_KERNEL)
			return result;
		else if (result > 0)
			refused(context, rows[i].what, result);
	}
	return CUPTI_OK;
}

void kinds_disable(struct kinds *k, const struct cupti *cupti, int may_disable_kernels)
{
	for (size_t i = N_ROWS; i-- > 0;) {
		if (!(k->enabled & UINT64_C(1) << i))
			continue;
		if (rows[i].kind == CUPTI_SYNCHRONIZATION)
			limit_waits(cupti, 0);
		if (rows[i].kind != CUPTI_CONCURRENT_KERNEL || may_disable_kernels)
			cupti->disable(rows[i].kind);
	}
	k->enabled = 0;
}
