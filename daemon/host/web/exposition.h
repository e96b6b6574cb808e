/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics as text for Prometheus and others, in its text format 0.0.4. All that read OpenMetrics read this one, too, and promtool
 * reads no other: its parser does not know that OpenMetrics calls a family of counters otherwise than its samples.
 */
#ifndef DAEMON_EXPOSITION_H
#define DAEMON_EXPOSITION_H

#include <stdint.h>
#include <stdio.h>

enum exposition_type {
	EXPOSITION_COUNTER,
	EXPOSITION_GAUGE,
	EXPOSITION_HISTOGRAM,
	EXPOSITION_INFO,
};

/* A family of metrics. */
struct exposition_family {
	const char *name; /* without _total, _info and the like; with its unit at the end */
	enum exposition_type type;
	const char *help;
};

struct exposition {
	FILE *out;
	const struct exposition_family *family; /* whose values come */
};

#define EXPOSITION_MAX_LABELS 4

/* Ends with one without a name. Values may hold anything; bytes that are no UTF-8 become '?'. */
struct exposition_label {
	const char *name;
	const char *value;
};

/* The media type, for Content-Type. */
#define EXPOSITION_MEDIA_TYPE "text/plain; version=0.0.4; charset=utf-8"

void exposition_begin(struct exposition *e, FILE *out);
/* What comes is of |family|, which comes once. */
void exposition_open(struct exposition *e, const struct exposition_family *family);
/* Of a counter or a gauge. |labels| NULL: none. */
void exposition_count(struct exposition *e, const struct exposition_label *labels, uint64_t value);
void exposition_value(struct exposition *e, const struct exposition_label *labels, double value);
/* Writes the value of an info. */
void exposition_info(struct exposition *e, const struct exposition_label *labels);
/*
 * Of a histogram: |n| bounds, and |n| + 1 counts of what lies between them. What they and |sum| count is |scale| of the unit (1e-9 for
 * nanoseconds).
 */
void exposition_histogram(struct exposition *e, const uint64_t *bounds, const uint64_t *counts,
	unsigned n, uint64_t sum, double scale);

#endif
