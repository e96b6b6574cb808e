/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds the losses of devices' records, by reason, as stats of the process's plane and as warnings
 * for people.
 */
#ifndef DAEMON_DEVICE_LOSSES_H
#define DAEMON_DEVICE_LOSSES_H

#include <stdint.h>

struct device_scope;
struct device_records;
struct plane;
struct space;

/* Losses that were noticed when devices were drawn. */
struct device_losses {
	uint64_t n_unplaced; /* records of collectors whose clocks are unknown */
	uint64_t n_outside; /* records outside of the recording */
	uint64_t n_inside;
	/* records without a span, because there were too many different spans */
	uint64_t n_unannotated;
};

/* |*n_dropped| is the number of records that were dropped. 0 or -ENOMEM. */
int device_losses_add(const struct device_records *d, const struct device_losses *seen,
	const struct device_scope *scope, struct plane *host, struct space *space,
	uint64_t *n_dropped);

#endif
