/* SPDX-License-Identifier: Apache-2.0 */
/* From logs to the spool; see spill.h. */
#include "daemon/pipeline/recording/spill.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/log.h"
#include "daemon/kernel/headroom.h"
#include "daemon/pipeline/assembly/assembly.h"
#include "daemon/pipeline/assembly/spool.h"
#include "daemon/pipeline/assembly/spooler.h"
#include "daemon/pipeline/recording/recording.h"
#include "daemon/pipeline/recording/source.h"
#include "daemon/target/target.h"
#include "trace/model/space.h"

/*
 * The memory for data that cannot be spooled is a share of the capture's. Beyond SOME_KEEP_BYTES it
 * is at most the same share of the free memory.
 */
#define KEEP_SHARE 16
#define SOME_KEEP_BYTES (UINT64_C(64) << 20)
#define PARTS_OF_WINDOW 4
/*
 * Limits for slots that are encoded at the end: encoding fewer bytes than this is cheaper without a
 * spool, and more than the windows below go to a file.
 */
#define MIN_BYTES ((uint64_t)1 << 20)
#define MAX_WINDOWS_IN_MEMORY DRAIN_MAX_WINDOWS
/* Reserved address space, not memory: the most bytes per byte of slots, and room for open spans. */
#define MAX_GROWTH 4
#define SPARE_BYTES ((uint64_t)16 << 20)
/*
 * From this size on a second thread is worth it. While recording it is not: the program
 * needs the processors.
 */
#define MIN_APART_BYTES ((uint64_t)4 << 20)
/* Slots that the spooler has taken become at most twice as many bytes. */
#define RESERVE_WINDOWS (2 * (DRAIN_MAX_WINDOWS + 1))

static uint64_t count_keep_bytes(const struct recording *r)
{
	uint64_t share = r->max_bytes / KEEP_SHARE;
	uint64_t left;

	if (share <= SOME_KEEP_BYTES)
		return share;
	left = headroom_read_bytes("") / KEEP_SHARE;
	if (left < SOME_KEEP_BYTES)
		left = SOME_KEEP_BYTES;
	return share < left ? share : left;
}

/*
 * |n_bytes| is the size of all slots, or 0 if it is unknown yet. Without a file, the slots stay in
 * memory as far as they fit there.
 */
static void begin_in_file(struct recording *r, uint64_t n_bytes)
{
	uint64_t keep = count_keep_bytes(r);
	uint64_t window = r->budget.window_bytes;
	struct spooler_config config = {
		.max_bytes = r->max_bytes - keep - DRAIN_MAX_WINDOWS * window,
		.reserve_bytes = RESERVE_WINDOWS * window,
		.keep_bytes = keep,
		.uses_ticks = r->uses_ticks,
		.encodes_apart = n_bytes >= MIN_APART_BYTES,
	};
	struct diag d = DIAG_INIT;

	if (!spooler_new(&config, &r->spooler, &d)) {
		r->budget.sink = spooler_get_sink(r->spooler);
		return;
	}
	log_warn(LOG_TARGET, "no file for a large capture: %s", d.text);
	snprintf(r->spool_problem, sizeof r->spool_problem, "%s", d.text);
	r->budget.window_bytes = 0;
}

/* |n_bytes| of slots exist. Encoded a part at a time they take less memory than as a whole. */
static void begin_in_memory(struct recording *r, uint64_t n_bytes)
{
	struct spooler_config config = {
		.in_memory = 1,
		.max_bytes = n_bytes * MAX_GROWTH + SPARE_BYTES,
		.keep_bytes = count_keep_bytes(r),
		.uses_ticks = r->uses_ticks,
		.encodes_apart = n_bytes >= MIN_APART_BYTES,
	};
	struct diag d = DIAG_INIT;

	if (spooler_new(&config, &r->spooler, &d))
		log_warn(LOG_TARGET, "a capture is encoded as a whole: %s", d.text);
	else
		r->budget.sink = spooler_get_sink(r->spooler);
}

