/* SPDX-License-Identifier: Apache-2.0 */
/* Writes into a trace how far back its records reach; see windows.h. */
#include "daemon/pipeline/assembly/windows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/printable.h"
#include "daemon/pipeline/assembly/assemble.h"
#include "daemon/pipeline/drain/drain.h"
#include "daemon/target/timeline.h"
#include "trace/model/space.h"

/*
 * The stat "ptap_recorder_windows" describes at most MAX_THREADS threads, in lines of at most
 * LINE_BYTES.
 */
#define MAX_THREADS 256u
#define LINE_BYTES 128u
#define GAP_BYTES 48u /* a space, two times and a dash */

/* True when records of the thread are missing in the requested time. */
static bool is_incomplete(const struct thread_log *log)
{
	return (log->n_overwritten || log->lost_memory) && !log->is_limited;
}

/*
 * Returns the length of the time before the snapshot for which all records of the thread are here;
 * 0: there is no such time.
 */
static double find_complete_ms(const struct assemble_input *in, const struct thread_log *log)
{
	uint64_t since = log->complete_ticks ? log->complete_ticks : log->window_ticks;

	if (!since || since >= in->stop_ticks)
		return 0;
	return (double)(timeline_convert(in->timeline, in->stop_ticks) -
			timeline_convert(in->timeline, since)) /
	       1e6;
}

/* Writes "everything", the length of the complete time, or "nothing in full". */
static void describe_length(
	const struct assemble_input *in, const struct thread_log *log, char *text, size_t n)
{
	double ms = find_complete_ms(in, log);

	if (log->is_limited)
		snprintf(text, n, "everything that was asked for");
	else if (!is_incomplete(log) && !log->complete_ticks)
		snprintf(text, n, "everything");
	else if (ms > 0)
		snprintf(text, n, "the last %.3f ms, %" PRIu64 " overwritten", ms,
			log->n_overwritten);
	else
		snprintf(text, n, "nothing in full, %" PRIu64 " overwritten", log->n_overwritten);
}

static size_t describe_thread(
	const struct assemble_input *in, const struct thread_log *log, char *text)
{
	char name[sizeof log->name];
	char length[64];
	int n;

	/* The program chose the name; a newline in it would start another line. */
	snprintf(name, sizeof name, "%s", log->name);
	printable_clean(name);
	describe_length(in, log, length, sizeof length);
	n = snprintf(text, LINE_BYTES, "%s (%d): %s\n", name, (int)log->tid, length);
	if (log->lost_memory && n < (int)LINE_BYTES)
		n += snprintf(text + n - 1, LINE_BYTES - (size_t)n + 1,
			     ", %" PRIu64 " without memory\n", log->lost_memory) -
		     1;
	if (n < (int)LINE_BYTES)
		return (size_t)n;
	text[LINE_BYTES - 2] = '\n';
	return LINE_BYTES - 1;
}

/* Logs of living threads come first, then those of ended threads, the most recently ended first. */
static const struct thread_log *get_log(const struct drain *d, size_t i)
{
	size_t n_living = d->n_logs - d->n_ended;

	return i < n_living ? d->logs[d->n_ended + i] : d->logs[d->n_logs - 1 - i];
}

/*
 * True when no span of the thread ended in the requested time, and nothing was overwritten or lost
 * for want of memory. Spans may be open, or may have ended earlier, or the thread recorded nothing.
 */
static bool has_nothing(const struct thread_log *log)
{
	return !log->window_ticks && !log->n_overwritten && !log->lost_memory;
}

static size_t describe_threads(const struct assemble_input *in, char *text)
{
	const struct drain *d = in->drain;
	size_t n_described = 0;
	size_t n_empty = 0;
	size_t n = 0;

	for (size_t i = 0; i < d->n_logs; i++) {
		const struct thread_log *log = get_log(d, i);

		if (has_nothing(log)) {
			n_empty++;
		} else if (n_described < MAX_THREADS) {
			n += describe_thread(in, log, text + n);
			n_described++;
		}
	}
	if (n_empty)
		n += (size_t)sprintf(text + n, "%zu thread%s: everything, no span ended\n", n_empty,
			n_empty == 1 ? "" : "s");
	if (n_described + n_empty < d->n_logs)
		n += (size_t)sprintf(text + n, "%zu more threads, too many to name\n",
			d->n_logs - n_described - n_empty);
	if (d->n_overwritten)
		n += (size_t)sprintf(text + n,
			"threads that ended, and of which nothing is kept: %" PRIu64
			" overwritten\n",
			d->n_overwritten);
	return n;
}

static int add_text(const struct assemble_input *in, struct plane *plane)
{
	size_t n_logs = in->drain->n_logs;
	size_t n_lines = (n_logs < MAX_THREADS ? n_logs : MAX_THREADS) + 3;
	_cleanup_free_ char *text = malloc(n_lines * LINE_BYTES + 1);

	if (!text)
		return -ENOMEM;
	text[describe_threads(in, text)] = '\0';
	return plane_set_string(plane, "ptap_recorder_windows", text);
}

