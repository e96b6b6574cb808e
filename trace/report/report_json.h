/* SPDX-License-Identifier: Apache-2.0 */
/* Members of JSON objects that reports and comparisons share. */
#ifndef TRACE_REPORT_REPORT_JSON_H
#define TRACE_REPORT_REPORT_JSON_H

struct json;
struct row;

/* "min_ns", "mean_ns", "p50_ns", "p99_ns", "max_ns" of the object that |j| is in. */
void report_json_put_times(struct json *j, const struct row *row);

#endif
