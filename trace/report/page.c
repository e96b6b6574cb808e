/* SPDX-License-Identifier: Apache-2.0 */
/* Pages; see page.h. Cells of numbers are in page_cells.c. */
#include "trace/report/page.h"

#include <stdarg.h>
#include <string.h>
#include <wchar.h>

#include "base/printable.h"
#include "base/utf8.h"

#define BOLD "\033[1m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"

/* Characters of no width do not make a name any longer on the page: this many bytes a column are enough for all languages. */
#define MAX_BYTES_PER_COLUMN 16
#define MAX_MESSAGE 1000
#define MAX_REMARK 32
#define MAX_PART 128
#define SEPARATOR_COLUMNS 3
#define INDENT_COLUMNS 2
#define MIN_NAME 8
#define MORE_COLUMNS 18 /* of numbers, on a page that is wide enough for them */
#define SHARES 5 /* so many names of a line share what is left at most */

void page_init(struct page *p, FILE *out, size_t width, bool has_color)
{
	*p = (struct page){.out = out,
		.width = width ? width : PAGE_WIDTH,
		.is_whole = width == 0,
		.has_color = has_color};
	if (p->width < PAGE_MIN_WIDTH)
		p->width = PAGE_MIN_WIDTH;
	p->utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
	if (p->utf8)
		p->before = uselocale(p->utf8);
}

void page_deinit(struct page *p)
{
	if (p->n_missing)
		fprintf(p->out,
			"\nnames that end with \"…\" are cut; --width %zu shows them whole\n",
			p->width + SHARES * p->n_missing + MORE_COLUMNS);
	if (!p->utf8)
		return;
	uselocale(p->before);
	freelocale(p->utf8);
	p->utf8 = NULL;
}

/* --- text ---------------------------------------------------------------------------------- */

/* Of the |length| bytes at |text|, of which |kept| are printed. */
static size_t find_width(const char *text, size_t length, size_t kept)
{
	int width = kept ? wcwidth((wchar_t)utf8_decode(text, length)) : 1;

	return width < 0 ? 1 : (size_t)width;
}

/* How many bytes of |text| go into |n_columns|, and how many columns they take. */
static size_t fit(const char *text, size_t n, size_t n_columns, size_t *used)
{
	size_t at = 0;

	*used = 0;
	while (at < n && at < n_columns * MAX_BYTES_PER_COLUMN) {
		size_t kept;
		size_t length = printable_next(text + at, n - at, &kept);
		size_t width = find_width(text + at, length, kept);

		if (*used + width > n_columns)
			break;
		*used += width;
		at += length;
	}
	return at;
}

static void print(struct page *p, const char *text, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t kept;
		size_t length = printable_next(text + i, n - i, &kept);

		if (kept)
			fwrite(text + i, 1, kept, p->out);
		else
			putc('?', p->out);
		i += length;
	}
}

void page_put_text(struct page *p, const char *text, size_t n_columns)
{
	size_t n = strlen(text);
	size_t n_room = p->is_whole && n_columns < n ? n : n_columns;
	size_t used;
	size_t n_shown = fit(text, n, n_room, &used);
	bool is_cut = n_shown < n;

	if (is_cut) {
		fit(text, n, n, &used);
		if (used > n_room && used - n_room > p->n_missing)
			p->n_missing = used - n_room;
		n_shown = fit(text, n, n_room ? n_room - 1 : 0, &used);
	}
	print(p, text, n_shown);
	fputs(is_cut ? "…" : "", p->out);
	p->column += used + is_cut;
}

void page_put(struct page *p, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vfprintf(p->out, format, args);
	va_end(args);
	p->column += n > 0 ? (size_t)n : 0;
}

void page_put_part(struct page *p, const char *format, ...)
{
	char part[MAX_PART];
	va_list args;

	va_start(args, format);
	vsnprintf(part, sizeof part, format, args);
	va_end(args);
	if (p->column && p->column + SEPARATOR_COLUMNS + strlen(part) > p->width) {
		page_end_line(p);
		page_put(p, "%*s", INDENT_COLUMNS, "");
	} else if (p->column) {
		fputs(" · ", p->out);
		p->column += SEPARATOR_COLUMNS;
	}
	page_put(p, "%s", part);
}

void page_end_line(struct page *p)
{
	putc('\n', p->out);
	p->column = 0;
}

static void put_colored(struct page *p, const char *color, const char *text)
{
	fprintf(p->out, "%s%s%s", p->has_color ? color : "", text, p->has_color ? PLAIN : "");
}

void page_put_title(struct page *p, const char *title)
{
	putc('\n', p->out);
	put_colored(p, BOLD, title);
	page_end_line(p);
}

/* A wider page has no more of it: that is no name that is cut. */
void page_put_message(struct page *p, const char *kind, const char *text)
{
	size_t n_missing = p->n_missing;

	put_colored(p, YELLOW, kind);
	fputs(": ", p->out);
	page_put_text(p, text, MAX_MESSAGE);
	page_end_line(p);
	p->n_missing = n_missing;
}

/* How many bytes of |text| are a line: up to the last blank that fits, or else what fits. */
static size_t fit_line(const char *text, size_t n, size_t n_columns)
{
	size_t used;
	size_t n_fitting = fit(text, n, n_columns, &used);

	if (n_fitting == n)
		return n;
	for (size_t i = n_fitting; i > 0; i--)
		if (text[i] == ' ')
			return i;
	return n_fitting ? n_fitting : n;
}

void page_put_sentence(struct page *p, const char *indent, const char *text)
{
	size_t n = strlen(text);
	size_t n_indent = 0; /* beside |indent| */

	while (n) {
		size_t n_line = fit_line(text, n, p->width - strlen(indent) - n_indent);

		fprintf(p->out, "%s%*s", indent, (int)n_indent, "");
		print(p, text, n_line);
		page_end_line(p);
		text += n_line;
		n -= n_line;
		while (n && *text == ' ') {
			text++;
			n--;
		}
		n_indent = INDENT_COLUMNS;
	}
}

static size_t measure(const char *text)
{
	size_t used;

	fit(text, strlen(text), strlen(text), &used);
	return used;
}

/* Columns of a remark and the blanks before it, of |n_left|: what is too much for the row shares with the name. */
static size_t measure_remark(
	const struct page *p, const char *name, const char *remark, size_t n_left)
{
	size_t n_most = n_left / 3 > MAX_REMARK ? n_left / 3 : MAX_REMARK;
	size_t used;

	if (!remark)
		return 0;
	used = measure(remark);
	if (p->is_whole || measure(name) + 2 + used <= n_left)
		return used + 2;
	used = used < n_most ? used : n_most;
	return used + 2 + MIN_NAME <= n_left ? used + 2 : n_left / 2;
}

void page_end_row(struct page *p, const char *name, const char *remark)
{
	size_t n_taken = p->column + 2;
	size_t n_left = p->width > n_taken + MIN_NAME ? p->width - n_taken : MIN_NAME;
	size_t n_remark = measure_remark(p, name, remark, n_left);

	fputs("  ", p->out);
	page_put_text(p, *name ? name : "(no name)", n_left > n_remark ? n_left - n_remark : 0);
	if (n_remark > 2) {
		fputs("  ", p->out);
		page_put_text(p, remark, n_remark - 2);
	}
	page_end_line(p);
}
