/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What threads were in the middle of when their program ended, or when the flight recorder of one that went on was read: what the report of such
 * a recording begins with.
 */
#ifndef TRACE_REPORT_DEATH_H
#define TRACE_REPORT_DEATH_H

#include <stdio.h>

struct digest;
struct json;

/* 0 or a negative errno. It writes nothing of programs that went on with no open span, or whose recording is no flight recorder's. */
int death_write_text(const struct digest *g, FILE *out);
/* The members "deaths", a list with an object for each program that ended, and "open_at_snapshot", the same for those that went on. */
int death_write_json(const struct digest *g, struct json *j);

#endif
