/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for the names of counters: a name can have several string ids, and is one counter all the same. */
#ifndef DAEMON_DEVICE_METRICS_H
#define DAEMON_DEVICE_METRICS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/model/names.h"

struct arena;
struct purse;

#define DEVICE_METRICS_FULL 1

/* All zero is empty. */
struct device_metrics {
	struct names names;
	uint32_t *number_of; /* by string id: number + 1; 0: not seen yet */
	size_t n_ids;
};

void device_metrics_deinit(struct device_metrics *m);
/* 0 with *number_out, -ENOMEM, or DEVICE_METRICS_FULL: |purse| has no room for a new name. */
int device_metrics_find(struct device_metrics *m, struct arena *arena, uint32_t id,
	struct purse *purse, uint32_t *number_out);

#endif
