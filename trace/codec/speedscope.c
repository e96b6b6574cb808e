/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speedscope's file format: an evented profile for each track, in which spans open and close. Spans
 * of a profile must nest: spans that overlap others go into further profiles with the track's name.
 * The events of a profile are written in one piece, so the track is read once for each of its
 * profiles, of which there are at most LANES_NESTING.
 *
 * A thread that was sampled has a sampled profile of its running, "train: main [cpu]", and one of
 * its waiting, "train: main [waiting]". Such a profile has a list of stacks and one of weights, so
 * the samples are read twice for each.
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
#include "trace/codec/thread_samples.h"
#include "trace/read/cursor.h"
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
	/* By name, and then by text of the view's stacks: number of its frame + 1; 0: none */
	uint32_t *frames;
	uint32_t *names; /* by frame: index into |frames| */
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

/* Writes "train: loader" and the |kind|, with the host before it if there are several. */
static void put_profile_name(
	const struct speedscope *p, const struct view_track *track, const char *kind)
{
	const struct view *v = p->view;
	bool has_host = view_names_hosts(v);
	const char *host = has_host ? v->hosts[view_get_origin(v, track)->host].name : "";
	_cleanup_free_ char *name = NULL;

	if (asprintf(&name, "%s%s%s: %s%s", host, has_host ? " " : "",
		    view_get_process(v, track)->name, track->name, kind) < 0)
		name = NULL;
	put_string(p->sink, name ? name : track->name);
}

/* --- events -------------------------------------------------------------------------------- */

/* Frames are numbered in the order of their first use. */
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

/* |type| is the profile's, and |list| its first one. */
static void put_profile_begin(struct speedscope *p, const char *type,
	const struct view_track *track, const char *kind, const char *list)
{
	sink_printf(p->sink, "%s{\"type\":\"%s\",\"name\":", p->n_profiles++ ? ",\n" : "\n", type);
	put_profile_name(p, track, kind);
	sink_printf(p->sink, ",\"unit\":\"nanoseconds\",\"%s\":[", list);
}

static void begin_profile(struct speedscope *p, struct profile *f, int64_t start_ns)
{
	put_profile_begin(p, "evented", f->track, "", "events");
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

/* --- samples ------------------------------------------------------------------------------- */

/* The profile of the samples of one kind of a thread. */
struct sampled_profile {
	struct speedscope *p;
	const struct view_track *row;
	bool is_waiting; /* the kind of samples */
	struct codec_result *losses; /* counts samples that no profile has */
	bool has_stacks; /* the stacks are written, and the weights are next */
	uint64_t n; /* samples that are written, of the current list */
	int64_t total_ns;
};

static void put_sampled_stack(struct speedscope *p, uint32_t stack)
{
	const struct stacks *s = &p->view->stacks;
	uint32_t path[STACKS_MAX_DEPTH];
	size_t n = stacks_get_path(s, stack, path);

	for (size_t i = 0; i < n; i++) {
		uint32_t function = s->frames[s->v[path[i]].frame].function;

		sink_put(p->sink, i ? ',' : '[');
		sink_uint(p->sink, take_frame(p, p->view->names.n_texts + function));
	}
	sink_put(p->sink, ']');
}

static int put_sample(void *profile, const struct thread_sample *sample)
{
	struct sampled_profile *f = profile;
	struct sink *s = f->p->sink;

	if (!thread_sample_has_weight(sample, f->losses) || sample->is_waiting != f->is_waiting)
		return 0;
	if (!f->has_stacks && f->n == 0)
		put_profile_begin(f->p, "sampled", f->row, f->is_waiting ? " [waiting]" : " [cpu]",
			"samples");
	sink_text(s, f->n++ ? ",\n" : "\n");
	if (f->has_stacks)
		sink_int(s, sample->weight_ns);
	else
		put_sampled_stack(f->p, sample->item->stack);
	f->total_ns = add_saturated(f->total_ns, sample->weight_ns);
	return s->error;
}

/* Speedscope puts the samples of a profile one behind the other, from 0 on. */
static int put_sampled_profile(
	struct sampled_profile *f, const struct view_track *track, struct diag *d)
{
	struct speedscope *p = f->p;
	struct codec_result counted = {0};
	int r = thread_samples_read(p->view, track, put_sample, f, d);

	if (r || f->n == 0)
		return r;
	p->result->n_items += f->n;
	sink_text(p->sink, "],\"weights\":[");
	f->has_stacks = true;
	f->losses = &counted;
	f->n = 0;
	f->total_ns = 0;
	r = thread_samples_read(p->view, track, put_sample, f, d);
	sink_printf(p->sink, "],\"startValue\":0,\"endValue\":%" PRId64 "}", f->total_ns);
	return r ? r : p->sink->error;
}

static int put_samples(struct speedscope *p, const struct view_track *track, struct diag *d)
{
	const struct view_track *row = thread_samples_find_row(p->view, track, p->result);
	struct codec_result counted = {0};
	struct sampled_profile running = {.p = p, .row = row, .losses = p->result};
	struct sampled_profile waiting = {
		.p = p, .row = row, .is_waiting = true, .losses = &counted};
	int r = row ? put_sampled_profile(&running, track, d) : 0;

	if (r || !row)
		return r;
	return put_sampled_profile(&waiting, track, d);
}

/* --- the file ------------------------------------------------------------------------------ */

static void put_head(const struct speedscope *p)
{
	sink_text(p->sink, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
			   "\"exporter\":\"proftap " PACKAGE_VERSION "\",\"name\":");
	put_string(p->sink, p->view->hosts[0].stem);
	sink_text(p->sink, ",\"profiles\":[");
}

static const char *get_frame_text(const struct view *v, uint32_t name)
{
	return name < v->names.n_texts ? names_get(&v->names, name)
				       : names_get(&v->stacks.texts, name - v->names.n_texts);
}

/* Frames are written behind the profiles, when all are known. */
static void put_frames(const struct speedscope *p)
{
	sink_text(p->sink, "],\"shared\":{\"frames\":[");
	for (uint32_t i = 0; i < p->n_frames; i++) {
		sink_text(p->sink, i ? ",\n{\"name\":" : "\n{\"name\":");
		put_string(p->sink, get_frame_text(p->view, p->names[i]));
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
	for (size_t i = 0; i < v->n_samples && r == 0; i++)
		r = put_samples(p, &v->samples[i], d);
	put_frames(p);
	span_rest_lose(&p->rest, p->result);
	codec_lose(p->result, "spans that overlap more than 63 others", p->n_beyond);
	return r;
}

static int write_speedscope(const struct view *v, const struct codec_options *options,
	struct sink *s, struct codec_result *result, struct diag *d)
{
	struct speedscope p = {.view = v, .sink = s, .result = result};
	size_t n_texts = (size_t)v->names.n_texts + v->stacks.texts.n_texts;
	int r = -ENOMEM;

	(void)options;
	p.shift_ns = codec_choose_shift(v);
	p.frames = calloc(n_texts + 1, sizeof *p.frames);
	p.names = calloc(n_texts + 1, sizeof *p.names);
	if (p.frames && p.names)
		r = speedscope_write_all(&p, d);
	free(p.frames);
	free(p.names);
	return r;
}

const struct codec codec_speedscope = {
	.name = "speedscope",
	.suffix = ".speedscope.json",
	.help = "profiles of each thread's spans and samples, in JSON, for speedscope.app",
	.write = write_speedscope,
};
