/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NDJSON: one self-contained JSON object per line, for jq and for loading into tables. The first
 * line describes the trace; its epoch_ns is the Unix time of the trace's time 0. All other times
 * are nanoseconds since time 0.
 */
#include <string.h>

#include "trace/codec/arg_json.h"
#include "trace/codec/codec.h"
#include "trace/codec/sink.h"
#include "trace/codec/thread_samples.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"

struct ndjson {
	const struct view *view;
	const struct view_track *track; /* the one that is being read */
	struct sink *sink;
	struct codec_result *result;
};

static void put_text(struct sink *s, const char *member, const char *text)
{
	sink_printf(s, ",\"%s\":", member);
	sink_json(s, text, strlen(text));
}

static void put_number(struct sink *s, const char *member, int64_t value)
{
	sink_printf(s, ",\"%s\":", member);
	sink_int(s, value);
}

static void put_trace(const struct view *v, struct sink *s)
{
	sink_text(s, "{\"type\":\"trace\",\"version\":1");
	put_number(s, "epoch_ns", v->epoch_ns);
	put_number(s, "first_ns", v->first_ns);
	put_number(s, "end_ns", v->end_ns);
	for (size_t i = 0; i < v->n_archives; i++) {
		sink_text(s, i ? "},{" : ",\"hosts\":[{");
		sink_text(s, "\"name\":");
		sink_json(s, v->hosts[i].name, strlen(v->hosts[i].name));
		put_text(s, "file", v->hosts[i].stem);
		put_number(s, "n_dropped", (int64_t)v->hosts[i].n_dropped);
	}
	sink_text(s, "}]}\n");
}

static void put_place(const struct ndjson *w)
{
	const struct view *v = w->view;
	const struct view_track *track = w->track;
	struct sink *s = w->sink;
	const struct view_process *p = view_get_process(v, track);
	const struct view_process *origin = view_get_origin(v, track);

	put_text(s, "host", v->hosts[origin->host].name);
	put_text(s, "process", p->name);
	put_number(s, "pid", p->pid);
	put_text(s, "thread", track->name);
	put_number(s, "tid", view_track_get_tid(track));
	if (view_track_has_sources(v, track))
		put_text(s, "file", view_track_get_source(v, track));
	if (origin->device >= 0)
		put_number(s, "device", origin->device);
}

/* Writes the members that events and samples have. */
static void put_head(const struct ndjson *w, const struct item *item)
{
	struct sink *s = w->sink;

	sink_printf(s, "{\"type\":\"%s\"", codec_get_item_type(w->track, item));
	put_text(s, "name", names_get(&w->view->names, item->name));
	put_number(s, "start_ns", item->start_ns);
	if (item->kind == ITEM_SPAN || item->duration_ns)
		put_number(s, "duration_ns", item->duration_ns);
	put_place(w);
}

static int put_item(void *ndjson, const struct item *item)
{
	struct ndjson *w = ndjson;
	struct sink *s = w->sink;

	put_head(w, item);
	if (item->flow_out)
		put_number(s, "flow_out", (int64_t)item->flow_out);
	if (item->flow_in)
		put_number(s, "flow_in", (int64_t)item->flow_in);
	if (item->n_args) {
		sink_text(s, ",\"args\":");
		arg_json_object(s, item, arg_json_value);
	}
	sink_text(s, "}\n");
	w->result->n_items++;
	return s->error;
}

/* --- samples ------------------------------------------------------------------------------- */

/* Writes the functions from the outermost to the innermost. */
static void put_stack(const struct ndjson *w, uint32_t stack)
{
	const struct stacks *s = &w->view->stacks;
	uint32_t path[STACKS_MAX_DEPTH];
	size_t n = stacks_get_path(s, stack, path);

	sink_text(w->sink, ",\"stack\":[");
	for (size_t i = 0; i < n; i++) {
		const char *function = stacks_get_function(s, path[i]);

		if (i)
			sink_put(w->sink, ',');
		sink_json(w->sink, function, strlen(function));
	}
	sink_put(w->sink, ']');
}

static int put_sample(void *ndjson, const struct thread_sample *sample)
{
	struct ndjson *w = ndjson;
	struct sink *s = w->sink;
	int64_t cpu = thread_sample_find_cpu(sample->item);

	put_head(w, sample->item);
	put_number(s, "weight_ns", sample->weight_ns);
	if (cpu >= 0)
		put_number(s, "cpu", cpu);
	if (sample->span != NAMES_NONE)
		put_text(s, "span", names_get(&w->view->names, sample->span));
	if (sample->has_step)
		put_number(s, "step", sample->step_num);
	put_stack(w, sample->item->stack);
	sink_text(s, "}\n");
	w->result->n_items++;
	return s->error;
}

static int put_samples(struct ndjson *w, const struct view_track *track, struct diag *d)
{
	w->track = thread_samples_find_row(w->view, track, w->result);
	return w->track ? thread_samples_read(w->view, track, put_sample, w, d) : 0;
}

static int put_states(struct ndjson *w, const struct view_track *track, struct diag *d)
{
	w->track = thread_samples_find_row(w->view, track, w->result);
	return w->track ? cursor_read(w->view, track, put_item, w, d) : 0;
}

static int write_ndjson(const struct view *v, const struct codec_options *options, struct sink *s,
	struct codec_result *result, struct diag *d)
{
	struct ndjson w = {.view = v, .sink = s, .result = result};
	int r = 0;

	(void)options;
	put_trace(v, s);
	for (size_t i = 0; i < v->n_tracks && r == 0; i++) {
		w.track = &v->tracks[i];
		r = cursor_read(v, w.track, put_item, &w, d);
	}
	for (size_t i = 0; i < v->n_samples && r == 0; i++)
		r = put_samples(&w, &v->samples[i], d);
	for (size_t i = 0; i < v->n_states && r == 0; i++)
		r = put_states(&w, &v->states[i], d);
	return r;
}

const struct codec codec_ndjson = {
	.name = "ndjson",
	.suffix = ".ndjson",
	.help = "one JSON object a line, for jq and tables",
	.write = write_ndjson,
};
