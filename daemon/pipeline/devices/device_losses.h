/* SPDX-License-Identifier: Apache-2.0 */
/* What is missing of devices, and why: as stats of the process's plane and as warnings for people. */
#ifndef DAEMON_DEVICE_LOSSES_H
#define DAEMON_DEVICE_LOSSES_H

#include <stdint.h>

struct device_scope;
struct devices;
struct plane;
struct space;

/* What was noticed when they were drawn. */
struct device_losses {
	uint64_t n_unplaced; /* of collectors whose clocks nobody knows */
	uint64_t n_outside; /* of the recording */
	uint64_t n_inside;
	uint64_t n_unannotated; /* the spans that they belong to were too many different ones */
};

/* |*n_dropped|: how many records are not in the trace that should be. 0 or -ENOMEM. */
int device_losses_add(const struct devices *d, const struct device_losses *seen,
	const struct device_scope *scope, struct plane *host, struct space *space,
	uint64_t *n_dropped);

#endif
