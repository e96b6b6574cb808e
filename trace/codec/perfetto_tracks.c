/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracks; see perfetto_tracks.h. Rows of one name and one parent are merged by the viewer, and drawn as few as their spans need:
 * what we want of async spans, and of the lanes of one thread or stream, but not of two streams of one name.
 */
#include "trace/codec/perfetto_tracks.h"

#include <errno.h>
#include <string.h>

#include "trace/codec/perfetto.h"
#include "trace/codec/perfetto_fields.h"
#include "trace/codec/perfetto_labels.h"
#include "trace/codec/perfetto_unit.h"

#define FEW_BYTES 256 /* a descriptor without its texts */

/* A packet with a descriptor in it, being written. */
struct description {
	uint8_t *packet;
	uint8_t *descriptor;
	uint8_t *at;
};

/* Room for texts of |n_text| bytes, too. */
static int begin(struct perfetto *w, struct description *d, uint64_t uuid,
	const struct view_process *p, size_t n_text)
{
	uint8_t *at = perfetto_reserve(w, FEW_BYTES + PACKET_TEXT_BYTES(n_text));

	if (!at)
		return -ENOMEM;
	d->packet = packet_open(at, TRACE_PACKET);
	at = pb_put_uint(d->packet, PACKET_TIMESTAMP, perfetto_time(w, w->view->first_ns));
	at = perfetto_put_machine(w, at, p->host);
	d->descriptor = packet_open(at, PACKET_TRACK_DESCRIPTOR);
	d->at = pb_put_uint(d->descriptor, DESCRIPTOR_UUID, uuid);
	return 0;
}

static int end(struct perfetto *w, struct description *d)
{
	return perfetto_put(w, d->packet, packet_close(d->descriptor, d->at));
}

/* --- processes and threads ----------------------------------------------------------------- */

/* |track|: of perfetto_labels_make(). */
static int put_process(struct perfetto *w, uint32_t process, size_t *track)
{
	const struct view_process *p = &w->view->processes[process];
	size_t n_name = strlen(p->name);
	struct perfetto_labels labels;
	struct description d;
	uint8_t *message;

	perfetto_labels_make(&labels, w->view, process, track);
	if (begin(w, &d, perfetto_process_uuid(process), p, n_name + sizeof labels.v))
		return -ENOMEM;
	message = packet_open(d.at, DESCRIPTOR_PROCESS);
	d.at = pb_put_uint(message, PROCESS_PID, (uint64_t)p->pid);
	d.at = packet_text(d.at, PROCESS_NAME, p->name, n_name);
	for (size_t i = 0; i < labels.n; i++)
		d.at = packet_text(d.at, PROCESS_LABELS, labels.v[i], strlen(labels.v[i]));
	d.at = packet_close(message, d.at);
	d.at = pb_put_uint(d.at, DESCRIPTOR_CHILD_ORDERING, CHILD_ORDERING_EXPLICIT);
	return end(w, &d);
}

static int put_thread(struct perfetto *w, const struct view_track *t)
{
	const struct view_process *p = view_get_process(w->view, t);
	size_t n_name = strlen(t->name);
	struct description d;
	uint8_t *message;

	if (begin(w, &d, perfetto_track_uuid(w->view, t), p, n_name))
		return -ENOMEM;
	message = packet_open(d.at, DESCRIPTOR_THREAD);
	d.at = pb_put_uint(message, THREAD_PID, (uint64_t)p->pid);
	d.at = pb_put_uint(d.at, THREAD_TID, (uint64_t)t->tid);
	d.at = packet_text(d.at, THREAD_NAME, t->name, n_name);
	d.at = packet_close(message, d.at);
	return end(w, &d);
}

/*
 * A row for several tracks belongs to no thread, because the tracks overlap. What another server
 * saw of a thread is a row below the thread's.
 */
static bool is_thread(const struct view_track *t)
{
	return t->kind == TRACK_THREAD && !t->is_shared && !view_track_is_second(t);
}

