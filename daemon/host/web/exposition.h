/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics in the text format 0.0.4 of Prometheus. All readers of OpenMetrics read this format as
 * well, and promtool reads only this one: its parser does not know that OpenMetrics names a family
 * of counters differently from its samples.
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
	const char *name; /* ends with the unit, without _total or _info */
	enum exposition_type type;
	const char *help;
};

struct exposition {
	FILE *out;
	const struct exposition_family *family; /* of the values that follow */
};

/* A list of labels ends with a NULL name. In values, bytes that are no UTF-8 become '?'. */
struct exposition_label {
	const char *name;
	const char *value;
};

/* The media type, for Content-Type. */
#define EXPOSITION_MEDIA_TYPE "text/plain; version=0.0.4; charset=utf-8"

void exposition_begin(struct exposition *e, FILE *out);
/* Begins |family|, which must not come twice. */
void exposition_open(struct exposition *e, const struct exposition_family *family);
/* Writes a value of a counter or a gauge. |labels| NULL: none. */
void exposition_count(struct exposition *e, const struct exposition_label *labels, uint64_t value);
void exposition_value(struct exposition *e, const struct exposition_label *labels, double value);
/* Writes the value of an info. */
void exposition_info(struct exposition *e, const struct exposition_label *labels);
/*
 * Writes a histogram with |n| bounds and |n| + 1 counts of the values between them. |bounds| and
 * |sum| are multiples of |scale| units (1e-9 for nanoseconds).
 */
void exposition_histogram(struct exposition *e, const uint64_t *bounds, const uint64_t *counts,
	unsigned n, uint64_t sum, double scale);

#endif
