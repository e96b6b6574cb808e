/* SPDX-License-Identifier: Apache-2.0 */
/* Losses by reason; see losses.h. */
#include "daemon/pipeline/assembly/losses.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>

#include "daemon/pipeline/drain/drain.h"
#include "trace/model/space.h"

/* The most threads with a warning each; the rest are summed up. */
#define N_THREAD_WARNINGS 8

enum loss_reason {
	REASON_FULL,
	REASON_REENTRY,
	REASON_DEPTH,
	REASON_CUT,
	REASON_LEFT_OPEN,
	REASON_FOREIGN_END,
	REASON_NO_RING,
	REASON_MEMORY,
	REASON_OLDEST,
	REASON_OVERWRITTEN,
	REASON_UNDATED,
	REASON_SPOOL,
	REASON_NAMES,
	REASON_TEXTS,
	REASON_INVALID,
	REASON_UNMATCHED,
	REASON_BEGINLESS,
	REASON_ENDLESS,
	N_REASONS
};

/* The reason of each kind of a ring's losses. */
static const enum loss_reason reason_of[LOSS_KINDS] = {
	[LOSS_FULL] = REASON_FULL,
	[LOSS_REENTRY] = REASON_REENTRY,
	[LOSS_DEPTH] = REASON_DEPTH,
	[LOSS_CUT] = REASON_CUT,
	[LOSS_LEFT_OPEN] = REASON_LEFT_OPEN,
	[LOSS_FOREIGN_END] = REASON_FOREIGN_END,
};

/* One row per reason: the plane's stat, and the sentence for people. */
static const struct {
	const char *stat;
	bool is_a_drop;
	const char *text; /* NULL: another warning reports it */
} reasons[N_REASONS] = {
	[REASON_FULL] = {"ptap_lost_ring_full", 1, NULL},
	[REASON_REENTRY] = {"ptap_lost_reentry", 1,
		"records dropped: a signal handler interrupted another annotation"},
	[REASON_DEPTH] = {"ptap_lost_too_deep", 1,
		"spans dropped: more than 128 were open in one thread"},
	[REASON_CUT] = {"ptap_cut_texts", 0, "names or arguments were cut: too long for a record"},
	[REASON_LEFT_OPEN] = {"ptap_lost_left_open", 1,
		"spans dropped: the spans around them ended first (longjmp, or coroutines of one thread)"},
	[REASON_FOREIGN_END] = {"ptap_foreign_ends", 0,
		"ends of spans left out: another thread had begun them; use PTAP_ASYNC_BEGIN"},
	[REASON_NO_RING] = {"ptap_lost_no_ring", 1,
		"records dropped: no ring for another thread (too little memory, or too many threads)"},
	[REASON_MEMORY] = {"ptap_lost_memory", 1,
		"records dropped: the capture's memory was full; raise max_capture_bytes"},
	[REASON_OLDEST] = {"ptap_lost_oldest", 1,
		"records dropped: the oldest of the session, whose memory was full; ask for "
		"snapshots more often, or raise max_capture_bytes"},
	/* This is no loss: a flight recorder overwrites its oldest records. See windows.h. */
	[REASON_OVERWRITTEN] = {"ptap_overwritten", 0, NULL},
	[REASON_UNDATED] = {"ptap_lost_undated", 1,
		"records left out: too old to know when they were written"},
	[REASON_SPOOL] = {"ptap_lost_spool", 1,
		"events dropped: no room in the capture's file or memory; raise max_capture_bytes"},
	[REASON_NAMES] = {"ptap_lost_names", 0,
		"names or keys left out: the program's table of them, 1 MiB, is full; "
		"PTAP_SPAN_DYN and the other _DYN macros do not use it"},
	[REASON_TEXTS] = {"ptap_left_out_texts", 0,
		NULL}, /* warn_texts() reports it with its limit */
	[REASON_INVALID] = {"ptap_lost_invalid", 1, "records were damaged"},
	[REASON_UNMATCHED] = {"ptap_unmatched_async_ends", 0,
		"ends of async spans left out: no span of that name and id was open"},
	/*
	 * These are no drops either: the begin or the end was overwritten, or another
	 * row counts its loss.
	 */
	[REASON_BEGINLESS] = {"ptap_async_ends_without_begin", 0,
		"ends of async spans left out: their begins were overwritten, or dropped; a larger "
		"ring_bytes (of a session: max_capture_bytes) reaches further back"},
	[REASON_ENDLESS] = {"ptap_async_begins_without_end", 0,
		"begins of async spans left out: their ends may have been overwritten, or dropped"},
};

