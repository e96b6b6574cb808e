/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slices of a session; see slice.h. A file has the slots of all logs one after the other, in the
 * order of drains and logs.
 */
#include "daemon/pipeline/recording/slice.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/file_io.h"
#include "base/log.h"
#include "daemon/kernel/spool_place.h"
#include "daemon/pipeline/drain/drain.h"
#include "daemon/pipeline/recording/recording_cut.h"

struct slice *slice_new(size_t n_drains)
{
	struct slice *slice = calloc(1, sizeof *slice);

	if (slice)
		slice->drains = calloc(n_drains, sizeof *slice->drains);
	if (!slice || !slice->drains) {
		free(slice);
		return NULL;
	}
	slice->fd = -1;
	return slice;
}

static void wait_for_writer(struct slice *slice)
{
	if (slice->has_writer)
		pthread_join(slice->writer, NULL);
	slice->has_writer = false;
}

static void close_file(struct slice *slice)
{
	if (slice->fd >= 0)
		close(slice->fd);
	slice->fd = -1;
}

struct slice *slice_free(struct slice *slice)
{
	wait_for_writer(slice);
	close_file(slice);
	device_extents_deinit(&slice->devices);
	for (size_t i = 0; i < slice->n_drains; i++)
		drain_deinit(&slice->drains[i]);
	free(slice->drains);
	free(slice);
	return NULL;
}

uint64_t slice_count_entries(const struct drain *d)
{
	uint64_t n = 0;

	for (size_t i = 0; i < d->n_logs; i++)
		n += d->logs[i]->n_entries;
	return n;
}

uint64_t slice_count(const struct drain *d)
{
	uint64_t n = 0;

	for (size_t i = 0; i < d->n_logs; i++)
		n += d->logs[i]->n_slots;
	return n;
}

/* Calls |visit| with each log and the offset of its slots in the file, until a call fails. */
static int visit_logs(struct slice *slice,
	int (*visit)(const struct slice *slice, struct thread_log *log, uint64_t offset))
{
	uint64_t offset = 0;
	int r = 0;

	for (size_t i = 0; i < slice->n_drains; i++)
		for (size_t k = 0; k < slice->drains[i].n_logs && !r; k++) {
			struct thread_log *log = slice->drains[i].logs[k];

			r = visit(slice, log, offset);
			offset += log->n_slots * sizeof *log->slots;
		}
	return r;
}

/* --- writing ------------------------------------------------------------------------------- */

static int write_log(const struct slice *slice, struct thread_log *log, uint64_t offset)
{
	return file_write_at(slice->fd, log->slots, log->n_slots * sizeof *log->slots, offset);
}

static int find_device_extents(const struct slice *slice, struct device_extents *to)
{
	int r = 0;

	for (size_t i = 0; i < slice->n_drains; i++)
		for (size_t k = 0; k < slice->drains[i].n_logs && !r; k++)
			r = device_extents_add(to, i, slice->drains[i].logs[k]->slots,
				slice->drains[i].logs[k]->n_slots);
	return r;
}

static int free_slots(const struct slice *slice, struct thread_log *log, uint64_t offset)
{
	(void)slice;
	(void)offset;
	free(log->slots);
	log->slots = NULL;
	log->n_allocated = 0;
	return 0;
}

static int write_all(struct slice *slice)
{
	const char *place;
	int r;

	slice->fd = spool_place_open(NULL, &place);
	if (slice->fd < 0)
		return slice->fd;
	r = slice->n_bytes > spool_place_find_room(slice->fd) ? -ENOSPC
							      : visit_logs(slice, write_log);
	if (!r)
		r = visit_logs(slice, free_slots);
	else
		close_file(slice);
	return r;
}

static void *run_writer(void *argument)
{
	struct slice *slice = argument;
	int r;

	slice->first_ticks = UINT64_MAX;
	for (size_t i = 0; i < slice->n_drains; i++)
		slice->first_ticks = part_origin_find_first(
			&slice->drains[i], slice->earliest_ticks, slice->first_ticks);
	r = find_device_extents(slice, &slice->devices);
	if (!r)
		r = write_all(slice);
	if (r)
		log_info(LOG_TARGET, "no file for a session's records: %s", errno_words(-r));
	slice->has_failed = r != 0;
	atomic_store(&slice->is_written, 1);
	return NULL;
}

void slice_store(struct slice *slice)
{
	slice->has_writer = pthread_create(&slice->writer, NULL, run_writer, slice) == 0;
	/* If there is a writer, it sets has_failed. */
	if (!slice->has_writer)
		slice->has_failed = true;
	else
		pthread_setname_np(slice->writer, "ptap-slice");
}

bool slice_is_busy(const struct slice *slice)
{
	return slice->has_writer && !atomic_load(&slice->is_written);
}

bool slice_is_in_memory(const struct slice *slice)
{
	return slice_is_busy(slice) || slice->fd < 0;
}

/* --- reading ------------------------------------------------------------------------------- */

uint64_t slice_find_first(struct slice *slice, uint64_t earliest_ticks, uint64_t first)
{
	wait_for_writer(slice);
	if (slice->fd >= 0)
		return slice->first_ticks < first ? slice->first_ticks : first;
	for (size_t i = 0; i < slice->n_drains; i++)
		first = part_origin_find_first(&slice->drains[i], earliest_ticks, first);
	return first;
}

int slice_find_devices(struct slice *slice, struct device_extents *to)
{
	wait_for_writer(slice);
	return slice->fd >= 0 ? device_extents_join(to, &slice->devices)
			      : find_device_extents(slice, to);
}

static int read_log(const struct slice *slice, struct thread_log *log, uint64_t offset)
{
	uint64_t n_bytes = log->n_slots * sizeof *log->slots;

	log->slots = n_bytes ? malloc(n_bytes) : NULL;
	if (!n_bytes)
		return 0;
	log->n_allocated = log->n_slots;
	return log->slots ? file_read_at(slice->fd, (uint8_t *)log->slots, n_bytes, offset)
			  : -ENOMEM;
}

static int count_log_as_lost(const struct slice *slice, struct thread_log *log, uint64_t offset)
{
	log->lost_memory += log->n_entries;
	log->n_entries = 0;
	free_slots(slice, log, offset);
	return 0;
}

static void forget_records(struct slice *slice)
{
	visit_logs(slice, count_log_as_lost);
	for (size_t i = 0; i < slice->n_drains; i++)
		for (size_t k = 0; k < slice->drains[i].n_logs; k++)
			slice->drains[i].logs[k]->n_slots = slice->drains[i].logs[k]->n_eras = 0;
}

int slice_load(struct slice *slice)
{
	int r;

	wait_for_writer(slice);
	if (slice->fd < 0)
		return 0;
	r = visit_logs(slice, read_log);
	if (r) {
		log_warn(LOG_TARGET, "a session's records: %s", errno_words(-r));
		forget_records(slice);
	}
	close_file(slice);
	return r;
}
