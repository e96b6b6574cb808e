/* SPDX-License-Identifier: Apache-2.0 */
/* Planes of devices; see device_planes.h. */
#include "daemon/pipeline/assembly/device_planes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/cancel.h"
#include "base/cleanup.h"
#include "daemon/pipeline/assembly/assemble.h"
#include "daemon/pipeline/assembly/assembly.h"
#include "daemon/pipeline/assembly/track.h"
#include "daemon/pipeline/devices/device_drawing.h"
#include "daemon/pipeline/devices/device_lines.h"
#include "daemon/pipeline/devices/device_memory.h"
#include "daemon/pipeline/devices/device_plane.h"
#include "daemon/pipeline/devices/device_xspace.h"
#include "daemon/pipeline/devices/devices.h"
#include "daemon/target/target.h"
#include "daemon/target/timeline.h"

/* Events that are encoded at a time, so that their stats stay in a core's own cache. */
#define PART_EVENTS 1024u

/* The line number of a known device without events, which gets a plane, too. */
#define DEVICE_PLACE_NO_LINE UINT32_MAX

struct device_place {
	struct device_line_key key;
	uint32_t line; /* number, or DEVICE_PLACE_NO_LINE */
};

struct device_plane_builder {
	struct assembly *as;
	struct device_drawing g;
	struct plane *host;
	struct space *space;
	unsigned n_memories; /* lines of |host| with device memory */
	struct device_plane plane;
	struct xspace_events encoder;
};

/* --- the order of lines --------------------------------------------------------------------- */

