/* SPDX-License-Identifier: Apache-2.0 */
/* Losses of devices; see device_losses.h. */
#include "daemon/pipeline/devices/device_losses.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/pipeline/devices/device_drawing.h"
#include "daemon/pipeline/devices/devices.h"
#include "trace/model/space.h"

enum device_loss_reason {
	REASON_VENDOR,
	REASON_INCOMPLETE,
	REASON_CALLS,
	REASON_RECORDS,
	REASON_INVALID,
	REASON_ANNOTATIONS,
	REASON_NAMES,
	REASON_DAMAGED,
	REASON_MEMORY,
	REASON_UNPLACED,
	REASON_UNJOINED,
	REASON_OUTSIDE,
	N_REASONS
};

/*
 * One row per reason: the plane's stat, and the end of a sentence that begins with the counted
 * kinds.
 */
static const struct {
	const char *stat;
	bool is_a_drop;
	const char *text;
	bool is_of_calls; /* counts calls of the program's threads, not records of a kind */
} reasons[N_REASONS] = {
	[REASON_VENDOR] = {"ptap_lost_device_vendor", 1,
		"dropped: the vendor's library had no buffer for them; raise ptap_cuda_buffer_mb"},
	[REASON_INCOMPLETE] = {"ptap_lost_device_incomplete", 1,
		"left out: their ends were not known when the recording ended"},
	[REASON_CALLS] = {"ptap_lost_device_calls", 1,
		"dropped: more than gpu_max_callback_api_events; raise it", 1},
	[REASON_RECORDS] = {"ptap_lost_device_records", 1,
		"dropped: more than gpu_max_activity_api_events, or no memory for them; raise it, or record for less time"},
	[REASON_INVALID] = {"ptap_lost_device_invalid", 1,
		"dropped: the vendor's library delivered invalid data"},
	[REASON_ANNOTATIONS] = {"ptap_lost_device_annotations", 0,
		"without annotations: more than gpu_max_annotation_strings"},
	[REASON_NAMES] = {"ptap_lost_device_names", 0,
		"without their names: the program's table of names was full; restart the program"},
	[REASON_DAMAGED] = {"ptap_lost_device_damaged", 1, "of a collector dropped: damaged"},
	[REASON_MEMORY] = {"ptap_lost_device_memory", 1,
		"of devices dropped: the capture's memory was full; raise max_capture_bytes"},
	[REASON_UNPLACED] = {"ptap_lost_device_unplaced", 1,
		"of devices dropped: the zero time of their collector's clock is unknown"},
	[REASON_UNJOINED] = {"ptap_lost_device_joins", 0,
		"of devices have no span that they belong to: the capture's memory was full; raise "
		"max_capture_bytes"},
	/*
	 * Collectors begin before the recording and end after it, so this warning is given only
	 * when no other record is left.
	 */
	[REASON_OUTSIDE] = {"ptap_device_outside", 0,
		"of devices left out, and no others arrived: their times are outside of the "
		"recording; a collector must time its records between its anchors"},
};

/* The reason for each loss that collectors count. */
static const enum device_loss_reason reason_of[DEVICE_LOSSES] = {
	[DEVICE_LOSS_DROPPED] = REASON_VENDOR,
	[DEVICE_LOSS_INCOMPLETE] = REASON_INCOMPLETE,
	[DEVICE_LOSS_CALLS] = REASON_CALLS,
	[DEVICE_LOSS_RECORDS] = REASON_RECORDS,
	[DEVICE_LOSS_INVALID] = REASON_INVALID,
	[DEVICE_LOSS_ANNOTATIONS] = REASON_ANNOTATIONS,
	[DEVICE_LOSS_NAMES] = REASON_NAMES,
};

struct counted_words {
	const char *one;
	const char *many;
};

static const struct counted_words words[DEVICE_KINDS] = {
	[0] = {"record", "records"},
	[DEVICE_KERNEL] = {"kernel", "kernels"},
	[DEVICE_COPY] = {"copy", "copies"},
	[DEVICE_SET] = {"memset", "memsets"},
	[DEVICE_SYNC] = {"wait", "waits"},
	[DEVICE_OVERHEAD] = {"overhead", "overheads"},
	[DEVICE_MEMORY] = {"change of memory", "changes of memory"},
	[DEVICE_GRAPH] = {"graph", "graphs"},
	[DEVICE_COUNTER] = {"sample", "samples"},
	[DEVICE_INFO] = {"device", "devices"},
	[DEVICE_STREAM] = {"stream", "streams"},
	[DEVICE_ANCHOR] = {"anchor", "anchors"},
	[DEVICE_LOSS] = {"loss", "losses"},
	[DEVICE_XSPACE] = {"piece", "pieces"},
};

