/* SPDX-License-Identifier: Apache-2.0 */
/* How many times a flow left and entered, by the name of the event. */
#ifndef TRACE_REPORT_FLOWS_H
#define TRACE_REPORT_FLOWS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/report/name_map.h"

struct item;

struct flow_ends {
	uint32_t name;
	uint64_t n_out;
	uint64_t n_in;
};

/* In order of first use. All zero is empty. */
struct flows {
	struct flow_ends *v;
	size_t n;
	size_t n_allocated;
	struct name_map places;
};

void flows_deinit(struct flows *flows);
int flows_add(struct flows *flows, const struct item *item); /* of an end. 0 or -ENOMEM */
void flows_keep(struct flows *flows, const uint8_t *wanted); /* as rows_keep() */

#endif
