/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of a delivery; see trace_part.h. Field numbers: proto/proftap/v1/profiler.proto. */
#include "daemon/serve/message/trace_part.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/kernel/time_namespace.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/pipeline/recording/progress.h"
#include "daemon/serve/message/reply.h"
#include "proftap/v1/profiler.pb-c.h"
#include "trace/xspace/pbwire.h"

#define TAG_CHUNK PB_TAG(2, PB_LEN) /* CaptureReply.chunk */
#define WORD "part="
/*
 * The sum of one part of each stream; larger if a part would be below TRACE_PART_PASSED_BYTES.
 * Several parts of a stream may be under way: 64 streams (128 KiB a part) hold some 12 MiB.
 */
#define ALL_BYTES (2u << 20)

static size_t clamp_part_bytes(size_t n)
{
	if (n < TRACE_PART_PASSED_BYTES)
		return TRACE_PART_PASSED_BYTES;
	return n < TRACE_PART_BYTES ? n : TRACE_PART_BYTES;
}

void trace_part_write_word(unsigned n_streams, char out[static TRACE_PART_WORD_BYTES])
{
	snprintf(out, TRACE_PART_WORD_BYTES, WORD "%zu", clamp_part_bytes(ALL_BYTES / n_streams));
}

size_t trace_part_find_bytes(const char *target)
{
	if (!target[0])
		return TRACE_PART_BYTES;
	if (strncmp(target, WORD, sizeof WORD - 1) != 0)
		return TRACE_PART_PASSED_BYTES;
	return clamp_part_bytes(strtoul(target + sizeof WORD - 1, NULL, 10));
}

/* Returns NULL if the trace gets no counters of the machine. */
static Proftap__V1__MachineUsage *describe_usage(
	Proftap__V1__MachineUsage *usage, const struct capture_result *result)
{
	proftap__v1__machine_usage__init(usage);
	usage->start_ns = (uint64_t)(result->usage_since_ns - time_namespace_find_ahead_ns("", 0));
	usage->duration_ns = result->duration_ns;
	return result->usage_since_ns && !result->is_empty ? usage : NULL;
}

void trace_part_add_progress(
	struct chunks *to, const struct progress *p, const struct capture_result *result)
{
	Proftap__V1__MachineUsage usage;
	Proftap__V1__Progress progress = PROFTAP__V1__PROGRESS__INIT;
	Proftap__V1__CaptureReply reply = PROFTAP__V1__CAPTURE_REPLY__INIT;

	progress.phase = (Proftap__V1__Phase)atomic_load(&p->phase);
	progress.elapsed_ns = progress_get_elapsed_ns(p);
	progress.recorded_bytes = atomic_load(&p->recorded_bytes);
	progress.spooled_bytes = atomic_load(&p->spooled_bytes);
	if (result) {
		progress.xspace_bytes = delivery_get_bytes(result->delivery);
		progress.machine_usage = describe_usage(&usage, result);
	}
	reply.part_case = PROFTAP__V1__CAPTURE_REPLY__PART_PROGRESS;
	reply.progress = &progress;
	reply_message_append(to, &reply.base);
}

void trace_part_add_trailer(struct chunks *to, const struct capture_result *result,
	uint64_t xspace_bytes, uint64_t xxh3)
{
	Proftap__V1__MachineUsage usage;
	Proftap__V1__Trailer trailer = PROFTAP__V1__TRAILER__INIT;
	Proftap__V1__CaptureReply reply = PROFTAP__V1__CAPTURE_REPLY__INIT;

	trailer.xspace_bytes = xspace_bytes;
	trailer.xspace_xxh3 = xxh3;
	trailer.is_empty = result->is_empty;
	trailer.n_events = result->n_events;
	trailer.n_dropped = result->n_dropped;
	trailer.start_unix_ns = result->start_unix_ns;
	trailer.duration_ns = result->duration_ns;
	trailer.machine_usage = describe_usage(&usage, result);
	reply.part_case = PROFTAP__V1__CAPTURE_REPLY__PART_TRAILER;
	reply.trailer = &trailer;
	reply_message_append(to, &reply.base);
}

void trace_part_add_head(struct chunks *to, size_t n)
{
	uint8_t head[1 + PB_VARINT_MAX_BYTES];
	uint8_t *p = pb_put_varint(pb_put_varint(head, TAG_CHUNK), n);

	chunks_append(to, head, (size_t)(p - head));
}

uint8_t *trace_part_add_chunk(struct chunks *to, size_t n)
{
	uint8_t *p;

	trace_part_add_head(to, n);
	p = chunks_reserve(to, n);
	if (p)
		chunks_commit(to, n);
	return p;
}
