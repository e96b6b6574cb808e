/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page of a report: columns of numbers, bars and sparklines, and names last. On a terminal, or
 * with a given width, names are cut to the rest of the width, with "…" at the end, and the page
 * ends with the width that would show them whole. Elsewhere they are whole. Text from a trace can
 * hold anything: '?' stands for each control character and each byte that is no UTF-8.
 */
#ifndef TRACE_REPORT_PAGE_H
#define TRACE_REPORT_PAGE_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PAGE_CELL 8 /* columns of a number; a blank is before it */
#define PAGE_CELL_BYTES 32
#define PAGE_WIDTH 80
#define PAGE_MIN_WIDTH 76 /* columns of a row's numbers and a short name */

struct page {
	FILE *out;
	size_t width;
	bool is_whole; /* names are never cut */
	size_t n_missing; /* the most columns that a cut name lacks */
	bool has_color;
	size_t column; /* column of the next character */
	locale_t utf8; /* locale with the widths of characters; 0: not available */
	locale_t before;
};

/*
 * With |width| 0 the page is laid out for PAGE_WIDTH, but names are whole. The least width is
 * PAGE_MIN_WIDTH. Call page_deinit() in any case.
 */
void page_init(struct page *p, FILE *out, size_t width, bool has_color);
/* Ends the page; if names were cut, with a line about the width that shows them whole. */
void page_deinit(struct page *p);

/*
 * Writes the text in at most |n_columns|; the last one is "…" if there is more text. If names are
 * whole, writes all of it.
 */
void page_put_text(struct page *p, const char *text, size_t n_columns);
/* Writes text of proftap itself, in ASCII. */
void page_put(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/*
 * Writes text of proftap itself, in ASCII, as the next part of a line, behind " · "; on a line of
 * its own if it does not fit.
 */
void page_put_part(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes a title, on a line of its own. */
void page_put_title(struct page *p, const char *title);
/* Writes "warning: text", on a line of any length. */
void page_put_message(struct page *p, const char *kind, const char *text);

/*
 * Writes text of any length and any bytes behind |indent|, in as many lines as it takes, broken at
 * blanks.
 */
void page_put_sentence(struct page *p, const char *indent, const char *text);

/* These write cells of PAGE_CELL columns, with a blank before them. */
void page_put_head(struct page *p, const char *head);
void page_put_duration(struct page *p, int64_t ns);
void page_put_count(struct page *p, uint64_t n);
void page_put_number(struct page *p, double value);
void page_put_share(struct page *p, double share);
/* Writes a bar of |n_columns|, with a blank before it; |share| is 0 to 1. */
void page_put_bar(struct page *p, double share, size_t n_columns);
/*
 * Writes a sparkline scaled from the least value to the greatest; NaN repeats the mark before it.
 */
void page_put_sparkline(struct page *p, const double *values, size_t n);
/* Ends a row: writes a name into the rest of the line, and a few words about it (NULL: none). */
void page_end_row(struct page *p, const char *name, const char *remark);
void page_end_line(struct page *p);

/* These write three significant digits and a unit; they return |cell|. */
const char *page_format_duration(char cell[PAGE_CELL_BYTES], int64_t ns);
const char *page_format_count(char cell[PAGE_CELL_BYTES], uint64_t n);

#endif
