/* SPDX-License-Identifier: Apache-2.0 */
/* Writes pages: names that are cut to the width, messages, numbers, bars and sparklines. */
#include "trace/report/page.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <wchar.h>

#include "base/printable.h"
#include "base/utf8.h"
#include "trace/quantity.h"

#define BOLD "\033[1m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"
#define BAR "\033[36m"
#define DIM "\033[2m"

/*
 * Limit of a name's bytes: characters of no width would make a name long without end. This is
 * enough for all languages.
 */
#define MAX_BYTES_PER_COLUMN 16
#define MAX_MESSAGE 1000
#define MAX_REMARK 32
#define MAX_PART 128
#define SEPARATOR_COLUMNS 3
#define INDENT_COLUMNS 2
#define MIN_NAME 8
#define MORE_COLUMNS 18 /* columns of further numbers on a wide page */
#define SHARES 5 /* of so many added columns, a name gets at least one */

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

/* Returns the columns of the |length| bytes at |text|, of which |kept| are printed. */
static size_t find_width(const char *text, size_t length, size_t kept)
{
	int width = kept ? wcwidth((wchar_t)utf8_decode(text, length)) : 1;

	return width < 0 ? 1 : (size_t)width;
}

/* Returns the number of bytes of |text| that fit into |n_columns|, and in |used| their columns. */
static size_t fit_text(const char *text, size_t n, size_t n_columns, size_t *used)
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

static void print_bytes(struct page *p, const char *text, size_t n)
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
	size_t n_shown = fit_text(text, n, n_room, &used);
	bool is_cut = n_shown < n;

	if (is_cut) {
		fit_text(text, n, n, &used);
		if (used > n_room && used - n_room > p->n_missing)
			p->n_missing = used - n_room;
		n_shown = fit_text(text, n, n_room ? n_room - 1 : 0, &used);
	}
	print_bytes(p, text, n_shown);
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

/* A cut message does not count as a cut name: a wider page would not show more of it. */
void page_put_message(struct page *p, const char *kind, const char *text)
{
	size_t n_missing = p->n_missing;

	put_colored(p, YELLOW, kind);
	fputs(": ", p->out);
	page_put_text(p, text, MAX_MESSAGE);
	page_end_line(p);
	p->n_missing = n_missing;
}

/*
 * Returns the length of the first line of |text|: up to the last blank that fits, or else all bytes
 * that fit.
 */
