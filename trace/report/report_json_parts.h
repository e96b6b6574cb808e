/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of report_write_json(), for the files that it is in. */
#ifndef TRACE_REPORT_REPORT_JSON_PARTS_H
#define TRACE_REPORT_REPORT_JSON_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/json.h"
#include "trace/report/groups.h"

struct archive_plane;
struct busy;
struct digest;
struct launches;
struct report_options;
struct row;
struct rows;
struct slow;

struct report_json {
	struct json j;
	const struct digest *digest;
	const struct report_options *options;
	const struct slow *slow;
	struct groups tracks; /* by plane */
};

const char *report_json_get_name(const struct report_json *w, uint32_t name);
/* How many of |n| are wanted. */
size_t report_json_count_shown(const struct report_json *w, size_t n);

/* "name", "count", "unfinished" of the object. */
void report_json_put_counts(struct report_json *w, const struct row *row);
/* A list of spans' names; of async spans, which have no time of their own. */
void report_json_put_spans(struct report_json *w, const char *key, const struct rows *rows);
void report_json_put_asyncs(struct report_json *w, const struct rows *rows);
/* "slow" and "cpu_shares" of the object. */
void report_json_put_slow(struct report_json *w);
/* "launches" of the object. */
void report_json_put_launches(struct report_json *w, const struct launches *l);
/* "process_name" and "process_id" of the object. NULL: it is of no single one. */
void report_json_put_process_of(struct report_json *w, const struct archive_plane *plane);
/* "busy_ns", "known_ns" and "idle" of the object. */
void report_json_put_busy(struct report_json *w, const struct busy *busy);
/* 0 or -ENOMEM. */
int report_json_put_planes(struct report_json *w);

#endif
