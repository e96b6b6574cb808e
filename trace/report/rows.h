/* SPDX-License-Identifier: Apache-2.0 */
/* What spans of one name amount to, and lists of that. */
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

/* One that took long. */
struct slow_step {
	int64_t number;
	int64_t start_ns;
	int64_t duration_ns;
};

#define ROW_OUTERMOST UINT32_MAX
#define ROW_P999_FEWEST 1000 /* whole spans of which the slowest one in a thousand can be told */

struct row {
	uint32_t name; /* index into the view's */
	uint32_t
		around; /* name of the span around the first of them; ROW_OUTERMOST: one of them has none around it */
	uint32_t n_tracks; /* of a list of the whole: on how many they are */
	uint64_t count; /* > 0 */
	uint64_t n_whole; /* of them have their begin and their end in the time that is looked at */
	uint64_t n_unfinished; /* of them have no end there */
	uint64_t n_began_before; /* of them have no begin there */
	uint64_t n_steps; /* of them are steps */
	uint64_t n_flow_marks; /* of them are points where a flow leaves or arrives, and no spans */
	int64_t total_ns; /* of all of them, as far as they lie in the time that is looked at */
	int64_t self_ns;
	int64_t whole_ns; /* the total of the whole ones; what follows is of these only, and means nothing without any */
	int64_t min_ns;
	int64_t max_ns;
	int64_t p50_ns; /* from rows_finish() on, and so on */
	int64_t p90_ns;
	int64_t p99_ns;
	int64_t p999_ns; /* the largest, or nearly, of less than ROW_P999_FEWEST */
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
	ROW_P999,
	ROW_MAX,
	ROW_NAME,
};

void rows_deinit(struct rows *rows);
/* One more span. Its place in |v| until they are sorted, or -ENOMEM. */
int64_t rows_add(struct rows *rows, const struct item *item);
/* Adds a step, which may be among the slowest. 0 or -ENOMEM. */
int rows_add_step(struct rows *rows, const struct item *item);
/* Adds those of |from|, whose durations are moved; all the rest of it stays. 0 or -ENOMEM. */
int rows_take(struct rows *rows, struct rows *from);
/* Finds the percentiles. */
void rows_finish(struct rows *rows);
/* Gives back the memory that was there for further rows. */
void rows_trim(struct rows *rows);
/* Drops those whose names are not wanted, by index; NULL: all are. */
void rows_keep(struct rows *rows, const uint8_t *wanted);
/* How many of them began in the time that is looked at. */
uint64_t row_count_begun(const struct row *row);
void rows_sort(struct rows *rows, enum row_key key, const struct names *names);
/* Whether the key is a duration, which only whole spans have. */
bool row_key_is_of_whole(enum row_key key);
/* The value of the key; 0 for ROW_NAME, and for a duration where no span of the row is whole. */
int64_t row_get(const struct row *row, enum row_key key);

#endif
