/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the plane of a process; see assemble.h. */
#include "daemon/pipeline/assembly/assemble.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/stock_servers.h"
#include "daemon/pipeline/assembly/assembly.h"
#include "daemon/pipeline/assembly/device_planes.h"
#include "daemon/pipeline/assembly/losses.h"
#include "daemon/pipeline/assembly/track.h"
#include "daemon/pipeline/assembly/windows.h"
#include "daemon/pipeline/drain/drain.h"
#include "daemon/target/exit_note.h"
#include "daemon/target/target.h"
#include "daemon/target/timeline.h"
#include "trace/model/space.h"

#define TID_BITS 22 /* PID_MAX_LIMIT */
#define LOW_BITS 8 /* bits for the number of earlier threads: with the tid, 30 bits */

struct line_owner {
	uint32_t tid;
	uint32_t log;
};

static int compare_owners(const void *left, const void *right)
{
	const struct line_owner *a = left;
	const struct line_owner *b = right;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->log < b->log ? -1 : 1;
}

static int64_t make_id(uint32_t tid, uint64_t n_earlier)
{
	uint64_t low = n_earlier & ((1u << LOW_BITS) - 1);

	return (int64_t)(tid | low << TID_BITS | n_earlier >> LOW_BITS << 32);
}

/*
 * Sets *out to the ids of the lines of |drain|'s logs, in their order. An id is the thread's tid
 * plus 2^22 for each earlier thread of the same tid; all tids are below 2^22. A hostile program may
 * have any number of threads of one tid: sorting by tid avoids a search for each thread. Owner:
 * *out belongs to the caller (free). 0 or -ENOMEM.
 */
