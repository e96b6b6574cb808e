/* SPDX-License-Identifier: Apache-2.0 */
/* What is missing in a capture; see losses.h. */
#include "lib/plugins/cuda/losses.h"

#include <string.h>

uint64_t losses_sum(const struct losses *l)
{
	uint64_t sum = 0;

	for (int reason = 0; reason < LOSSES_REASONS; reason++)
		for (int kind = 0; kind < PTAP_DEVICE_KINDS; kind++)
			sum += l->n[reason][kind];
	return sum;
}

static int emit_one(const struct ptap_collector_services *services, uint64_t at_ns, int reason,
	int kind, uint64_t n)
{
	struct ptap_device_record record = {
		.size = sizeof record,
		.kind = PTAP_DEVICE_LOSS,
		.start_ns = at_ns,
		.end_ns = at_ns,
		.of.loss = {.n = n, .reason = (uint32_t)reason, .kind = (uint32_t)kind},
	};

	return services->emit(&record);
}

int losses_emit(struct losses *l, const struct ptap_collector_services *services, uint64_t at_ns)
{
	int r = 0;

	for (int reason = 0; reason < LOSSES_REASONS; reason++)
		for (int kind = 0; kind < PTAP_DEVICE_KINDS && !r; kind++)
			if (l->n[reason][kind])
				r = emit_one(services, at_ns, reason, kind, l->n[reason][kind]);
	memset(l, 0, sizeof *l);
	return r;
}
