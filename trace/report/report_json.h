/* SPDX-License-Identifier: Apache-2.0 */
/* Members of JSON objects that reports and comparisons share. */
#ifndef TRACE_REPORT_REPORT_JSON_H
#define TRACE_REPORT_REPORT_JSON_H

struct digest;
struct json;
struct row;

/* "min_ns", "mean_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns" of the object that |j| is in; null if no span of the row is whole. */
void report_json_put_times(struct json *j, const struct row *row);
/* "unfinished", "began_before", "whole": how many of them were cut where, and how many were not. */
void report_json_put_cuts(struct json *j, const struct row *row);

/* "complete_since_ns": a time, or null where nothing was written over. */
void report_json_put_complete(struct json *j, const struct digest *g);

#endif
