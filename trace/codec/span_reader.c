/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the spans of a track, and counts all other items. */
#include "trace/codec/span_reader.h"

#include "trace/codec/codec.h"

int span_reader_open(struct span_reader *r, const struct view *view, const struct view_track *track,
	struct span_rest *rest, struct diag *d)
{
	r->lanes = (struct lanes){.v = NULL};
	r->rest = rest;
	return cursor_open(&r->cursor, view, track, d);
}

void span_reader_rewind(struct span_reader *r, struct span_rest *rest)
{
	lanes_deinit(&r->lanes);
	r->rest = rest;
	cursor_rewind(&r->cursor);
}

void span_reader_close(struct span_reader *r)
{
	lanes_deinit(&r->lanes);
	cursor_close(&r->cursor);
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

int span_reader_next(struct span_reader *r)
{
	int rc;

	do {
		rc = cursor_next(&r->cursor, &r->item);
		if (rc <= 0)
			return rc;
		count_rest(r->rest, &r->item);
	} while (r->item.kind != ITEM_SPAN);
	r->lane = lanes_place(&r->lanes, r->item.start_ns, r->item.duration_ns);
	return r->lane < 0 ? (int)r->lane : 1;
}

void span_rest_lose(const struct span_rest *rest, struct codec_result *result)
{
	codec_lose(result, "instants", rest->n_instants);
	codec_lose(result, "counter samples", rest->n_samples);
	codec_lose(result, "ends of flows", rest->n_flow_ends);
	codec_lose(result, "arguments of spans", rest->n_args);
	codec_lose(result, "spans on derived lines", rest->n_derived);
}
