/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speedscope's file format: an evented profile for each track, in which spans open and close. Spans
 * of a profile must nest: spans that overlap others go into further profiles with the track's name.
 * The events of a profile are written in one piece, so the track is read once for each of its
 * profiles, of which there are at most LANES_NESTING.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "trace/codec/codec.h"
#include "trace/codec/sink.h"
#include "trace/codec/span_reader.h"
#include "trace/read/lanes.h"
#include "trace/read/view.h"
#include "trace/saturate.h"

struct speedscope {
	const struct view *view;
	struct sink *sink;
	struct codec_result *result;
	struct span_rest rest;
	int64_t shift_ns; /* added to the view's times */
	uint64_t n_profiles;
	uint64_t n_beyond; /* spans that are in no profile */
	uint32_t *frames; /* by name: number of its frame + 1; 0: it has none */
	uint32_t *names; /* by frame */
	uint32_t n_frames;
};

struct profile {
	const struct view_track *track;
	int64_t lane;
	struct lane_stack open;
	uint64_t n_events;
	int64_t start_ns;
	int64_t end_ns;
	int64_t n_lanes; /* of the track */
};

static void put_string(struct sink *s, const char *text)
{
	sink_json(s, text, strlen(text));
}

/* Writes "train: loader", with the host before it if there are several. */
static void put_profile_name(const struct speedscope *p, const struct view_track *track)
{
	const struct view *v = p->view;
	bool has_host = view_names_hosts(v);
	const char *host = has_host ? v->hosts[view_get_origin(v, track)->host].name : "";
	_cleanup_free_ char *name = NULL;

	if (asprintf(&name, "%s%s%s: %s", host, has_host ? " " : "",
		    view_get_process(v, track)->name, track->name) < 0)
		name = NULL;
	put_string(p->sink, name ? name : track->name);
}

/* --- events -------------------------------------------------------------------------------- */

/* Frames are numbered in the order of their first spans. */
static uint32_t take_frame(struct speedscope *p, uint32_t name)
{
	if (!p->frames[name]) {
		p->names[p->n_frames] = name;
		p->frames[name] = ++p->n_frames;
	}
	return p->frames[name] - 1;
}

static void put_event(
	struct speedscope *p, struct profile *f, char type, uint32_t frame, int64_t ns)
{
	struct sink *s = p->sink;

	sink_text(s, f->n_events++ ? ",\n{\"type\":\"" : "\n{\"type\":\"");
	sink_put(s, type);
	sink_text(s, "\",\"at\":");
	sink_int(s, ns);
	sink_text(s, ",\"frame\":");
	sink_uint(s, frame);
	sink_put(s, '}');
}

static void close_until(struct speedscope *p, struct profile *f, int64_t ns)
{
	struct lane_span closed;

	while (lane_stack_close(&f->open, ns, &closed)) {
		put_event(p, f, 'C', closed.id, closed.end_ns);
		f->end_ns = closed.end_ns > f->end_ns ? closed.end_ns : f->end_ns;
	}
}

static void begin_profile(struct speedscope *p, struct profile *f, int64_t start_ns)
{
	sink_text(p->sink, p->n_profiles++ ? ",\n{\"type\":\"evented\",\"name\":"
					   : "\n{\"type\":\"evented\",\"name\":");
	put_profile_name(p, f->track);
	sink_text(p->sink, ",\"unit\":\"nanoseconds\",\"events\":[");
	f->start_ns = f->end_ns = start_ns;
}

static void end_profile(struct speedscope *p, struct profile *f)
{
	close_until(p, f, INT64_MAX);
	sink_printf(p->sink, "],\"startValue\":%" PRId64 ",\"endValue\":%" PRId64 "}", f->start_ns,
		f->end_ns);
}

