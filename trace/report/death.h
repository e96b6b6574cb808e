/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the spans that were open in a program's threads when the program ended, or when the flight
 * recorder of a running program was read. The report of such a recording begins with them.
 */
#ifndef TRACE_REPORT_DEATH_H
#define TRACE_REPORT_DEATH_H

#include <stdio.h>

struct digest;
struct json;

/*
 * 0 or a negative errno. Leaves out a program that did not end, if it had no open span or its
 * recording is not a flight recorder's.
 */
int death_write_text(const struct digest *g, FILE *out);
/*
 * Writes the members "deaths", a list with an object for each program that ended, and
 * "open_at_snapshot", such a list of the programs that did not end.
 */
int death_write_json(const struct digest *g, struct json *j);

#endif
