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

/* At most so many programs, by pid, have values of their own; all programs are counted. */
#define METRICS_MAX_PROGRAMS 256u
/* The same limit for disks, cores and the like, each kind by itself. */
#define METRICS_MAX_THINGS 256u

/* What is told, as it was at one moment. */
struct metrics {
	struct host_service *host; /* borrowed */
	const struct caller *caller; /* who asks; borrowed */
	const struct program *programs; /* those that who asks may see, by pid */
	size_t n_programs;
	struct http_counts http;
	struct ledger_sums sums;
	struct conversion_counts conversions;
	struct recorded_values recorded;
};

/* All families. Reads some files of /proc. Any thread. */
void metrics_write(const struct metrics *m, struct exposition *e);

#endif
