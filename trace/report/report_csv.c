/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the report as CSV (RFC 4180). Names are made printable, so that no cell has a line break.
 */
#include <inttypes.h>
#include <string.h>

#include "base/printable.h"
#include "trace/read/view.h"
#include "trace/report/digest.h"
#include "trace/report/output.h"
#include "trace/report/report.h"

#define HEAD                                                                               \
	"kind,name,count,unfinished,total_ns,self_ns,min_ns,mean_ns,p50_ns,p99_ns,max_ns," \
	"whole,began_before,p90_ns,p999_ns\r\n"

static void put_quoted(FILE *out, const char *text)
{
	size_t n = strlen(text);

	putc('"', out);
	while (n > 0) {
		size_t kept;
		size_t length = printable_next(text, n, &kept);

		if (kept)
			fwrite(text, 1, kept, out);
		else
			putc('?', out);
		if (*text == '"')
			putc('"', out);
		text += length;
		n -= length;
	}
	putc('"', out);
}

/* A duration's cell is empty if all spans were cut, since their durations are unknown. */
static void put_time(FILE *out, const struct row *row, int64_t ns)
{
	putc(',', out);
	if (row->n_whole)
		fprintf(out, "%" PRId64, ns);
}

static void put_row(FILE *out, const char *kind, const char *name, const struct row *row)
{
	fprintf(out, "%s,", kind);
	put_quoted(out, name);
	fprintf(out, ",%" PRIu64 ",%" PRIu64, row->count, row->n_unfinished);
	fprintf(out, ",%" PRId64 ",%" PRId64, row->total_ns, row->self_ns);
	put_time(out, row, row->min_ns);
	put_time(out, row, row_get(row, ROW_MEAN));
	put_time(out, row, row->p50_ns);
	put_time(out, row, row->p99_ns);
	put_time(out, row, row->max_ns);
	fprintf(out, ",%" PRIu64 ",%" PRIu64, row->n_whole, row->n_began_before);
	/* New columns come last: spreadsheets refer to the others by position. */
	put_time(out, row, row->p90_ns);
	put_time(out, row, row->p999_ns);
	fputs("\r\n", out);
}

int report_write_csv(struct digest *g, const struct report_options *options, FILE *out)
{
	static const char *const kinds[] = {
		[LIST_SPANS] = "span", [LIST_KERNELS] = "kernel", [LIST_ASYNCS] = "async"};

	digest_sort(g, options->sort);
	fputs(HEAD, out);
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		const struct rows *rows = &g->lists[i];

		for (size_t k = 0; k < rows->n && (!options->n_top || k < options->n_top); k++)
			put_row(out, kinds[i], names_get(&g->view->names, rows->v[k].name),
				&rows->v[k]);
	}
	return output_finish(out);
}
