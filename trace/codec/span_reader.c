/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the spans of a track, and counts all other items. */
#include "trace/codec/span_reader.h"

#include "trace/codec/codec.h"

int span_reader_open(struct span_reader *spans, const struct view *view,
	const struct view_track *track, struct span_rest *rest, struct diag *d)
{
	spans->lanes = (struct lanes){.v = NULL};
	spans->rest = rest;
	return cursor_open(&spans->cursor, view, track, d);
}

void span_reader_rewind(struct span_reader *spans, struct span_rest *rest)
{
	lanes_deinit(&spans->lanes);
	spans->rest = rest;
	cursor_rewind(&spans->cursor);
}

void span_reader_close(struct span_reader *spans)
{
	lanes_deinit(&spans->lanes);
	cursor_close(&spans->cursor);
}

static void count_rest(struct span_rest *rest, const struct item *item)
{
	/* A flow mark counts as an end of a flow, not as an instant. */
	rest->n_instants += item->kind == ITEM_INSTANT && !item->flow_out && !item->flow_in;
	rest->n_samples += item->kind == ITEM_SAMPLE;
	rest->n_flow_ends += (item->flow_out != 0) + (uint64_t)(item->flow_in != 0);
	if (item->kind == ITEM_SPAN)
		rest->n_args += item->n_args;
}

int span_reader_next(struct span_reader *spans)
{
	int r;

	do {
		r = cursor_next(&spans->cursor, &spans->item);
		if (r <= 0)
			return r;
		count_rest(spans->rest, &spans->item);
	} while (spans->item.kind != ITEM_SPAN);
	spans->lane = lanes_place(&spans->lanes, spans->item.start_ns, spans->item.duration_ns);
	return spans->lane < 0 ? (int)spans->lane : 1;
}

void span_rest_lose(const struct span_rest *rest, struct codec_result *result)
{
	codec_lose(result, "instants", rest->n_instants);
	codec_lose(result, "counter samples", rest->n_samples);
	codec_lose(result, "ends of flows", rest->n_flow_ends);
	codec_lose(result, "arguments of spans", rest->n_args);
	codec_lose(result, "spans on derived lines", rest->n_derived);
}