static size_t fit_line(const char *text, size_t n, size_t n_columns)
{
	size_t used;
	size_t n_fitting = fit_text(text, n, n_columns, &used);

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
	size_t n_indent = 0; /* columns behind |indent| */

	while (n) {
		size_t n_line = fit_line(text, n, p->width - strlen(indent) - n_indent);

		fprintf(p->out, "%s%*s", indent, (int)n_indent, "");
		print_bytes(p, text, n_line);
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

static size_t measure_text(const char *text)
{
	size_t used;

	fit_text(text, strlen(text), strlen(text), &used);
	return used;
}

/*
 * Returns the columns of a remark with the blanks before it. If |n_left| is too small for the name
 * and the remark, it is divided between them.
 */
static size_t measure_remark(
	const struct page *p, const char *name, const char *remark, size_t n_left)
{
	size_t n_most = n_left / 3 > MAX_REMARK ? n_left / 3 : MAX_REMARK;
	size_t used;

	if (!remark)
		return 0;
	used = measure_text(remark);
	if (p->is_whole || measure_text(name) + 2 + used <= n_left)
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

/* --- numbers ------------------------------------------------------------------------------- */

/* Returns the number of decimals for three significant digits. */
static int find_precision(double value)
{
	if (value < 9.995)
		return 2;
	return value < 99.95 ? 1 : 0;
}

const char *page_format_duration(char cell[PAGE_CELL_BYTES], int64_t ns)
{
	static const struct {
		double below_ns;
		double unit_ns;
		const char *unit;
	} units[] = {{999.5e3, 1e3, "us"}, {999.5e6, 1e6, "ms"}, {1e300, 1e9, "s"}};
	double magnitude = fabs((double)ns);
	size_t i = 0;

	if (magnitude < 1000) {
		snprintf(cell, PAGE_CELL_BYTES, "%" PRId64 " ns", ns);
		return cell;
	}
	while (magnitude >= units[i].below_ns)
		i++;
	magnitude /= units[i].unit_ns;
	snprintf(cell, PAGE_CELL_BYTES, "%s%.*f %s", ns < 0 ? "-" : "", find_precision(magnitude),
		magnitude, units[i].unit);
	return cell;
}

/* 999,999 is the largest count that fits into a cell. */
const char *page_format_count(char cell[PAGE_CELL_BYTES], uint64_t n)
{
	static const struct {
		double below;
		double unit;
		const char *text;
	} units[] = {{999.5e6, 1e6, "M"}, {999.5e9, 1e9, "G"}, {1e300, 1e12, "T"}};
	size_t i = 0;

	if (n < 1000000) {
		snprintf(cell, PAGE_CELL_BYTES, "%.16s", quantity_count(n).text);
		return cell;
	}
	while ((double)n >= units[i].below)
		i++;
	snprintf(cell, PAGE_CELL_BYTES, "%.*f %s", find_precision((double)n / units[i].unit),
		(double)n / units[i].unit, units[i].text);
	return cell;
}

void page_put_head(struct page *p, const char *head)
{
	fputs(p->has_color ? DIM : "", p->out);
	page_put(p, " %*s", PAGE_CELL, head);
	fputs(p->has_color ? PLAIN : "", p->out);
}

void page_put_duration(struct page *p, int64_t ns)
{
	char cell[PAGE_CELL_BYTES];

	page_put(p, " %*s", PAGE_CELL, page_format_duration(cell, ns));
}

void page_put_count(struct page *p, uint64_t n)
{
	char cell[PAGE_CELL_BYTES];

	page_put(p, " %*s", PAGE_CELL, page_format_count(cell, n));
}

/* Writes the number itself if it fits into a cell, or from 1e21 on, else with a unit: "1.5 M". */
void page_put_number(struct page *p, double value)
{
	static const char units[] = "kMGTPE";
	double rest = value;
	char cell[PAGE_CELL_BYTES];
	size_t i = 0;

	if (fabs(value) < 1e6 || fabs(value) >= 1e21) {
		snprintf(cell, sizeof cell, "%.4g", value);
		if (fabs(value) >= 1e4 && fabs(value) < 1e6)
			snprintf(cell, sizeof cell, "%.6g", value);
		page_put(p, " %*s", PAGE_CELL, cell);
		return;
	}
	for (rest /= 1000; fabs(rest) >= 999.95; rest /= 1000)
		i++;
	snprintf(cell, sizeof cell, "%.4g %c", rest, units[i]);
	page_put(p, " %*s", PAGE_CELL, cell);
}

void page_put_share(struct page *p, double share)
{
	page_put(p, " %*.1f %%", PAGE_CELL - 2, 100 * share);
}

/* --- bars ---------------------------------------------------------------------------------- */

void page_put_bar(struct page *p, double share, size_t n_columns)
{
	static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	size_t n = share > 0 ? (size_t)(share * (double)(8 * n_columns) + 0.5) : 0;
	size_t n_full;

	n = n > 8 * n_columns ? 8 * n_columns : n;
	n = n == 0 && share > 0 ? 1 : n;
	n_full = n / 8;
	putc(' ', p->out);
	fputs(p->has_color ? BAR : "", p->out);
	for (size_t i = 0; i < n_full; i++)
		fputs("█", p->out);
	fputs(parts[n % 8], p->out);
	fputs(p->has_color ? PLAIN : "", p->out);
	fprintf(p->out, "%*s", (int)(n_columns - n_full - (n % 8 != 0)), "");
	p->column += 1 + n_columns;
}

static void find_range(const double *values, size_t n, double *min, double *max)
{
	*min = NAN;
	*max = NAN;
	for (size_t i = 0; i < n; i++) {
		*min = fmin(*min, values[i]);
		*max = fmax(*max, values[i]);
	}
}

/* Constant values are drawn in the middle. */
void page_put_sparkline(struct page *p, const double *values, size_t n)
{
	static const char *const marks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	const char *mark = " ";
	double min;
	double max;

	find_range(values, n, &min, &max);
	putc(' ', p->out);
	fputs(p->has_color ? BAR : "", p->out);
	for (size_t i = 0; i < n; i++) {
		double height = max > min ? values[i] / 2 - min / 2 : 0.5;

		if (max > min)
			height /= max / 2 - min / 2;
		if (!isnan(values[i]))
			mark = marks[(size_t)(height * 7.999)];
		fputs(mark, p->out);
	}
	fputs(p->has_color ? PLAIN : "", p->out);
	p->column += 1 + n;
}