static void count_losses(
	const struct drain *drain, const struct losses_seen *seen, uint64_t totals[N_REASONS])
{
	for (int i = 0; i < N_REASONS; i++)
		totals[i] = 0;
	for (size_t i = 0; i < drain->n_logs; i++) {
		const struct thread_log *log = drain->logs[i];

		for (int k = 0; k < LOSS_KINDS; k++)
			totals[reason_of[k]] += log->lost[k];
		totals[REASON_MEMORY] += log->lost_memory;
		totals[REASON_UNDATED] += log->n_undated;
		/* Except in pictures (ring_picture.h), overwritten entries count as LOSS_FULL. */
		totals[REASON_OVERWRITTEN] += drain->is_picture ? log->n_overwritten : 0;
	}
	for (int k = 0; k < LOSS_KINDS; k++)
		totals[reason_of[k]] += drain->lost[k];
	totals[REASON_OVERWRITTEN] += drain->n_overwritten;
	totals[REASON_MEMORY] += drain->lost_memory;
	totals[REASON_OLDEST] = drain->lost_oldest;
	totals[REASON_NO_RING] = drain->lost_no_ring;
	totals[REASON_UNDATED] += seen->n_undated;
	totals[REASON_INVALID] = seen->n_invalid + drain->n_broken;
	totals[REASON_SPOOL] = seen->n_unspooled;
	totals[REASON_NAMES] = seen->n_nameless;
	totals[REASON_TEXTS] = seen->n_left_out_texts;
	totals[REASON_UNMATCHED] = seen->n_unmatched_ends;
	totals[REASON_BEGINLESS] = seen->n_beginless_ends;
	totals[REASON_ENDLESS] = seen->n_endless_begins;
}

static int warn_full_rings(const struct drain *drain, uint64_t total, struct space *space)
{
	uint64_t said = 0;
	int n = 0;

	for (size_t i = 0; i < drain->n_logs && n < N_THREAD_WARNINGS; i++) {
		const struct thread_log *log = drain->logs[i];

		if (!log->lost[LOSS_FULL])
			continue;
		if (space_add_warning(space,
			    "dropped %" PRIu64 " records of thread %s (%d): its ring was full; "
			    "raise ring_bytes or record less",
			    log->lost[LOSS_FULL], log->name, (int)log->tid))
			return -ENOMEM;
		said += log->lost[LOSS_FULL];
		n++;
	}
	if (said < total)
		return space_add_warning(space,
			"dropped %" PRIu64 " records of further threads: their rings were full",
			total - said);
	return 0;
}

static int warn_texts(const struct losses_seen *seen, uint64_t total, struct space *space)
{
	return space_add_warning(space,
		"%" PRIu64
		" names or texts left out, with an ellipsis in their place: others had filled the "
		"%.1f MiB that are reserved for them; raise max_capture_bytes, or pass the part that "
		"differs as an argument of a span",
		total, (double)seen->max_text_bytes / (1 << 20));
}

int losses_add(const struct drain *drain, const struct losses_seen *seen, struct plane *plane,
	struct space *space)
{
	uint64_t totals[N_REASONS];
	uint64_t dropped = seen->n_of_devices;
	int r = 0;

	count_losses(drain, seen, totals);
	for (int i = 0; i < N_REASONS && !r; i++) {
		if (!totals[i])
			continue;
		if (reasons[i].is_a_drop)
			dropped += totals[i];
		r = plane_set_uint(plane, reasons[i].stat, totals[i]);
		if (!r && reasons[i].text)
			r = space_add_warning(space, "%" PRIu64 " %s", totals[i], reasons[i].text);
	}
	if (!r && totals[REASON_FULL])
		r = warn_full_rings(drain, totals[REASON_FULL], space);
	if (!r && totals[REASON_TEXTS])
		r = warn_texts(seen, totals[REASON_TEXTS], space);
	if (!r)
		r = plane_set_uint(plane, "dropped_traces", dropped);
	return r;
}