static const struct counted_words calls = {"call", "calls"};

/* By kind of record; 0: any kind. */
typedef uint64_t counts[DEVICE_KINDS];

struct loss_report {
	const struct device_scope *scope;
	struct plane *host;
	struct space *space;
	counts of[N_REASONS];
	uint64_t n_inside; /* records that are in the trace */
	uint64_t n_dropped;
};

static uint64_t add_saturated_uint(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void count_device_losses(
	struct loss_report *l, const struct device_records *d, const struct device_losses *seen)
{
	for (int i = 1; i < DEVICE_LOSSES; i++)
		for (int kind = 0; kind < DEVICE_KINDS; kind++)
			l->of[reason_of[i]][kind] = d->lost[i][kind];
	l->of[REASON_ANNOTATIONS][0] =
		add_saturated_uint(l->of[REASON_ANNOTATIONS][0], seen->n_unannotated);
	l->of[REASON_DAMAGED][0] = d->n_invalid;
	l->of[REASON_MEMORY][0] = d->n_crowded;
	l->of[REASON_UNPLACED][0] = seen->n_unplaced;
	l->of[REASON_OUTSIDE][0] = seen->n_outside;
	l->n_inside = seen->n_inside;
	l->of[REASON_UNJOINED][0] = d->launches.n_crowded;
}

static uint64_t sum_up(const counts n)
{
	uint64_t sum = 0;

	for (int kind = 0; kind < DEVICE_KINDS; kind++)
		sum = add_saturated_uint(sum, n[kind]);
	return sum;
}

/* "3 kernels, 1 copy dropped: ..." */
static void describe_counts(const counts n, enum device_loss_reason reason, char *text, size_t size)
{
	const char *before = "";
	size_t at = 0;

	for (int kind = 0; kind < DEVICE_KINDS && at < size; kind++) {
		const struct counted_words *of =
			!kind && reasons[reason].is_of_calls ? &calls : &words[kind];

		if (!n[kind])
			continue;
		at += (size_t)snprintf(text + at, size - at, "%s%" PRIu64 " %s", before, n[kind],
			n[kind] == 1 ? of->one : of->many);
		before = ", ";
	}
	if (at < size)
		snprintf(text + at, size - at, " %s", reasons[reason].text);
}

static int warn_of_loss(const struct loss_report *l, enum device_loss_reason reason)
{
	char text[1024];

	describe_counts(l->of[reason], reason, text, sizeof text);
	if (!l->scope->is_child)
		return space_add_warning(l->space, "gpu: %s", text);
	return space_add_warning(l->space, "gpu: in the child %s [%d]: %s", l->scope->process_name,
		(int)l->scope->pid, text);
}

static int add_loss(struct loss_report *l, enum device_loss_reason reason)
{
	uint64_t n = sum_up(l->of[reason]);

	if (!n)
		return 0;
	if (reasons[reason].is_a_drop)
		l->n_dropped = add_saturated_uint(l->n_dropped, n);
	if (plane_set_uint(l->host, reasons[reason].stat, n))
		return -ENOMEM;
	return reason == REASON_OUTSIDE && l->n_inside ? 0 : warn_of_loss(l, reason);
}

/* Warns if a clock was set during the recording, because its times would be wrong. */
static int warn_of_clocks(const struct device_records *d, struct space *space)
{
	for (unsigned i = 0; i < DEVICES_MAX_COLLECTORS; i++)
		if (d->clocks[i].was_set)
			return space_add_warning(space,
				"gpu: the collector's clock was set during the recording: times "
				"of devices are by the clock as it was at the start");
	return 0;
}

int device_losses_add(const struct device_records *d, const struct device_losses *seen,
	const struct device_scope *scope, struct plane *host, struct space *space,
	uint64_t *n_dropped)
{
	struct loss_report l = {.scope = scope, .host = host, .space = space};
	int r = warn_of_clocks(d, space);

	count_device_losses(&l, d, seen);
	for (int i = 0; i < N_REASONS && !r; i++)
		r = add_loss(&l, (enum device_loss_reason)i);
	*n_dropped = l.n_dropped;
	return r;
}
