/* SPDX-License-Identifier: Apache-2.0 */
/* Reads outlines: a sink of the decoder counts the events. */
#include "trace/xspace/outline.h"

#include "base/diag.h"
#include "trace/model/space.h"
#include "trace/saturate.h"
#include "trace/xspace/totals.h"
#include "trace/xspace/xspace_decoder.h"

struct outline_reading {
	struct tally tally;
	uint64_t n_events;
	int64_t last_ns; /* end of the last event */
	int (*pass)(const uint8_t *p, void *context);
	void *context;
};

static int outline_take_events(
	const struct plane *plane, const struct line *line, bool is_last, void *context)
{
	struct outline_reading *r = context;

	if (r->tally.plane != plane)
		tally_begin_plane(&r->tally, plane);
	r->n_events += line->n_events;
	for (size_t i = 0; i < line->n_events; i++) {
		int64_t end_ns =
			add_saturated(line->events[i].start_ns, line->events[i].duration_ns);

		r->last_ns = end_ns > r->last_ns ? end_ns : r->last_ns;
	}
	tally_add_events(&r->tally, line);
	if (is_last)
		tally_end_line(&r->tally, line);
	return 0;
}

static int outline_pass(const uint8_t *p, void *context)
{
	const struct outline_reading *r = context;

	return r->pass(p, r->context);
}

static struct report_length read_length(const struct space *space, int64_t last_ns)
{
	const struct plane *plane = space_find_plane(space, PLANE_ENVIRONMENT);
	const struct trace_stat *options =
		plane ? plane_find_own_stat(plane, "profile_options") : NULL;
	struct report_length length = {
		.start_unix_ns = plane_find_int(plane, "profile_start_time"),
		.stop_unix_ns = plane_find_int(plane, "profile_stop_time"),
		.last_ns = last_ns,
	};

	if (options && options->type == STAT_BYTES) {
		length.options = plane->blobs[options->value.bytes].data;
		length.n_options = plane->blobs[options->value.bytes].n_bytes;
	}
	for (size_t i = 0; i < space->n_planes; i++)
		length.is_ours |=
			plane_find_own_stat(space->planes[i], "ptap_process_name") != NULL;
	return length;
}

int outline_read(struct outline *o, const uint8_t *data, size_t n_bytes,
	int (*on_pass)(const uint8_t *p, void *context), void *context, struct diag *diag)
{
	struct outline_reading reading = {.pass = on_pass, .context = context};
	const struct decoder_sink sink = {outline_take_events, outline_pass, &reading};
	struct decoder d = {.data = data, .diag = diag, .sink = &sink};
	int r;

	*o = (struct outline){.space = NULL};
	if (space_new(&o->space))
		return decoder_fail_memory(&d);
	d.space = o->space;
	r = decoder_read_space(&d, n_bytes);
	for (size_t i = 0; i < o->space->n_planes; i++)
		tally_add_facts(&reading.tally, o->space->planes[i]);
	tally_deinit(&reading.tally);
	o->totals = reading.tally.totals;
	o->n_events = reading.n_events;
	o->length = read_length(o->space, reading.last_ns);
	return r;
}

void outline_deinit(struct outline *o)
{
	o->space = space_free(o->space);
}
