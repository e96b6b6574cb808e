/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums device time by launcher: the operator that a kernel names (tf_op, hlo_op), or else the
 * innermost span around the call that launched it, which is found by its flow. The list of calls
 * takes 16 bytes for each flow that leaves a thread.
 */
#ifndef TRACE_REPORT_LAUNCHES_H
#define TRACE_REPORT_LAUNCHES_H

#include <stddef.h>
#include <stdint.h>

#include "trace/model/names.h"

struct diag;
struct digest;

#define LAUNCHES_UNKNOWN "(not known)" /* launcher of kernels with neither an operator nor a call */

struct launcher {
	uint32_t name; /* index into the names of the list */
	uint64_t n_kernels; /* kernels and copies */
	uint64_t n_launches; /* calls that are in the trace: one may launch a graph of kernels */
	int64_t device_ns;
};

/* Launchers, sorted by device time, most first. A list of all zero bytes is empty. */
struct launcher_list {
	struct names names;
	struct launcher *v; /* as many as |names| */
	size_t n_allocated;
	int64_t device_ns; /* device time of all */
};

/*
 * Reads |g|'s view again if it has devices. 0, or a negative errno with |d|; call
 * launcher_list_deinit() in any case.
 */
int launcher_list_make(const struct digest *g, struct launcher_list *out, struct diag *d);
void launcher_list_deinit(struct launcher_list *l);

#endif
