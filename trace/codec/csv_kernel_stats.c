/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels by name, as CSV with the columns of rocprofv3's *_kernel_stats.csv, so that scripts made for those read it. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/codec/codec.h"
#include "trace/codec/formats.h"
#include "trace/codec/kernels.h"
#include "trace/codec/sink.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/saturate.h"

struct kernel_stats {
	uint32_t name;
	uint64_t n_calls;
	int64_t total_ns;
	int64_t min_ns;
	int64_t max_ns;
	double mean_ns; /* of those so far; and the sum of the squares of what they are off it (Welford) */
	double squares;
};

static void add_kernel(struct kernels *k, const struct item *item)
{
	struct kernel_stats *a = (struct kernel_stats *)k->state + item->name;
	double off = (double)item->duration_ns - a->mean_ns;

	a->name = item->name;
	a->total_ns = add_saturated(a->total_ns, item->duration_ns);
	if (a->n_calls == 0 || item->duration_ns < a->min_ns)
		a->min_ns = item->duration_ns;
	if (item->duration_ns > a->max_ns)
		a->max_ns = item->duration_ns;
	a->mean_ns += off / (double)++a->n_calls;
	a->squares += off * ((double)item->duration_ns - a->mean_ns);
}

/* That with the longest total first, then by the order in the file. */
static int compare_totals(const void *a, const void *b)
{
	const struct kernel_stats *x = a;
	const struct kernel_stats *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	return (x->name > y->name) - (x->name < y->name);
}

static void put_time(struct sink *s, int64_t ns)
{
	sink_put(s, ',');
	sink_int(s, ns);
}

static void put_stats(
	struct sink *s, const struct view *v, const struct kernel_stats *a, double all_ns)
{
	const char *name = names_get(&v->names, a->name);

	sink_csv(s, name, strlen(name));
	sink_put(s, ',');
	sink_uint(s, a->n_calls);
	put_time(s, a->total_ns);
	sink_printf(
		s, ",%.6f,%.6f", a->mean_ns, all_ns > 0 ? 100 * (double)a->total_ns / all_ns : 0);
	put_time(s, a->min_ns);
	put_time(s, a->max_ns);
	sink_printf(
		s, ",%.6f\r\n", a->n_calls > 1 ? sqrt(a->squares / (double)(a->n_calls - 1)) : 0);
}

static void put_all_stats(struct sink *s, const struct view *v, struct kernel_stats *all)
{
	size_t n = v->names.n_texts;
	double all_ns = 0;

	for (size_t i = 0; i < n; i++)
		all_ns += (double)all[i].total_ns;
	qsort(all, n, sizeof *all, compare_totals);
	for (size_t i = 0; i < n; i++)
		if (all[i].n_calls)
			put_stats(s, v, &all[i], all_ns);
}

static int write_stats(const struct view *v, const struct codec_options *options, struct sink *s,
	struct codec_result *result, struct diag *d)
{
	struct kernel_stats *all = calloc((size_t)v->names.n_texts + 1, sizeof *all);
	struct kernels k = {
		.view = v, .result = result, .sink = s, .state = all, .put = add_kernel};
	int rc = all ? kernels_read(&k, d) : -ENOMEM;

	(void)options;
	sink_text(s,
		"\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\",\"MinNs\","
		"\"MaxNs\",\"StdDev\"\r\n");
	if (rc == 0)
		put_all_stats(s, v, all);
	free(all);
	return rc;
}

const struct codec codec_csv_kernel_stats = {
	.name = "csv-kernel-stats",
	.suffix = "_kernel_stats.csv",
	.help = "kernels by name, as rocprofv3 has it",
	.write = write_stats,
};