static int adopt_source(struct recording *r, struct source *s)
{
	if (s->assembly)
		return 0;
	if (assembly_new(s->target, r->earliest_ticks, r->start.ticks, &s->assembly))
		return -ENOMEM;
	s->assembly->end_ns = recording_find_end(r);
	spooler_adopt(r->spooler, s->assembly);
	return 0;
}

static int give_source(struct recording *r, struct source *s)
{
	int error = adopt_source(r, s);

	return error ? error : drain_give(&s->drain, &r->budget, s->assembly, &r->timeline);
}

static int give_all_sources(struct recording *r)
{
	int error = 0;

	for (size_t i = 0; i < r->n_sources && !error; i++)
		if (r->sources[i]->drain.n_logs)
			error = give_source(r, r->sources[i]);
	return error;
}

/*
 * A capture with less than a window needs no file. Once there is a sink, slots go in smaller parts
 * that are still in a core's cache.
 */
static uint64_t find_window_limit(const struct drain_budget *budget)
{
	return budget->sink ? budget->window_bytes / PARTS_OF_WINDOW : budget->window_bytes;
}

int spill_excess(struct recording *r)
{
	if (!r->budget.window_bytes || r->budget.slot_bytes < find_window_limit(&r->budget))
		return 0;
	if (!r->spooler)
		begin_in_file(r, 0);
	if (!r->spooler)
		return 0;
	/* A time is converted between two clock pairs, so one pair must be later than the slots. */
	if (timeline_add(&r->timeline, clock_pair_read(r->uses_ticks)))
		return -ENOMEM;
	return give_all_sources(r);
}

void spill_begin(struct recording *r, uint64_t n_bytes)
{
	const struct drain_budget *budget = &r->budget;

	if (!budget->window_bytes || budget->sink || n_bytes < MIN_BYTES)
		return;
	if (n_bytes <= MAX_WINDOWS_IN_MEMORY * budget->window_bytes)
		begin_in_memory(r, n_bytes);
	else
		begin_in_file(r, n_bytes);
}

int spill_give(struct recording *r)
{
	struct spooler *spooler = r->spooler;
	int error = spooler ? give_all_sources(r) : 0;

	while (spooler &&
		spooler_get_held_bytes(spooler) > DRAIN_MAX_WINDOWS * r->budget.window_bytes)
		spooler_wait(spooler);
	return error;
}

int spill_rest(struct recording *r)
{
	if (r->spooler)
		return 0;
	spill_begin(r, r->budget.slot_bytes);
	return spill_give(r);
}

void spill_catch_up(struct recording *r, struct source *s)
{
	/*
	 * Each turn takes a window at least. The number of turns is bounded, so a program that goes
	 * on writing cannot block the server.
	 */
	uint64_t rings = (uint64_t)s->target->n_rings * s->target->ring_bytes;
	uint64_t turns = r->budget.window_bytes ? rings / r->budget.window_bytes + 2 : 0;

	for (; turns && s->state != SOURCE_ENDED; turns--) {
		source_visit(s, &r->error);
		if (spill_excess(r))
			r->error = -ENOMEM;
		if (!s->drain.is_behind || !r->spooler)
			return;
		spooler_wait(r->spooler);
	}
}

int spill_add_warnings(const struct recording *r, struct space *space)
{
	const struct spool *spool = r->spooler ? spooler_get_spool(r->spooler) : NULL;
	int error = spool ? spool_get_error(spool) : 0;

	if (r->spool_problem[0])
		return space_add_warning(space,
			"no file could be had for a large capture (%s): it was kept in memory; set TMPDIR",
			r->spool_problem);
	/* The losses report a full spool (-ENOBUFS). */
	if (!error || error == -ENOBUFS)
		return 0;
	return space_add_warning(space,
		"the capture's file in %s took %" PRIu64
		" bytes, then: %s; what came later is missing",
		spool_get_dir(spool), spool_get_bytes(spool), errno_words(-error));
}
