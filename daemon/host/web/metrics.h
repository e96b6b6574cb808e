/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's metrics: a table of families, each with the function that writes its values. */
#ifndef DAEMON_METRICS_H
#define DAEMON_METRICS_H

#include <stddef.h>

#include "daemon/host/calls/ledger.h"
#include "daemon/host/web/conversions.h"
#include "daemon/host/web/recorded_values.h"
#include "http/server.h"

struct caller;
struct exposition;
struct host_service;
struct program;

/* Only the programs with the lowest pids have values of their own. Totals include all programs. */
#define METRICS_MAX_PROGRAMS 256u
/* The same limit for disks, for cores, and for each other kind of measured thing. */
#define METRICS_MAX_THINGS 256u

/* The state of the daemon at one moment, from which the families are written. */
struct metrics {
	struct host_service *host; /* borrowed */
	const struct caller *caller; /* of the request; borrowed */
	const struct program *programs; /* those that the caller may see, by pid */
	size_t n_programs;
	struct http_counts http;
	struct ledger_sums sums;
	struct conversion_counts conversions;
	struct recorded_values recorded;
};

/* Writes all families. Reads some files of /proc. Any thread may call it. */
void metrics_write(const struct metrics *m, struct exposition *e);

/*
 * Writes the resource usage of this process under the metric names of Prometheus' client
 * libraries. Values that cannot be read from /proc are left out. See own_usage.c. Any thread may
 * call it.
 */
void own_usage_write(struct exposition *e);

#endif
