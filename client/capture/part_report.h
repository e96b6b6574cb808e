/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a part: printed at once for the only target, kept for the end if there are many. */
#ifndef CLIENT_PART_REPORT_H
#define CLIENT_PART_REPORT_H

#include <stdio.h>

struct json;
struct part;

/*
 * Call it while the answer and the recording exist. For the only target, prints a success; the
 * caller prints a failure. If there are many, sets p->report to lines of text or to a JSON object.
 */
void part_report_make(struct part *p);

/*
 * Write the paths of the part's files: to |out|, one per line, the traces first and then the
 * converted files; or, as strings of the open list of |j|, only the traces or only the converted
 * ones.
 */
void part_report_write_files(const struct part *p, FILE *out);
void part_report_write_json_files(const struct part *p, struct json *j);
void part_report_write_json_converted(const struct part *p, struct json *j);

#endif
