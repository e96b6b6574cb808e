/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes tracks. The viewer merges rows of one name and one parent, and draws as few as their
 * spans need. This is right for async spans, and for the lanes of one thread or stream, but not for
 * two streams of one name, which get merge keys.
 */
#include "trace/codec/perfetto_tracks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "trace/codec/perfetto.h"
#include "trace/codec/perfetto_fields.h"
#include "trace/codec/thread_samples.h"
#include "trace/read/enclosing_spans.h"

#define FEW_BYTES 256 /* a descriptor without its texts */

/* --- labels of processes ------------------------------------------------------------------- */

/*
 * Labels are shown beside a process. Without a grouping, the label is the host if there are
 * several. With a grouping, pids are made up, so the labels are the programs and devices that are
 * drawn under the process, with the kernel's pids.
 */

#define PERFETTO_LABELS 9 /* the last one only says that there are more */
#define PERFETTO_LABEL_BYTES 256 /* longer ones end with "…" */

struct perfetto_labels {
	char v[PERFETTO_LABELS][PERFETTO_LABEL_BYTES];
	size_t n;
};

/*
 * Size of a name in a label, with the terminating byte; a longer one ends with "…". The trace
 * itself has the whole names.
 */
#define MAX_NAME 104

/* Writes a label such as "gpu7 train 4242" or "gpu7 /device:GPU:0". */
static void format_label(char text[PERFETTO_LABEL_BYTES], const struct view *v, uint32_t origin)
{
	const struct view_process *p = &v->origins[origin];
	char host[MAX_NAME];
	char name[MAX_NAME];
	char pid[24] = "";

	if (p->is_real)
		snprintf(pid, sizeof pid, " %" PRId64, p->pid);
	snprintf(text, PERFETTO_LABEL_BYTES, "%s %s%s",
		utf8_fit(host, sizeof host, v->hosts[p->host].name),
		utf8_fit(name, sizeof name, p->name), pid);
}

static bool labels_have(const struct perfetto_labels *l, const char *text)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i], text) == 0)
			return true;
	return false;
}

static void add_origin_label(struct perfetto_labels *l, const struct view *v, uint32_t origin)
{
	char text[PERFETTO_LABEL_BYTES];

	if (l->n == PERFETTO_LABELS)
		return;
	format_label(text, v, origin);
	if (labels_have(l, text))
		return;
	if (l->n == PERFETTO_LABELS - 1)
		snprintf(text, sizeof text, "and more");
	memcpy(l->v[l->n++], text, sizeof text);
}

/*
 * Makes the labels of a process. With a grouping |track| is the first track of the process on
 * entry, and the first of the next process on return; otherwise it is not used.
 */
static void perfetto_labels_make(
	struct perfetto_labels *l, const struct view *v, uint32_t process, size_t *track)
{
	l->n = 0;
	if (view_is_grouped(v))
		for (; *track < v->n_tracks && v->tracks[*track].process == process; ++*track)
			add_origin_label(l, v, v->tracks[*track].origin);
	else if (view_names_hosts(v))
		utf8_fit(l->v[l->n++], PERFETTO_LABEL_BYTES,
			v->hosts[v->processes[process].host].name);
}

/* --- descriptors --------------------------------------------------------------------------- */

/* A packet with a descriptor that is being written. */
struct description {
	uint8_t *packet;
	uint8_t *descriptor;
	uint8_t *at;
};

