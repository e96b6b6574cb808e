/* SPDX-License-Identifier: Apache-2.0 */
/* Writes members of JSON objects that reports and comparisons share. */
#ifndef TRACE_REPORT_REPORT_JSON_H
#define TRACE_REPORT_REPORT_JSON_H

struct digest;
struct json;
struct row;

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
