/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels as CSV, with the columns of rocprofv3's *_kernel_trace.csv (a row for each kernel) and
 * *_kernel_stats.csv (a row for each name), so that scripts made for those files work. Kernels are
 * the spans of devices' streams, except steps and spans on derived lines.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "trace/codec/codec.h"
#include "trace/codec/sink.h"
#include "trace/read/archive.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/saturate.h"

/* --- the kernels of a view ----------------------------------------------------------------- */

struct kernels {
	const struct view *view;
	const struct view_track *track; /* being read */
	struct codec_result *result;
	struct sink *sink;
	void *state; /* belongs to |put| */
	/* Called for each kernel, which result->n_items counts already. */
	void (*put)(struct kernels *k, const struct item *item);
	uint64_t n_others; /* items that are no kernels; they count as lost */
};

static bool is_kernel(const struct view_track *track, const struct item *item)
{
	return track->kind == TRACK_STREAM && !track->is_derived && item->kind == ITEM_SPAN &&
	       !item->is_step;
}

static int read_kernel_item(void *kernels, const struct item *item)
{
	struct kernels *k = kernels;

	if (!is_kernel(k->track, item)) {
		k->n_others++;
		return 0;
	}
	k->result->n_items++;
	k->put(k, item);
	return k->sink->error;
}

static int kernels_read(struct kernels *k, struct diag *d)
{
	int r = 0;

	for (size_t i = 0; i < k->view->n_tracks && r == 0; i++) {
		k->track = &k->view->tracks[i];
		r = cursor_read(k->view, k->track, read_kernel_item, k, d);
	}
	codec_lose(k->result, "events that are no kernels", k->n_others);
	return r;
}

static void put_time(struct sink *s, int64_t ns)
{
	sink_put(s, ',');
	sink_int(s, ns);
}

static void put_number(struct sink *s, uint64_t value)
{
	sink_put(s, ',');
	sink_uint(s, value);
}

/* --- a row for each kernel ----------------------------------------------------------------- */

static const struct item_arg *find_launch_arg(const struct item *item, const char *key)
{
	for (size_t i = 0; i < item->n_args; i++)
		if (strcasecmp(item->args[i].key, key) == 0)
			return &item->args[i];
	return NULL;
}

/*
 * A kernel's launch, from "regs:32 static_shared:0 dynamic_shared:1024 grid:16,1,1 block:256,1,1
 * occ_pct:100".
 */
struct kernel_launch {
	uint64_t regs;
	uint64_t shared_bytes;
	uint64_t grid[3]; /* in blocks */
	uint64_t block[3]; /* in threads */
};

static const char *find_detail(const char *details, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = details; (at = strstr(at, name)) != NULL; at += n)
		if ((at == details || at[-1] == ' ' || at[-1] == '\n') && at[n] == ':')
			return at + n + 1;
	return NULL;
}

static uint64_t read_detail_number(const char *details, const char *name)
{
	const char *at = find_detail(details, name);

	return at ? strtoull(at, NULL, 10) : 0;
}

static void read_detail_size(const char *details, const char *name, uint64_t out[3])
{
	const char *at = find_detail(details, name);
	char *end;

	for (int i = 0; i < 3 && at; i++)
		out[i] = 1;
	for (int i = 0; i < 3 && at; i++) {
		out[i] = strtoull(at, &end, 10);
		at = *end == ',' ? end + 1 : NULL;
	}
}

static void read_launch(const struct item *item, struct kernel_launch *l)
{
	const struct item_arg *arg = find_launch_arg(item, "kernel_details");
	char details[512];
	size_t n;

	*l = (struct kernel_launch){.regs = 0};
	if (!arg || arg->type != STAT_STRING)
		return;
	n = arg->n_bytes < sizeof details ? arg->n_bytes : sizeof details - 1;
	memcpy(details, arg->text, n);
	details[n] = '\0';
	l->regs = read_detail_number(details, "regs");
	l->shared_bytes = read_detail_number(details, "static_shared") +
			  read_detail_number(details, "dynamic_shared");
	read_detail_size(details, "grid", l->grid);
	read_detail_size(details, "block", l->block);
}

