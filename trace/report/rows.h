/* SPDX-License-Identifier: Apache-2.0 */
/* Rows sum up the spans of one name; lists of rows, and lists of ends of flows by name. */
#ifndef TRACE_REPORT_ROWS_H
#define TRACE_REPORT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/report/name_map.h"
#include "trace/report/sample.h"

struct item;
struct names;

#define ROW_SLOWEST 16

/* A step that took long. */
struct slow_step {
	int64_t number;
	int64_t start_ns;
	int64_t duration_ns;
};

#define ROW_OUTERMOST UINT32_MAX
#define ROW_P999_FEWEST 1000 /* fewest whole spans for which the 99.9th percentile is meaningful */

struct row {
	uint32_t name; /* index into the view's names */
	/*
	 * Name of the span around the first span; ROW_OUTERMOST: some span of the row has none
	 * around it
	 */
	uint32_t around;
	/* Number of tracks that have the name; only in lists of the whole view */
	uint32_t n_tracks;
	uint64_t count; /* number of spans, > 0 */
	uint64_t n_whole; /* spans whose begin and end are in the digest's time */
	uint64_t n_unfinished; /* spans that were cut at their end */
	uint64_t n_began_before; /* spans that were cut at their begin */
	uint64_t n_steps; /* spans that are steps */
	uint64_t n_flow_marks; /* counted events that are flow marks, not spans */
	int64_t total_ns; /* time of all spans, as far as they are in the digest's time */
	int64_t self_ns;
	/*
	 * Time of whole spans. The members below are of whole spans only, and undefined if there
	 * are none
	 */
	int64_t whole_ns;
	int64_t min_ns;
	int64_t max_ns;
	int64_t p50_ns; /* the percentiles are valid after rows_finish() */
	int64_t p90_ns;
	int64_t p99_ns;
	int64_t p999_ns; /* nearly the maximum if there are fewer than ROW_P999_FEWEST */
	struct sample durations;
	/* The slowest steps, longest first; NULL without rows_add_step(), as in LIST_STEPS */
	struct slow_step *slowest;
	size_t n_slowest;
};

/* A list of all zero bytes is empty. */
struct rows {
	struct row *v;
	size_t n;
	size_t n_allocated;
	struct name_map places;
};

/* The sort key: numbers descending, names ascending. */
enum row_key {
	ROW_SELF,
	ROW_TOTAL,
	ROW_COUNT,
	ROW_MEAN,
	ROW_P50,
	ROW_P99,
	ROW_P999,
	ROW_MAX,
	ROW_NAME,
};

void rows_deinit(struct rows *rows);
/* Adds a span. Returns the place of its row in |v|, valid until rows are sorted, or -ENOMEM. */
int64_t rows_add(struct rows *rows, const struct item *item);
/* Adds a step, which may be among the slowest. 0 or -ENOMEM. */
int rows_add_step(struct rows *rows, const struct item *item);
/* Adds the rows of |from|, whose durations are moved; all else in |from| stays. 0 or -ENOMEM. */
int rows_take(struct rows *rows, struct rows *from);
/* Computes the percentiles. */
void rows_finish(struct rows *rows);
/* Frees the memory that was reserved for further rows. */
void rows_trim(struct rows *rows);
/* Drops rows whose names are not wanted; |wanted| is indexed by name, NULL: all are wanted. */
void rows_keep(struct rows *rows, const uint8_t *wanted);
/* Returns the number of the row's spans that began in the digest's time. */
uint64_t row_count_begun(const struct row *row);
void rows_sort(struct rows *rows, enum row_key key, const struct names *names);
/* True if the key is a duration, which only whole spans have. */
bool row_key_is_of_whole(enum row_key key);
/*
 * Returns the value of the key; 0 for ROW_NAME, and for a duration if no span of the row is whole.
 */
int64_t row_get(const struct row *row, enum row_key key);

/* --- ends of flows ------------------------------------------------------------------------- */

struct flow_ends {
	uint32_t name;
	uint64_t n_out;
	uint64_t n_in;
};

/* Ends of flows by name, in order of first use. A list of all zero bytes is empty. */
struct flows {
	struct flow_ends *v;
	size_t n;
	size_t n_allocated;
	struct name_map places;
};

void flows_deinit(struct flows *flows);
int flows_add(struct flows *flows, const struct item *item); /* adds an end; 0 or -ENOMEM */
void flows_keep(struct flows *flows, const uint8_t *wanted); /* like rows_keep() */

#endif