static int line_id_make(const struct drain *drain, int64_t **out)
{
	size_t n = drain->n_logs;
	_cleanup_free_ struct line_owner *owners = calloc(n + 1, sizeof *owners);
	int64_t *ids = calloc(n + 1, sizeof *ids);
	size_t first = 0;

	if (!owners || !ids) {
		free(ids);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		owners[i] = (struct line_owner){
			(uint32_t)drain->logs[i]->tid & ((1u << TID_BITS) - 1), (uint32_t)i};
	qsort(owners, n, sizeof *owners, compare_owners);
	for (size_t i = 0; i < n; i++) {
		if (owners[i].tid != owners[first].tid)
			first = i;
		ids[owners[i].log] = make_id(owners[i].tid, i - first);
	}
	*out = ids;
	return 0;
}

uint64_t assemble_find_cut(const struct assemble_input *in)
{
	return in->ended_ticks && in->ended_ticks < in->stop_ticks ? in->ended_ticks
								   : in->stop_ticks;
}

int64_t assemble_find_end_ns(const struct assemble_input *in, uint64_t ticks)
{
	return ticks == in->stop_ticks ? in->stop_ns : timeline_convert(in->timeline, ticks);
}

static const char *line_name(const struct thread_log *log)
{
	return log->name[0] ? log->name : "(unnamed)";
}

static int add_thread_line(struct assembly *as, const struct thread_log *log, int64_t line_id)
{
	struct line *line;
	int r;

	if (!as->events.n)
		return 0;
	line = plane_add_line(as->plane, line_id, line_name(log), as->events.n);
	r = line ? events_order_by_start(&as->events, line, as->cancel) : -ENOMEM;
	as->events.n = 0;
	return r;
}

static int add_spooled_line(struct assembly *as, const struct thread_log *log, int64_t line_id)
{
	struct track *track = log->track;
	struct line *line;

	track_finish(track);
	if (!track->n_events)
		return 0;
	line = plane_add_line(as->plane, line_id, line_name(log), 0);
	if (!line)
		return -ENOMEM;
	line->n_stored = track->n_events;
	line->stored_bytes = track->n_bytes;
	line->store = track;
	return 0;
}

/* Spools the last records of a thread whose earlier records were spooled. */
static int finish_spooled_thread(struct assembly *as, const struct assemble_input *in,
	const struct thread_log *log, int64_t line_id)
{
	int r;

	as->n_line_stats = as->plane->n_stats;
	as->n_line_text_bytes = as->plane->n_own_bytes;
	assembly_set_eras(as, log->eras, log->n_eras);
	r = assembly_spool(as, log->track, log->slots, log->n_slots);
	if (!r)
		r = assembly_add_open(as, log, in->stop_ticks, assemble_find_cut(in));
	if (!r)
		r = assembly_flush(as, log->track);
	return r ? r : add_spooled_line(as, log, line_id);
}

static int add_thread(struct assembly *as, const struct assemble_input *in,
	const struct thread_log *log, int64_t line_id)
{
	int r;

	if (log->track)
		return finish_spooled_thread(as, in, log, line_id);
	assembly_set_eras(as, log->eras, log->n_eras);
	r = assembly_add(as, log->slots, log->n_slots);
	if (!r)
		r = assembly_add_open(as, log, in->stop_ticks, assemble_find_cut(in));
	return r ? r : add_thread_line(as, log, line_id);
}

/* Host, pid and start time together identify a process, because pids are reused. */
static int add_process_start(struct assembly *as)
{
	uint64_t start = as->target->start_ticks;

	return start ? plane_set_uint(as->plane, "ptap_process_start", start) : 0;
}

/* Adds the facts about the end of the process, if it has ended. */
static int add_process_end(struct assembly *as, const struct assemble_input *in)
{
	const char *why;
	char how[64];
	int32_t tid;

	exit_note_describe(as->target, in->stop_ticks, how, sizeof how);
	tid = exit_note_find_signal_thread(as->target, in->stop_ticks, &why);
	if (how[0] && plane_set_string(as->plane, "ptap_ended", how))
		return -ENOMEM;
	if (tid && plane_set_int(as->plane, "ptap_signal_tid", tid))
		return -ENOMEM;
	return why[0] ? plane_set_string(as->plane, "ptap_signal_thread", why) : 0;
}

static int describe_process(struct assembly *as, const struct assemble_input *in)
{
	struct plane *plane = as->plane;

	free(plane->name);
	plane->name = strdup(in->plane_name);
	plane->id = in->plane_id;
	return plane->name && !plane_set_int(plane, "process_id", as->target->pid) &&
			       !plane_set_string(plane, "ptap_process_name", as->target->name) &&
			       !add_process_start(as) && !add_process_end(as, in)
		       ? 0
		       : -ENOMEM;
}

/*
 * Adds a stat with a text line "LINE ID" for each thread: ID is what JAX's profiler server calls
 * the thread. These ids map threads of that server's recordings to threads of this trace. Only a
 * program that has such a server, or may start one, gets the stat: from an id one can compute an
 * address in the program's memory.
 */
static int add_stock_ids(
	struct assembly *as, const struct assemble_input *in, const int64_t *line_ids)
{
	const struct drain *d = in->drain;
	char *text = NULL;
	size_t n_bytes;
	FILE *out;
	int r;

	if (!d->n_logs || !stock_servers_find_make(as->target->pid))
		return 0;
	out = open_memstream(&text, &n_bytes);
	for (size_t i = 0; i < d->n_logs && out; i++)
		if (d->logs[i]->handle)
			fprintf(out, "%" PRId64 " %" PRId64 "\n", line_ids[i],
				stock_servers_find_thread_id(d->logs[i]->handle));
	r = out && fclose(out) == 0 ? plane_set_string(as->plane, "ptap_stock_thread_ids", text)
				    : -ENOMEM;
	free(text);
	return r;
}

static uint64_t count_dropped(const struct assembly *as, const struct drain *drain)
{
	uint64_t n = as->n_dropped;

	for (size_t i = 0; i < drain->n_logs; i++) {
		const struct track *track = drain->logs[i]->track;

		n += track ? track->n_dropped : 0;
	}
	return n;
}

static int add_all_losses(const struct assembly *as, const struct assemble_input *in,
	uint64_t n_of_devices, struct plane *plane, struct space *space)
{
	struct losses_seen seen = {
		.n_invalid = as->n_invalid + as->stats.n_invalid,
		.n_undated = as->n_undated,
		.n_unmatched_ends = as->asyncs.n_unmatched,
		.n_beginless_ends = as->asyncs.n_beginless,
		.n_endless_begins = as->asyncs.n_endless,
		.n_unspooled = count_dropped(as, in->drain),
		.n_nameless = as->texts.n_nameless,
		.n_left_out_texts = as->texts.n_left_out,
		.max_text_bytes = texts_find_limit(as->keep),
		.n_of_devices = n_of_devices,
	};

	return losses_add(in->drain, &seen, plane, space);
}

/*
 * Notes the gaps in which records were lost. The time before all records are there
 * (windows_find_complete()) is a gap, too, if that time was requested.
 */
static void note_gaps(struct assembly *as, const struct assemble_input *in)
{
	uint64_t complete = windows_find_complete(in);

	if (complete > in->drain->asked_ticks)
		as->asyncs.complete_ticks = complete;
	for (size_t i = 0; i < in->drain->gaps.n; i++)
		gaps_add(&as->asyncs.gaps, in->drain->gaps.v[i].from, in->drain->gaps.v[i].until);
}

static int fill_plane(struct assembly *as, const struct assemble_input *in)
{
	_cleanup_free_ int64_t *line_ids = NULL;
	int r = describe_process(as, in);

	as->timeline = in->timeline;
	as->cancel = in->cancel;
	as->cut_ticks = in->stop_ticks;
	as->cut_ns = in->stop_ns;
	if (!r)
		r = line_id_make(in->drain, &line_ids);
	if (!r)
		r = add_stock_ids(as, in, line_ids);
	for (size_t i = 0; i < in->drain->n_logs && !r; i++)
		r = add_thread(as, in, in->drain->logs[i], line_ids[i]);
	note_gaps(as, in);
	if (!r)
		r = asyncs_add_lines(&as->asyncs, in, as->plane, &as->stats);
	if (!r)
		r = counters_add_lines(&as->counters, as->plane, in->cancel);
	return r;
}

/* Moves the plane to the space. NULL when memory ran out. */
static struct plane *move_plane(struct assembly *as, struct space *space)
{
	struct plane *plane = as->plane;

	as->plane = NULL;
	return space_take_plane(space, plane) ? NULL : plane;
}

/* Adds device planes, losses and windows. */
static int add_rest(struct assembly *as, const struct assemble_input *in, struct space *space)
{
	struct plane *plane = move_plane(as, space);
	uint64_t n_of_devices = 0;
	int r = plane ? device_planes_add(as, in, plane, space, &n_of_devices) : -ENOMEM;

	if (!r)
		r = add_all_losses(as, in, n_of_devices, plane, space);
	return r ? r : windows_add(in, plane, space);
}

int assemble_host_plane(const struct assemble_input *in, struct space *space)
{
	struct assembly *as = in->assembly;
	int r = as ? 0 : assembly_new(in->drain->target, in->earliest_ticks, in->start_ticks, &as);

	if (!r && in->end_ns)
		as->end_ns = in->end_ns;
	if (!r)
		r = fill_plane(as, in);
	if (!r)
		r = add_rest(as, in, space);
	assembly_free(as);
	return r;
}