static int put_span(struct speedscope *p, struct profile *f, const struct item *item)
{
	int64_t start_ns = add_saturated(item->start_ns, p->shift_ns);
	uint32_t frame = take_frame(p, item->name);

	if (f->n_events == 0)
		begin_profile(p, f, start_ns);
	close_until(p, f, start_ns);
	put_event(p, f, 'O', frame, start_ns);
	p->result->n_items++;
	return lane_stack_push(&f->open, frame, start_ns, item->duration_ns);
}

/* --- profiles ------------------------------------------------------------------------------ */

static int put_lane(struct speedscope *p, struct profile *f, struct span_reader *spans)
{
	int r = 0;

	while (p->sink->error == 0 && (r = span_reader_next(spans)) > 0) {
		f->n_lanes = spans->lane >= f->n_lanes ? spans->lane + 1 : f->n_lanes;
		p->n_beyond += f->lane == 0 && spans->lane >= LANES_NESTING;
		r = spans->lane == f->lane ? put_span(p, f, &spans->item) : 0;
		if (r)
			return r;
	}
	if (p->sink->error)
		return p->sink->error;
	if (r == 0 && f->n_events)
		end_profile(p, f);
	return r;
}

static int put_profiles(struct speedscope *p, struct profile *f, struct span_reader *spans)
{
	struct span_rest counted = {0};
	int r = put_lane(p, f, spans);

	while (r == 0 && ++f->lane < f->n_lanes && f->lane < LANES_NESTING) {
		span_reader_rewind(spans, &counted);
		f->n_events = 0;
		r = put_lane(p, f, spans);
	}
	return r;
}

static int put_track(struct speedscope *p, const struct view_track *track, struct diag *d)
{
	struct profile f = {.track = track};
	struct span_reader reader;
	int r = span_reader_open(&reader, p->view, track, &p->rest, d);

	if (r == 0)
		r = put_profiles(p, &f, &reader);
	span_reader_close(&reader);
	lane_stack_deinit(&f.open);
	return r;
}

/* --- the file ------------------------------------------------------------------------------ */

static void put_head(const struct speedscope *p)
{
	sink_text(p->sink, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
			   "\"exporter\":\"proftap " PACKAGE_VERSION "\",\"name\":");
	put_string(p->sink, p->view->hosts[0].stem);
	sink_text(p->sink, ",\"profiles\":[");
}

/* Frames are written behind the profiles, when all are known. */
static void put_frames(const struct speedscope *p)
{
	sink_text(p->sink, "],\"shared\":{\"frames\":[");
	for (uint32_t i = 0; i < p->n_frames; i++) {
		sink_text(p->sink, i ? ",\n{\"name\":" : "\n{\"name\":");
		put_string(p->sink, names_get(&p->view->names, p->names[i]));
		sink_put(p->sink, '}');
	}
	sink_text(p->sink, "]}}\n");
}

static int speedscope_write_all(struct speedscope *p, struct diag *d)
{
	const struct view *v = p->view;
	int r = 0;

	put_head(p);
	for (size_t i = 0; i < v->n_tracks && r == 0; i++)
		r = put_track(p, &v->tracks[i], d);
	put_frames(p);
	span_rest_lose(&p->rest, p->result);
	codec_lose(p->result, "spans that overlap more than 63 others", p->n_beyond);
	return r;
}

static int write_speedscope(const struct view *v, const struct codec_options *options,
	struct sink *s, struct codec_result *result, struct diag *d)
{
	struct speedscope p = {.view = v, .sink = s, .result = result};
	int r = -ENOMEM;

	(void)options;
	p.shift_ns = codec_choose_shift(v);
	p.frames = calloc((size_t)v->names.n_texts + 1, sizeof *p.frames);
	p.names = calloc((size_t)v->names.n_texts + 1, sizeof *p.names);
	if (p.frames && p.names)
		r = speedscope_write_all(&p, d);
	free(p.frames);
	free(p.names);
	return r;
}

const struct codec codec_speedscope = {
	.name = "speedscope",
	.suffix = ".speedscope.json",
	.help = "a profile for each thread, in JSON, for speedscope.app",
	.write = write_speedscope,
};