/* Returns the shortest window among the threads that lack records; 0: no thread lacks any. */
static uint64_t find_shortest_ns(const struct assemble_input *in)
{
	const struct drain *d = in->drain;
	int64_t stop_ns = timeline_convert(in->timeline, in->stop_ticks);
	uint64_t shortest_ns = UINT64_MAX;

	for (size_t i = 0; i < d->n_logs; i++) {
		const struct thread_log *log = d->logs[i];
		uint64_t length_ns = 1;

		if (!is_incomplete(log))
			continue;
		if (log->window_ticks)
			length_ns = (uint64_t)(stop_ns -
					       timeline_convert(in->timeline, log->window_ticks));
		if (length_ns < shortest_ns)
			shortest_ns = length_ns;
	}
	return shortest_ns == UINT64_MAX ? 0 : shortest_ns;
}

static int add_shortest(const struct assemble_input *in, struct plane *plane)
{
	uint64_t shortest_ns = find_shortest_ns(in);

	return shortest_ns ? plane_set_uint(plane, "ptap_shortest_window_ns", shortest_ns) : 0;
}

uint64_t windows_find_complete(const struct assemble_input *in)
{
	const struct drain *d = in->drain;
	uint64_t complete = d->gone_ticks;

	/* A continuous session drops the oldest records of all threads up to one time. */
	if (!d->is_picture)
		return d->lost_oldest ? in->window_ticks : 0;
	for (size_t i = 0; i < d->n_logs; i++)
		if (d->logs[i]->complete_ticks > complete)
			complete = d->logs[i]->complete_ticks;
	return complete < in->stop_ticks ? complete : in->stop_ticks;
}

static int add_complete(const struct assemble_input *in, struct plane *plane)
{
	uint64_t complete = windows_find_complete(in);

	if (!complete)
		return 0;
	return plane_set_uint(plane, "ptap_complete_since_ns",
		(uint64_t)(in->start_unix_ns + timeline_convert(in->timeline, complete)));
}

static int64_t find_unix_ns(const struct assemble_input *in, uint64_t ticks)
{
	if (ticks > in->stop_ticks)
		ticks = in->stop_ticks;
	return in->start_unix_ns +
	       timeline_convert(in->timeline, ticks > in->start_ticks ? ticks : in->start_ticks);
}

/* Adds the gaps that lie at least partly in the trace. */
static int add_gaps(const struct assemble_input *in, struct plane *plane)
{
	const struct gaps *gaps = &in->drain->gaps;
	char text[GAPS_MAX * GAP_BYTES] = "";
	size_t n = 0;

	for (size_t i = 0; i < gaps->n; i++) {
		const struct loss_gap *gap = &gaps->v[i];

		if (gap->until >= in->start_ticks && gap->from <= in->stop_ticks)
			n += (size_t)snprintf(text + n, sizeof text - n, "%s%" PRId64 "-%" PRId64,
				n ? " " : "", find_unix_ns(in, gap->from),
				find_unix_ns(in, gap->until));
	}
	return n ? plane_set_string(plane, "ptap_gaps_ns", text) : 0;
}

/* True when the request names a start time, and the thread lost records after it. */
static bool is_short(const struct drain *d, const struct thread_log *log)
{
	return d->asked_ticks && is_incomplete(log) && log->window_ticks > d->asked_ticks;
}

static int warn_of_short_windows(const struct assemble_input *in, struct space *space)
{
	const struct drain *d = in->drain;
	const struct thread_log *shortest = NULL;
	size_t n = 0;

	for (size_t i = 0; i < d->n_logs; i++) {
		if (!is_short(d, d->logs[i]))
			continue;
		n++;
		if (!shortest || d->logs[i]->window_ticks > shortest->window_ticks)
			shortest = d->logs[i];
	}
	if (!n)
		return 0;
	return space_add_warning(space,
		"the flight recorder has less than was asked for in %zu thread%s: %s (%d) has only the "
		"last %.1f ms; raise %s",
		n, n == 1 ? "" : "s", shortest->name, (int)shortest->tid,
		find_complete_ms(in, shortest),
		shortest->lost_memory ? "max_capture_bytes" : "ring_bytes");
}

int windows_add(const struct assemble_input *in, struct plane *plane, struct space *space)
{
	int r = add_complete(in, plane);

	if (!r)
		r = add_gaps(in, plane);
	if (r || !in->drain->is_picture || (!in->drain->n_logs && !in->drain->n_overwritten))
		return r;
	r = add_text(in, plane);
	if (!r)
		r = add_shortest(in, plane);
	return r ? r : warn_of_short_windows(in, space);
}
