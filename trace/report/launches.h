/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device time by what launched it: by the operator that a kernel names (tf_op, hlo_op), or else by the innermost span around the
 * call that launched it, which a flow leads to. Takes 16 bytes for each end of a flow on threads.
 */
#ifndef TRACE_REPORT_LAUNCHES_H
#define TRACE_REPORT_LAUNCHES_H

#include <stddef.h>
#include <stdint.h>

#include "trace/model/names.h"

struct diag;
struct digest;

#define LAUNCHES_UNKNOWN "(not known)" /* neither an operator nor a call */

struct launcher {
	uint32_t name; /* index into the names of the list */
	uint64_t n_kernels; /* and copies */
	uint64_t n_launches; /* calls that are in the trace: one may launch a graph of kernels */
	int64_t device_ns;
};

/* Most device time first. All zero is empty. */
struct launches {
	struct names names;
	struct launcher *v; /* as many as there are names */
	size_t n_allocated;
	int64_t device_ns; /* of all */
};

/* Reads |g|'s view again if it has devices. 0, or a negative errno with |d|; launches_deinit() in any case. */
int launches_make(const struct digest *g, struct launches *out, struct diag *d);
void launches_deinit(struct launches *l);

#endif
