/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a part when it is over: printed at once for the only target, kept for the end for one of many. */
#ifndef CLIENT_PART_REPORT_H
#define CLIENT_PART_REPORT_H

#include <stdio.h>

struct json;
struct part;

/*
 * While the answer and the recording are still there. Of the only target a success is printed, and a failure is
 * left to the caller. One of many gets p->report: lines for people, or a JSON object.
 */
void part_report_make(struct part *p);

/*
 * The paths of its files: to |out|, one a line, the traces first and then what they were converted to; or as strings of the list
 * that |j| is in.
 */
void part_report_write_files(const struct part *p, FILE *out);
void part_report_write_json_files(const struct part *p, struct json *j);
void part_report_write_json_converted(const struct part *p, struct json *j);

#endif