/* Begins a descriptor with room for texts of |n_text| bytes. */
static int description_begin(struct perfetto *w, struct description *d, uint64_t uuid,
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

static int description_end(struct perfetto *w, struct description *d)
{
	return perfetto_put(w, d->packet, packet_close(d->descriptor, d->at));
}

/* --- processes and threads ----------------------------------------------------------------- */

/* |track| is that of perfetto_labels_make(). */
static int put_process(struct perfetto *w, uint32_t process, size_t *track)
{
	const struct view_process *p = &w->view->processes[process];
	size_t n_name = strlen(p->name);
	struct perfetto_labels labels;
	struct description d;
	uint8_t *message;

	perfetto_labels_make(&labels, w->view, process, track);
	if (description_begin(w, &d, perfetto_process_uuid(process), p, n_name + sizeof labels.v))
		return -ENOMEM;
	message = packet_open(d.at, DESCRIPTOR_PROCESS);
	d.at = pb_put_uint(message, PROCESS_PID, (uint64_t)p->pid);
	d.at = packet_text(d.at, PROCESS_NAME, p->name, n_name);
	for (size_t i = 0; i < labels.n; i++)
		d.at = packet_text(d.at, PROCESS_LABELS, labels.v[i], strlen(labels.v[i]));
	d.at = packet_close(message, d.at);
	d.at = pb_put_uint(d.at, DESCRIPTOR_CHILD_ORDERING, CHILD_ORDERING_EXPLICIT);
	return description_end(w, &d);
}

static int put_thread(struct perfetto *w, const struct view_track *t)
{
	const struct view_process *p = view_get_process(w->view, t);
	size_t n_name = strlen(t->name);
	struct description d;
	uint8_t *message;

	if (description_begin(w, &d, perfetto_track_uuid(w->view, t), p, n_name))
		return -ENOMEM;
	message = packet_open(d.at, DESCRIPTOR_THREAD);
	d.at = pb_put_uint(message, THREAD_PID, (uint64_t)p->pid);
	d.at = pb_put_uint(d.at, THREAD_TID, (uint64_t)t->tid);
	d.at = packet_text(d.at, THREAD_NAME, t->name, n_name);
	d.at = packet_close(message, d.at);
	return description_end(w, &d);
}

/*
 * A row of several tracks belongs to no thread, because the tracks overlap. If another server
 * recorded a thread too, the other server's track is a row below the thread.
 */
static bool track_is_thread(const struct view_track *t)
{
	return t->kind == TRACK_THREAD && !t->is_shared && !view_track_is_second(t);
}

/* --- other rows ---------------------------------------------------------------------------- */

static uint64_t track_find_rank(const struct view *v, const struct view_track *t)
{
	return (uint64_t)(t - v->tracks);
}

/*
 * Describes a row named after the track or its source, below its process, or below the thread that
 * it belongs to.
 */
static int put_row(struct perfetto *w, const struct view_track *t, uint64_t uuid)
{
	const struct view *v = w->view;
	const struct view_track *first = view_track_get_first(t);
	uint64_t parent = track_is_thread(first) ? perfetto_track_uuid(v, first)
						 : perfetto_process_uuid(t->process);
	uint64_t key = t->is_shared ? t->row : track_find_rank(v, t);
	const char *name = first == t ? t->name : view_track_get_source(v, t);
	size_t n_name = strlen(name);
	struct description d;

	if (description_begin(w, &d, uuid, view_get_process(v, t), n_name))
		return -ENOMEM;
	d.at = packet_text(d.at, DESCRIPTOR_NAME, name, n_name);
	d.at = pb_put_uint(d.at, DESCRIPTOR_PARENT, parent);
	d.at = pb_put_uint(d.at, DESCRIPTOR_RANK, track_find_rank(v, t));
	if (t->kind != TRACK_ASYNC || t->is_shared) {
		d.at = pb_put_uint(d.at, DESCRIPTOR_MERGE, MERGE_BY_KEY);
		d.at = pb_put_uint(d.at, DESCRIPTOR_MERGE_KEY_INT, key + 1);
	}
	return description_end(w, &d);
}

int64_t perfetto_put_lane(struct perfetto *w, const struct view_track *track)
{
	uint64_t uuid = ++w->n_uuids;
	int r = put_row(w, track, uuid);

	return r ? r : (int64_t)uuid;
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
	int r;

	if (description_begin(w, &d, uuid, view_get_process(w->view, track), n_name))
		return -ENOMEM;
	d.at = packet_text(d.at, DESCRIPTOR_NAME, name, n_name);
	d.at = pb_put_uint(d.at, DESCRIPTOR_PARENT, perfetto_process_uuid(track->process));
	d.at = pb_put_uint(d.at, DESCRIPTOR_RANK, track_find_rank(w->view, track));
	d.at = put_unit(d.at, name);
	r = description_end(w, &d);
	return r ? r : (int64_t)uuid;
}

/* --- all tracks ---------------------------------------------------------------------------- */

/* Each counter has a track of its own, which is described before its first sample. */
static int put_track(struct perfetto *w, const struct view_track *t)
{
	if (t->kind == TRACK_COUNTERS)
		return 0;
	return track_is_thread(t) ? put_thread(w, t)
				  : put_row(w, t, perfetto_track_uuid(w->view, t));
}

/* Names a thread that has samples and no spans. */
static int put_sampled_thread(struct perfetto *w, const struct view_track *samples)
{
	if (view_is_grouped(w->view) || view_find_sampled_thread(w->view, samples))
		return 0;
	return put_thread(w, samples);
}

int perfetto_put_tracks(struct perfetto *w)
{
	const struct view *v = w->view;
	size_t track = 0;
	int r = 0;

	w->n_uuids = (uint64_t)v->n_processes + v->n_tracks + v->n_samples + v->n_states;
	for (size_t i = 0; i < v->n_processes && r == 0; i++)
		r = put_process(w, (uint32_t)i, &track);
	for (size_t i = 0; i < v->n_tracks && r == 0; i++)
		r = put_track(w, &v->tracks[i]);
	for (size_t i = 0; i < v->n_samples && r == 0; i++)
		r = put_sampled_thread(w, &v->samples[i]);
	for (size_t i = 0; i < v->n_states && r == 0 && !view_is_grouped(v); i++)
		if (thread_samples_find_row(v, &v->states[i], w->result) == &v->states[i])
			r = put_thread(w, &v->states[i]);
	return r;
}

/* --- units of counters ------------------------------------------------------------------------ */

/* Finds the unit of a counter by its name. */

#define UNIT_TIME_NS 1
#define UNIT_SIZE_BYTES 3

static const struct perfetto_unit units[] = {
	{"%", 0},
	{"percent", 0},
	{"ns", UNIT_TIME_NS},
	{"us", 0},
	{"ms", 0},
	{"s", 0},
	{"bytes", UNIT_SIZE_BYTES},
	{"KiB", 0},
	{"MiB", 0},
	{"GiB", 0},
	{"kB", 0},
	{"KB", 0},
	{"MB", 0},
	{"GB", 0},
	{"bytes/s", 0},
	{"MiB/s", 0},
	{"MB/s", 0},
	{"GB/s", 0},
	{"faults/s", 0},
	{"switches/s", 0},
	{"Hz", 0},
	{"MHz", 0},
	{"GHz", 0},
	{"W", 0},
	{"mW", 0},
	{"C", 0},
};

static bool is_word_end(char c)
{
	return c == ' ' || c == '_' || c == '(' || c == '[' || c == '.';
}

/* True if the first |n| bytes of |name| end with |word|, and have something before it. */
static bool ends_with_word(const char *name, size_t n, const char *word)
{
	size_t n_word = strlen(word);

	return n > n_word && is_word_end(name[n - n_word - 1]) &&
	       strncmp(name + n - n_word, word, n_word) == 0;
}

const struct perfetto_unit *perfetto_find_unit(const char *name)
{
	size_t n = strlen(name);

	if (n && (name[n - 1] == ')' || name[n - 1] == ']'))
		n--;
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (ends_with_word(name, n, units[i].name))
			return &units[i];
	return NULL;
}
