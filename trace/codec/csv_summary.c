/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CSV (RFC 4180): a row for every name with the sums of its spans, as proftap report --csv prints
 * it.
 */
#include <errno.h>
#include <stdio.h>

#include "trace/codec/codec.h"
#include "trace/codec/formats.h"
#include "trace/codec/sink.h"
#include "trace/report/digest.h"
#include "trace/report/report.h"

static uint64_t count_items(const struct rows *rows)
{
	uint64_t n = 0;

	for (size_t i = 0; i < rows->n; i++)
		n += rows->v[i].count;
	return n;
}

static void count_summary(const struct digest *g, struct codec_result *result)
{
	for (int i = 0; i < DIGEST_LISTS; i++)
		result->n_items += count_items(&g->lists[i]);
	codec_lose(result, "counter samples", g->rest.n_samples);
	codec_lose(result, "ends of flows", g->rest.n_flow_ends);
	codec_lose(result, "arguments", g->rest.n_args);
	codec_lose(result, "spans on derived lines", g->rest.n_derived);
}

static int put_rows(struct digest *g, struct sink *s)
{
	static const struct report_options all = {.sort = ROW_SELF};
	FILE *stream = sink_open_stream(s);
	int r = stream ? report_write_csv(g, &all, stream) : -ENOMEM;

	if (stream && fclose(stream) && r == 0)
		r = -EIO;
	return s->error ? s->error : r;
}

static int write_summary(const struct view *v, const struct codec_options *options, struct sink *s,
	struct codec_result *result, struct diag *d)
{
	struct digest *g = NULL;
	int r = digest_make(v, &g, d);

	(void)options;
	if (r == 0) {
		count_summary(g, result);
		r = put_rows(g, s);
	}
	digest_free(g);
	return r;
}

const struct codec codec_csv_summary = {
	.name = "csv-summary",
	.suffix = "_summary.csv",
	.help = "a row for each name, as report --csv prints it",
	.write = write_summary,
};
