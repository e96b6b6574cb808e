/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels one by one, as CSV with the columns of rocprofv3's *_kernel_trace.csv, so that scripts made for those read it. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "trace/codec/codec.h"
#include "trace/codec/formats.h"
#include "trace/codec/kernels.h"
#include "trace/codec/sink.h"
#include "trace/read/archive.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/saturate.h"

static const struct item_arg *find_arg(const struct item *item, const char *key)
{
	for (size_t i = 0; i < item->n_args; i++)
		if (strcasecmp(item->args[i].key, key) == 0)
			return &item->args[i];
	return NULL;
}

/* What a kernel was launched with: "regs:32 static_shared:0 dynamic_shared:1024 grid:16,1,1 block:256,1,1 occ_pct:100". */
struct launch {
	uint64_t regs;
	uint64_t shared_bytes;
	uint64_t grid[3]; /* of blocks */
	uint64_t block[3]; /* of threads */
};

static const char *find_field(const char *details, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = details; (at = strstr(at, name)) != NULL; at += n)
		if ((at == details || at[-1] == ' ' || at[-1] == '\n') && at[n] == ':')
			return at + n + 1;
	return NULL;
}

static uint64_t read_number(const char *details, const char *name)
{
	const char *at = find_field(details, name);

	return at ? strtoull(at, NULL, 10) : 0;
}

static void read_size(const char *details, const char *name, uint64_t out[3])
{
	const char *at = find_field(details, name);
	char *end;

	for (int i = 0; i < 3 && at; i++)
		out[i] = 1;
	for (int i = 0; i < 3 && at; i++) {
		out[i] = strtoull(at, &end, 10);
		at = *end == ',' ? end + 1 : NULL;
	}
}

static void read_launch(const struct item *item, struct launch *l)
{
	const struct item_arg *arg = find_arg(item, "kernel_details");
	char details[512];
	size_t n;

	*l = (struct launch){.regs = 0};
	if (!arg || arg->type != STAT_STRING)
		return;
	n = arg->n_bytes < sizeof details ? arg->n_bytes : sizeof details - 1;
	memcpy(details, arg->text, n);
	details[n] = '\0';
	l->regs = read_number(details, "regs");
	l->shared_bytes =
		read_number(details, "static_shared") + read_number(details, "dynamic_shared");
	read_size(details, "grid", l->grid);
	read_size(details, "block", l->block);
}

static const char *name_kind(const struct item *item)
{
	if (find_arg(item, "memcpy_details"))
		return "MEMORY_COPY";
	return find_arg(item, "memset_details") ? "MEMORY_SET" : "KERNEL_DISPATCH";
}

static uint64_t find_correlation(const struct item *item)
{
	const struct item_arg *arg = find_arg(item, "correlation_id");

	return arg && (arg->type == STAT_INT64 || arg->type == STAT_UINT64) ? arg->value.u64 : 0;
}

static void put_number(struct sink *s, uint64_t value)
{
	sink_put(s, ',');
	sink_uint(s, value);
}

static void put_time(struct sink *s, int64_t ns)
{
	sink_put(s, ',');
	sink_int(s, ns);
}

/* LDS_Block_Size and all that follows. ROCm's grids are of threads. */
static void put_launch(struct sink *s, const struct item *item)
{
	struct launch l;

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
	.help = "a row for each kernel, as rocprofv3 has it",
	.write = write_kernels,
};
