/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI's clock and CLOCK_MONOTONIC at one moment; see anchor.h. */
#include "lib/plugins/cuda/anchor.h"

#include <proftap/collector.h>

#include "lib/plugins/cuda/cupti.h"

/* One of so many is not interrupted. */
#define N_READINGS 8

int anchor_take(
	const struct cupti *c, const struct ptap_collector_services *services, struct anchor *out)
{
	int64_t narrowest = INT64_MAX;

	for (int i = 0; i < N_READINGS; i++) {
		int64_t before = services->monotonic_ns();
		uint64_t cupti_ns = 0;
		int result = c->get_timestamp(&cupti_ns);
		int64_t took = services->monotonic_ns() - before;

		if (result)
			return result;
		if (took >= narrowest)
			continue;
		narrowest = took;
		out->cupti_ns = cupti_ns;
		out->monotonic_ns = before + took / 2;
	}
	return CUPTI_OK;
}

int anchor_emit(const struct anchor *a, const struct ptap_collector_services *services)
{
	struct ptap_device_record record = {
		.size = sizeof record,
		.kind = PTAP_DEVICE_ANCHOR,
		.start_ns = a->cupti_ns,
		.end_ns = (uint64_t)a->monotonic_ns,
	};

	return services->emit(&record);
}