/* --- other rows ---------------------------------------------------------------------------- */

static uint64_t find_rank(const struct view *v, const struct view_track *t)
{
	return (uint64_t)(t - v->tracks);
}

/* A row named as the track is, or its source, in its process or, where it belongs to a thread, with that. */
static int put_row(struct perfetto *w, const struct view_track *t, uint64_t uuid)
{
	const struct view *v = w->view;
	const struct view_track *first = view_track_get_first(t);
	uint64_t parent = is_thread(first) ? perfetto_track_uuid(v, first)
					   : perfetto_process_uuid(t->process);
	uint64_t key = t->is_shared ? t->row : find_rank(v, t);
	const char *name = first == t ? t->name : view_track_get_source(v, t);
	size_t n_name = strlen(name);
	struct description d;

	if (begin(w, &d, uuid, view_get_process(v, t), n_name))
		return -ENOMEM;
	d.at = packet_text(d.at, DESCRIPTOR_NAME, name, n_name);
	d.at = pb_put_uint(d.at, DESCRIPTOR_PARENT, parent);
	d.at = pb_put_uint(d.at, DESCRIPTOR_RANK, find_rank(v, t));
	if (t->kind != TRACK_ASYNC || t->is_shared) {
		d.at = pb_put_uint(d.at, DESCRIPTOR_MERGE, MERGE_BY_KEY);
		d.at = pb_put_uint(d.at, DESCRIPTOR_MERGE_KEY_INT, key + 1);
	}
	return end(w, &d);
}

int64_t perfetto_put_lane(struct perfetto *w, const struct view_track *track)
{
	uint64_t uuid = ++w->n_uuids;
	int rc = put_row(w, track, uuid);

	return rc ? rc : (int64_t)uuid;
}

static uint8_t *put_unit(uint8_t *at, const char *name)
{
	uint8_t *counter = packet_open(at, DESCRIPTOR_COUNTER);
	const struct perfetto_unit *unit = perfetto_find_unit(name);

	at = counter;
	if (unit && unit->number)
		at = pb_put_uint(at, COUNTER_UNIT, (uint64_t)unit->number);
	else if (unit)
		at = packet_text(at, COUNTER_UNIT_NAME, unit->name, strlen(unit->name));
	return packet_close(counter, at);
}

int64_t perfetto_put_counter(struct perfetto *w, const struct view_track *track, const char *name)
{
	uint64_t uuid = ++w->n_uuids;
	size_t n_name = strlen(name);
	struct description d;
	int rc;

	if (begin(w, &d, uuid, view_get_process(w->view, track), n_name))
		return -ENOMEM;
	d.at = packet_text(d.at, DESCRIPTOR_NAME, name, n_name);
	d.at = pb_put_uint(d.at, DESCRIPTOR_PARENT, perfetto_process_uuid(track->process));
	d.at = pb_put_uint(d.at, DESCRIPTOR_RANK, find_rank(w->view, track));
	d.at = put_unit(d.at, name);
	rc = end(w, &d);
	return rc ? rc : (int64_t)uuid;
}

/* --- all of them --------------------------------------------------------------------------- */

/* Counters have one each instead, which their samples tell of. */
static int put_track(struct perfetto *w, const struct view_track *t)
{
	if (t->kind == TRACK_COUNTERS)
		return 0;
	return is_thread(t) ? put_thread(w, t) : put_row(w, t, perfetto_track_uuid(w->view, t));
}

int perfetto_put_tracks(struct perfetto *w)
{
	const struct view *v = w->view;
	size_t track = 0;
	int rc = 0;

	w->n_uuids = (uint64_t)v->n_processes + v->n_tracks;
	for (size_t i = 0; i < v->n_processes && rc == 0; i++)
		rc = put_process(w, (uint32_t)i, &track);
	for (size_t i = 0; i < v->n_tracks && rc == 0; i++)
		rc = put_track(w, &v->tracks[i]);
	return rc;
}
