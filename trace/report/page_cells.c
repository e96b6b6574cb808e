/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, bars and sparklines of a page; see page.h. */
#include <inttypes.h>
#include <math.h>

#include "trace/quantity.h"
#include "trace/report/page.h"

#define BAR "\033[36m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"

/* --- numbers ------------------------------------------------------------------------------- */

/* Three significant digits. */
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

/* 999999 is the last that goes into a cell with its commas. */
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

/* As it is where it goes into a cell, else with a power of 1000. */
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

/* What does not change is drawn in the middle. */
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
