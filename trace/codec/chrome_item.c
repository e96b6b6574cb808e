/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Items as events of Chrome's format. Spans are "X". Importers drop an X that overlaps another one of its row without
 * being inside, so each goes to the first row on which it nests. Flows are "s" and "f", which bind to the event that
 * was written last on their row at their time; of "bind_id" an event can have one only, and an instant none.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "trace/codec/arg_json.h"
#include "trace/codec/chrome.h"
#include "trace/codec/codec.h"
#include "trace/codec/item_type.h"
#include "trace/codec/sink.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/saturate.h"

static void put_time(struct chrome *c, const char *member, int64_t ns)
{
	sink_text(c->sink, member);
	sink_micros(c->sink, ns);
}

static void put_start(struct chrome *c, const struct item *item)
{
	put_time(c, ",\"ts\":", add_saturated(item->start_ns, c->shift_ns));
}

static void put_args(struct chrome *c, const struct item *item)
{
	if (item->n_args == 0)
		return;
	sink_text(c->sink, ",\"args\":");
	arg_json_object(c->sink, item, arg_json_viewer_value);
}

static const char *get_name(const struct chrome *c, const struct item *item)
{
	return names_get(&c->view->names, item->name);
}

/* --- flows --------------------------------------------------------------------------------- */

/* Ids are texts in hexadecimal: importers read them so, and JavaScript's numbers are too short. */
static void put_flow(
	struct chrome *c, const struct item *item, const char *phase, uint64_t id, int64_t tid)
{
	/* Importers join ends of one name only: of ours both have it, of others' a call and its kernel do not. */
	bool has_name = item->kind == ITEM_INSTANT && c->view->hosts[c->track->host].is_ours;

	if (id == 0)
		return;
	chrome_begin(c, phase, has_name ? get_name(c, item) : "flow", tid);
	put_start(c, item);
	sink_printf(c->sink, ",\"cat\":\"flow\",\"id\":\"0x%" PRIx64 "\"", id);
	if (phase[0] == 'f')
		sink_text(c->sink, ",\"bp\":\"e\"");
	chrome_end(c);
}

static void put_flows(struct chrome *c, const struct item *item, int64_t tid)
{
	put_flow(c, item, "f", item->flow_in, tid);
	put_flow(c, item, "s", item->flow_out, tid);
}

/* --- spans and instants -------------------------------------------------------------------- */

/* Of what is more than a thread's span. */
static void put_category(struct chrome *c, const struct item *item)
{
	if (c->track->kind == TRACK_THREAD && !item->is_step)
		return;
	sink_text(c->sink, ",\"cat\":\"");
	sink_text(c->sink, item_type_get(c->track, item));
	sink_put(c->sink, '"');
}

/* The tid of the span's row, or -ENOMEM. A new row is named. */
static int64_t find_row(struct chrome *c, const struct item *item)
{
	int64_t lane = lanes_place(&c->lanes, item->start_ns, item->duration_ns);
	int64_t tid = c->second_tid + lane - 1;

	if (lane <= 0)
		return lane < 0 ? -ENOMEM : c->tid;
	return tid == c->next_tid ? chrome_add_row(c) : tid;
}

static int put_span(struct chrome *c, const struct item *item)
{
	int64_t tid = find_row(c, item);

	if (tid < 0)
		return -ENOMEM;
	chrome_begin(c, "X", get_name(c, item), tid);
	put_category(c, item);
	put_start(c, item);
	put_time(c, ",\"dur\":", item->duration_ns);
	put_args(c, item);
	chrome_end(c);
	put_flows(c, item, tid);
	return 1;
}

static int put_instant(struct chrome *c, const struct item *item)
{
	chrome_begin(c, "i", get_name(c, item), c->tid);
	put_start(c, item);
	sink_text(c->sink, ",\"s\":\"t\"");
	put_args(c, item);
	chrome_end(c);
	put_flows(c, item, c->tid);
	return 1;
}

/* --- samples ------------------------------------------------------------------------------- */

/* Whether another track of the process has samples of that name: then they are told apart by an id. */
static bool is_second_series(struct chrome *c, const struct item *item)
{
	uint32_t *last = &c->series[item->name];
	uint32_t at = (uint32_t)(c->track - c->view->tracks) + 1;
	const struct view_track *other = *last ? &c->view->tracks[*last - 1] : c->track;

	if (other != c->track && other->process == c->track->process)
		return true;
	*last = at;
	return false;
}

static bool is_number(const struct item *item)
{
	double value;

	return item->n_args && item_arg_to_double(&item->args[0], &value) && isfinite(value);
}

static int put_sample(struct chrome *c, const struct item *item)
{
	if (!is_number(item)) {
		codec_lose(c->result, "counter samples that are no number", 1);
		return 0;
	}
	codec_lose(c->result, "further values of counter samples", item->n_args - 1);
	chrome_begin(c, "C", get_name(c, item), c->track->tid);
	put_start(c, item);
	if (is_second_series(c, item))
		sink_printf(c->sink, ",\"id\":\"%" PRId64 "\"", c->track->tid);
	sink_text(c->sink, ",\"args\":{");
	sink_json(c->sink, item->args[0].key, strlen(item->args[0].key));
	sink_put(c->sink, ':');
	arg_json_value(c->sink, &item->args[0]);
	sink_put(c->sink, '}');
	chrome_end(c);
	return 1;
}

/* --- all ----------------------------------------------------------------------------------- */

int chrome_put_item(struct chrome *c, const struct item *item)
{
	switch (item->kind) {
	case ITEM_SPAN:
		return put_span(c, item);
	case ITEM_INSTANT:
		return put_instant(c, item);
	case ITEM_SAMPLE:
		return put_sample(c, item);
	}
	return 0;
}
