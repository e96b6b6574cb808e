/* SPDX-License-Identifier: Apache-2.0 */
/* What spans of one name amount to, and lists of that. */
#ifndef TRACE_REPORT_ROWS_H
#define TRACE_REPORT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/report/name_map.h"
#include "trace/report/sample.h"

struct names;

#define ROW_SLOWEST 16

/* One that took long. */
struct slow_step {
	int64_t number;
	int64_t start_ns;
	int64_t duration_ns;
};

struct row {
	uint32_t name; /* index into the view's */
	uint64_t count; /* > 0 */
	uint64_t n_unfinished;
	uint64_t n_steps; /* of them are steps */
	int64_t total_ns;
	int64_t self_ns;
	int64_t min_ns;
	int64_t max_ns;
	int64_t p50_ns; /* from rows_finish() on, and so on */
	int64_t p99_ns;
	struct sample durations;
	struct slow_step *slowest; /* of steps, longest first; NULL: no list of steps */
	size_t n_slowest;
};

/* All zero is empty. */
struct rows {
	struct row *v;
	size_t n;
	size_t n_allocated;
	struct name_map places;
};

/* What they are sorted by: numbers descending, names ascending. */
enum row_key {
	ROW_SELF,
	ROW_TOTAL,
	ROW_COUNT,
	ROW_MEAN,
	ROW_P50,
	ROW_P99,
	ROW_MAX,
	ROW_NAME,
};

void rows_deinit(struct rows *rows);
/* One more span. Its place in |v| until they are sorted, or -ENOMEM. */
int64_t rows_add(struct rows *rows, uint32_t name, int64_t duration_ns, bool is_unfinished);
/* The same of a step, which may be among the slowest. 0 or -ENOMEM. */
int rows_add_step(
	struct rows *rows, uint32_t name, const struct slow_step *step, bool is_unfinished);
/* Adds those of |from|, whose durations are moved; all the rest of it stays. 0 or -ENOMEM. */
int rows_take(struct rows *rows, struct rows *from);
/* Finds the percentiles. */
void rows_finish(struct rows *rows);
/* No more are added to these: what is there for it is given back. */
void rows_trim(struct rows *rows);
/* Drops those whose names are not wanted, by index; NULL: all are. */
void rows_keep(struct rows *rows, const uint8_t *wanted);
void rows_sort(struct rows *rows, enum row_key key, const struct names *names);
/* What the row has of the key; 0 for ROW_NAME. */
int64_t row_get(const struct row *row, enum row_key key);

#endif
