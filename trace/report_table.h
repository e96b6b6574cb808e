/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of the report for a terminal. Numbers stand in columns, names last, so that no name, of
 * whatever script or length, moves a column. Text from the trace can hold anything: control
 * characters become '?' and very long names are cut.
 */
#ifndef TRACE_REPORT_TABLE_H
#define TRACE_REPORT_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TABLE_WIDTH 10 /* of a column of numbers */
#define TABLE_CELL_BYTES 32

/* Three significant digits and a unit; returns |cell|. */
const char *table_format_duration(char cell[TABLE_CELL_BYTES], int64_t ns);

void table_print_text(FILE *out, const char *text);
void table_print_duration(FILE *out, int64_t ns);
void table_print_count(FILE *out, uint64_t count);
void table_print_heads(FILE *out, const char *const heads[], size_t n);
/* The end of a row. */
void table_print_name(FILE *out, const char *name, uint64_t n_unfinished);

#endif
