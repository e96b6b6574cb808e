/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of the report's tables; see report_table.h. */
#include "trace/report_table.h"

#include <inttypes.h>
#include <string.h>

#include "base/printable.h"
#include "trace/quantity.h"

#define MAX_NAME_BYTES 160

/* Three significant digits and a unit. */
const char *table_format_duration(char cell[TABLE_CELL_BYTES], int64_t ns)
{
	static const struct {
		double below_ns;
		double unit_ns;
		const char *unit;
	} units[] = {{999.5e3, 1e3, "us"}, {999.5e6, 1e6, "ms"}, {1e300, 1e9, "s"}};
	double value;
	size_t i = 0;

	if (ns > -1000 && ns < 1000) {
		snprintf(cell, TABLE_CELL_BYTES, "%" PRId64 " ns", ns);
		return cell;
	}
	while ((double)ns >= units[i].below_ns)
		i++;
	value = (double)ns / units[i].unit_ns;
	snprintf(cell, TABLE_CELL_BYTES, "%.*f %s",
		value < 9.995	? 2
		: value < 99.95 ? 1
				: 0,
		value, units[i].unit);
	return cell;
}

void table_print_text(FILE *out, const char *text)
{
	size_t n = strlen(text);
	size_t shown = 0;

	for (size_t i = 0; i < n && shown < MAX_NAME_BYTES;) {
		size_t kept;
		size_t length = printable_next(text + i, n - i, &kept);

		if (kept)
			fwrite(text + i, 1, kept, out);
		else
			fputc('?', out);
		i += length;
		shown = i;
	}
	fputs(shown < n ? "…" : "", out);
}

void table_print_duration(FILE *out, int64_t ns)
{
	char cell[TABLE_CELL_BYTES];

	fprintf(out, " %*s", TABLE_WIDTH, table_format_duration(cell, ns));
}

void table_print_count(FILE *out, uint64_t count)
{
	fprintf(out, " %*s", TABLE_WIDTH, quantity_count(count).text);
}

void table_print_heads(FILE *out, const char *const heads[], size_t n)
{
	fputc(' ', out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, " %*s", TABLE_WIDTH, heads[i]);
	fputs("  name\n", out);
}

void table_print_name(FILE *out, const char *name, uint64_t n_unfinished)
{
	fputs("  ", out);
	table_print_text(out, *name ? name : "(no name)");
	if (n_unfinished)
		fprintf(out, "  [%" PRIu64 " unfinished]", n_unfinished);
	fputc('\n', out);
}
