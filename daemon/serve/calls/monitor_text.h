/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of Monitor: numbers, and a text for people. */
#ifndef DAEMON_MONITOR_TEXT_H
#define DAEMON_MONITOR_TEXT_H

#include <stdio.h>

#include "tsl/profiler/protobuf/profiler_service_monitor_result.pb-c.h"

struct step_times;
struct target;
struct usage;

struct monitor_text {
	FILE *to;
	const struct target *target;
	const struct usage *usage; /* finished */
	const struct step_times *steps; /* NULL: not known */
	double seconds; /* for which it was measured */
	int is_detailed;
	int is_stamped; /* a time in front */
};

/* Writes the text, one fact a line, all of it printable, and fills in |result|. */
void monitor_text_write(
	const struct monitor_text *m, Tensorflow__ProfilerServiceMonitorResult *result);

#endif
