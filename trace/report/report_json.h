/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of report_write_json(), which is in several files. They write members of the current
 * JSON object.
 */
#ifndef TRACE_REPORT_REPORT_JSON_H
#define TRACE_REPORT_REPORT_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "trace/json.h"
#include "trace/report/digest.h"

struct archive_plane;
struct busy;
struct digest;
struct json;
struct report_options;
struct row;
struct rows;
struct slow;

struct report_json {
	struct json j;
	const struct digest *digest;
	const struct report_options *options;
	const struct slow *slow;
	struct groups tracks; /* the digest's tracks, by plane */
};

const char *report_json_get_name(const struct report_json *w, uint32_t name);
/* Returns the number of shown names among |n|. */
size_t report_json_count_shown(const struct report_json *w, size_t n);

/* Writes "name", "count" and the numbers of cut spans. */
void report_json_put_counts(struct report_json *w, const struct row *row);
/* These write a list of names of spans, and of async spans, which have no self time. */
void report_json_put_spans(struct report_json *w, const char *key, const struct rows *rows);
void report_json_put_asyncs(struct report_json *w, const struct rows *rows);
/* Writes "slow" and "cpu_shares". */
void report_json_put_slow(struct report_json *w);
/*
 * Writes "process_name" and "process_id"; null if |plane| is NULL, since there is no single
 * process.
 */
void report_json_put_process_of(struct report_json *w, const struct archive_plane *plane);
/* Writes "busy_ns", "known_ns" and "idle". */
void report_json_put_busy(struct report_json *w, const struct busy *busy);
/* Writes the planes. 0 or -ENOMEM. */
int report_json_put_planes(struct report_json *w);

/* --- reports as JSON -------------------------------------------------------------------------- */

/* Writes members of JSON objects that reports and comparisons share. */

/*
 * Writes "min_ns", "mean_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns" and "max_ns"; null if no span
 * of the row is whole.
 */
void report_json_put_times(struct json *j, const struct row *row);
/*
 * Writes "unfinished", "began_before" and "whole": the numbers of spans cut at either end, and of
 * those that were not cut.
 */
void report_json_put_cuts(struct json *j, const struct row *row);

/* Writes "complete_since_ns": a time, or null if nothing was overwritten. */
void report_json_put_complete(struct json *j, const struct digest *g);

#endif
