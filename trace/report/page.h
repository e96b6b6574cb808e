/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page of a report: columns of numbers, bars and sparklines, and names last. On a terminal, or where a width is asked for,
 * names are cut to what is left of it, with "…" at the end, and the page says by which width they are whole. Elsewhere
 * they are whole.
 * Text from a trace can hold anything: '?' stands for each control character and each byte that is no UTF-8.
 */
#ifndef TRACE_REPORT_PAGE_H
#define TRACE_REPORT_PAGE_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PAGE_CELL 8 /* columns of a number, and a blank before it */
#define PAGE_CELL_BYTES 32
#define PAGE_WIDTH 80
#define PAGE_MIN_WIDTH 76 /* what the numbers of a row and a short name take */

struct page {
	FILE *out;
	size_t width;
	bool is_whole; /* no name is cut */
	size_t n_missing; /* columns that the longest of the names that were cut lacks */
	bool has_color;
	size_t column; /* where the next character of a row goes */
	locale_t utf8; /* knows how wide characters are; 0: not there */
	locale_t before;
};

/* |width| 0: there is none: laid out as for PAGE_WIDTH, names whole. Less than PAGE_MIN_WIDTH is that. page_deinit() in any case. */
void page_init(struct page *p, FILE *out, size_t width, bool has_color);
/* Ends the page: if names were cut, with a line that says how to see them. */
void page_deinit(struct page *p);

/*
 * Writes at most |n_columns| of the text, the last of which is "…" if there is more, or all of it
 * where names are whole.
 */
void page_put_text(struct page *p, const char *text, size_t n_columns);
/* Text of ours, in ASCII. */
void page_put(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same as the next part of a line, behind " · "; on a line of its own where it does not fit any more. */
void page_put_part(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A line that begins and ends with it. */
void page_put_title(struct page *p, const char *title);
/* "warning: text", on a line of any length. */
void page_put_message(struct page *p, const char *kind, const char *text);

/* Text of any length and any bytes behind |indent|, in as many lines as it takes, broken at blanks. */
void page_put_sentence(struct page *p, const char *indent, const char *text);

/* Cells of PAGE_CELL columns and a blank. */
void page_put_head(struct page *p, const char *head);
void page_put_duration(struct page *p, int64_t ns);
void page_put_count(struct page *p, uint64_t n);
void page_put_number(struct page *p, double value);
void page_put_share(struct page *p, double share);
/* A bar of |n_columns|, and a blank before it; |share| is 0 to 1. */
void page_put_bar(struct page *p, double share, size_t n_columns);
/* Values from the least to the greatest; NaN: none, as before. */
void page_put_sparkline(struct page *p, const double *values, size_t n);
/* The end of a row: a name in what is left, and a few words about it (NULL: none). */
void page_end_row(struct page *p, const char *name, const char *remark);
void page_end_line(struct page *p);

/* Three significant digits and a unit; returns |cell|. */
const char *page_format_duration(char cell[PAGE_CELL_BYTES], int64_t ns);
const char *page_format_count(char cell[PAGE_CELL_BYTES], uint64_t n);

#endif