static const char *name_kind(const struct item *item)
{
	if (find_launch_arg(item, "memcpy_details"))
		return "MEMORY_COPY";
	return find_launch_arg(item, "memset_details") ? "MEMORY_SET" : "KERNEL_DISPATCH";
}

static uint64_t find_correlation(const struct item *item)
{
	const struct item_arg *arg = find_launch_arg(item, "correlation_id");

	return arg && (arg->type == STAT_INT64 || arg->type == STAT_UINT64) ? arg->value.u64 : 0;
}

/* Writes LDS_Block_Size and all columns behind it. ROCm counts grids in threads, not in blocks. */
static void put_launch(struct sink *s, const struct item *item)
{
	struct kernel_launch l;

	read_launch(item, &l);
	put_number(s, l.shared_bytes);
	put_number(s, 0);
	put_number(s, l.regs);
	put_number(s, 0);
	put_number(s, 0);
	for (int i = 0; i < 3; i++)
		put_number(s, l.block[i]);
	for (int i = 0; i < 3; i++)
		put_number(s, l.grid[i] * l.block[i]);
	sink_text(s, "\r\n");
}

static void put_kernel(struct kernels *k, const struct item *item)
{
	const char *name = names_get(&k->view->names, item->name);
	struct sink *s = k->sink;

	sink_printf(s, "\"%s\",\"Agent %d\"", name_kind(item),
		(int)view_get_origin(k->view, k->track)->device);
	put_time(s, k->track->line->id);
	put_time(s, k->track->line->id);
	put_number(s, 0);
	put_number(s, k->result->n_items);
	put_number(s, (uint64_t)item->name + 1);
	sink_put(s, ',');
	sink_csv(s, name, strlen(name));
	put_number(s, find_correlation(item));
	put_time(s, item->start_ns);
	put_time(s, add_saturated(item->start_ns, item->duration_ns));
	put_launch(s, item);
}

static int write_kernels(const struct view *v, const struct codec_options *options, struct sink *s,
	struct codec_result *result, struct diag *d)
{
	struct kernels k = {.view = v, .result = result, .sink = s, .put = put_kernel};

	(void)options;
	sink_text(s,
		"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\","
		"\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\","
		"\"End_Timestamp\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\","
		"\"Accum_VGPR_Count\",\"SGPR_Count\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\","
		"\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\r\n");
	return kernels_read(&k, d);
}

const struct codec codec_csv_kernels = {
	.name = "csv-kernels",
	.suffix = "_kernel_trace.csv",
	.help = "a row for each kernel, with the columns of rocprofv3",
	.write = write_kernels,
};

/* --- a row for each name ------------------------------------------------------------------- */

struct kernel_stats {
	uint32_t name;
	uint64_t n_calls;
	int64_t total_ns;
	int64_t min_ns;
	int64_t max_ns;
	double mean_ns; /* Welford's running mean */
	double squares; /* sum of squared deviations from it */
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

/* Sorts by total, longest first, then by the index of the name in the view. */
static int compare_totals(const void *a, const void *b)
{
	const struct kernel_stats *x = a;
	const struct kernel_stats *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	return (x->name > y->name) - (x->name < y->name);
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

static int write_kernel_stats(const struct view *v, const struct codec_options *options,
	struct sink *s, struct codec_result *result, struct diag *d)
{
	struct kernel_stats *all = calloc((size_t)v->names.n_texts + 1, sizeof *all);
	struct kernels k = {
		.view = v, .result = result, .sink = s, .state = all, .put = add_kernel};
	int r = all ? kernels_read(&k, d) : -ENOMEM;

	(void)options;
	sink_text(s,
		"\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\",\"MinNs\","
		"\"MaxNs\",\"StdDev\"\r\n");
	if (r == 0)
		put_all_stats(s, v, all);
	free(all);
	return r;
}

const struct codec codec_csv_kernel_stats = {
	.name = "csv-kernel-stats",
	.suffix = "_kernel_stats.csv",
	.help = "a row for each name of kernels, with the columns of rocprofv3",
	.write = write_kernel_stats,
};