/* Sorts by device, then by type and stream, then by arrival. */
static int compare_places(const void *left, const void *right)
{
	const struct device_place *a = left;
	const struct device_place *b = right;

	if (a->key.collector != b->key.collector)
		return a->key.collector < b->key.collector ? -1 : 1;
	if (a->key.device != b->key.device)
		return a->key.device < b->key.device ? -1 : 1;
	if (a->key.type != b->key.type)
		return a->key.type < b->key.type ? -1 : 1;
	if (a->key.stream != b->key.stream)
		return a->key.stream < b->key.stream ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

/* Owner: *out belongs to the caller (free). 0 or -ENOMEM. */
static int device_places_make(
	const struct device_records *d, struct device_place **out, size_t *n_out)
{
	struct device_place *places = calloc(d->lines.n + d->n_known + 1, sizeof *places);
	size_t n = 0;

	if (!places)
		return -ENOMEM;
	for (uint32_t i = 0; i < d->lines.n; i++)
		if (d->lines.v[i].n_events)
			places[n++] = (struct device_place){*device_lines_get_key(&d->lines, i), i};
	for (size_t i = 0; i < d->n_known; i++) {
		places[n].key.collector = d->known[i].collector;
		places[n].key.device = d->known[i].device;
		places[n++].line = DEVICE_PLACE_NO_LINE;
	}
	qsort(places, n, sizeof *places, compare_places);
	*out = places;
	*n_out = n;
	return 0;
}

/* Counts the places, of |n| from |places| on, that belong to the same device as the first one. */
static size_t device_places_count(const struct device_place *places, size_t n)
{
	size_t i = 1;

	while (i < n && places[i].key.collector == places[0].key.collector &&
		places[i].key.device == places[0].key.device)
		i++;
	return i;
}

/* --- one line ------------------------------------------------------------------------------ */

/* Events get their stats only while they are encoded. */
static int spool_events(
	struct device_plane_builder *d, size_t i, struct line *made, struct track *track)
{
	struct plane *plane = d->plane.plane;
	size_t n_stats = plane->n_stats;
	int r = 0;

	for (size_t at = 0; at < made->n_events && !r; at += PART_EVENTS) {
		size_t left = made->n_events - at;
		size_t n = left < PART_EVENTS ? left : PART_EVENTS;

		r = cancel_check(d->g.scope->cancel);
		if (!r)
			r = device_drawing_add_stats(&d->g, i, made->events + at, n);
		if (!r)
			r = track_append(track, &d->encoder, made->events + at, n, d->as->spool,
				d->as->keep);
		plane->n_stats = n_stats;
	}
	return r;
}

static int add_spooled_line(
	struct device_plane_builder *d, size_t i, struct line *made, int64_t id, const char *name)
{
	struct track *track = track_new(d->as->spool);
	struct line *line;
	int r = track ? spool_events(d, i, made, track) : -ENOMEM;

	if (r)
		return r;
	track_finish(track);
	d->as->n_dropped += track->n_dropped;
	line = track->n_events ? plane_add_line(d->plane.plane, id, name, 0) : NULL;
	if (!line)
		return track->n_events ? -ENOMEM : 0;
	line->n_stored = track->n_events;
	line->stored_bytes = track->n_bytes;
	line->store = track;
	return 0;
}

/* Moves the events of |made| to a line of the plane. */
static int add_line_in_memory(
	struct device_plane_builder *d, size_t i, struct line *made, int64_t id, const char *name)
{
	struct line *line = plane_add_line(d->plane.plane, id, name, 0);

	if (!line)
		return -ENOMEM;
	line->events = made->events;
	line->n_events = made->n_events;
	line->n_allocated = made->n_allocated;
	made->events = NULL;
	return device_drawing_add_stats(&d->g, i, line->events, line->n_events);
}

static int add_made_line(struct device_plane_builder *d, size_t i, struct line *made)
{
	const struct device_lines *lines = &d->g.d->lines;
	const struct device_line_key *key = device_lines_get_key(lines, i);
	int64_t id = device_line_choose_id(&d->plane, key);
	char name[DEVICE_LINE_NAME_BYTES];
	int r = 0;

	device_line_name(&d->plane, &d->g, key, &lines->v[i], name);
	if (key->type == DEVICE_LINE_MEMORY)
		r = device_memory_add(&d->g, i, made, d->n_memories++, d->host);
	if (r)
		return r;
	return d->as->spool ? add_spooled_line(d, i, made, id, name)
			    : add_line_in_memory(d, i, made, id, name);
}

static int add_device_line(struct device_plane_builder *d, size_t i)
{
	struct line made = {.id = 0};
	int r = device_drawing_make_line(&d->g, i, &made);

	if (!r && made.n_events)
		r = add_made_line(d, i, &made);
	free(made.events);
	return r;
}

/* --- planes -------------------------------------------------------------------------------- */

static size_t count_streams(const struct device_place *places, size_t n)
{
	size_t n_streams = 0;

	for (size_t i = 0; i < n; i++)
		n_streams += places[i].key.type == DEVICE_LINE_STREAM &&
			     places[i].line != DEVICE_PLACE_NO_LINE;
	return n_streams;
}

static bool is_drawn(const struct device_place *place, bool is_beside)
{
	return place->line != DEVICE_PLACE_NO_LINE &&
	       device_line_is_beside((enum device_line_type)place->key.type) == is_beside;
}

static size_t count_beside(const struct device_place *places, size_t n)
{
	size_t n_beside = 0;

	for (size_t i = 0; i < n; i++)
		n_beside += is_drawn(&places[i], 1);
	return n_beside;
}

/* Adds lines to the plane that is open. */
static int add_device_lines(
	struct device_plane_builder *d, const struct device_place *places, size_t n, bool is_beside)
{
	int r = 0;

	xspace_events_init(&d->encoder, d->plane.plane);
	for (size_t i = 0; i < n && !r; i++)
		if (is_drawn(&places[i], is_beside))
			r = add_device_line(d, places[i].line);
	xspace_events_deinit(&d->encoder);
	return r;
}

/*
 * Adds the |n| places of one device to its plane, and to the plane beside it, which is made only if
 * some places belong there.
 */
static int add_device_plane(
	struct device_plane_builder *d, const struct device_place *places, size_t n)
{
	unsigned collector = places[0].key.collector;
	unsigned device = places[0].key.device;
	int r = device_plane_open(
		&d->plane, &d->g, collector, device, count_streams(places, n), d->space);

	if (!r)
		r = add_device_lines(d, places, n, 0);
	if (r || !count_beside(places, n))
		return r;
	r = device_plane_open_beside(&d->plane, &d->g, collector, device, d->space);
	return r ? r : add_device_lines(d, places, n, 1);
}

static int add_device_planes(struct device_plane_builder *d)
{
	_cleanup_free_ struct device_place *places = NULL;
	size_t n = 0;
	int r = device_places_make(d->g.d, &places, &n);

	for (size_t at = 0; at < n && !r;) {
		size_t n_here = device_places_count(places + at, n - at);

		r = add_device_plane(d, places + at, n_here);
		at += n_here;
	}
	return r;
}

/*
 * In a session, records belong to the part in which they arrived. In the last part, records that
 * began after the end of the recording are left out.
 */
static struct device_scope find_scope(
	const struct assembly *as, const struct assemble_input *in, const struct plane *host)
{
	int64_t to_ns = in->goes_on ? INT64_MAX : timeline_convert(in->timeline, in->stop_ticks);

	return (struct device_scope){
		.arena = as->target->arena,
		.process_name = as->target->name,
		.pid = as->target->pid,
		.is_child = in->plane_id != 0,
		.base_ns = in->timeline->pairs[0].monotonic_ns + as->target->clock_ahead_ns,
		.to_ns = to_ns < as->end_ns ? to_ns : as->end_ns,
		.span_names = &host->event_names,
		.max_ops = in->max_ops,
		.cancel = in->cancel,
	};
}

int device_planes_add(struct assembly *as, const struct assemble_input *in, struct plane *host,
	struct space *space, uint64_t *n_dropped)
{
	struct device_plane_builder d = {.as = as, .host = host, .space = space};
	struct device_scope scope = find_scope(as, in, host);
	int r = 0;

	devices_settle(&as->devices);
	devices_make_room(&as->devices);
	if (devices_have_content(&as->devices)) {
		r = device_drawing_init(&d.g, &as->devices, &scope);
		if (!r)
			r = add_device_planes(&d);
	}
	if (!r)
		r = device_xspace_add(&as->devices, &scope, space);
	if (!r)
		r = device_losses_add(&as->devices, &d.g.losses, &scope, host, space, n_dropped);
	device_drawing_deinit(&d.g);
	return r;
}
