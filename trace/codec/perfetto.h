/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the Perfetto codec share; perfetto.c tells the order of things. */
#ifndef TRACE_CODEC_PERFETTO_H
#define TRACE_CODEC_PERFETTO_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/codec/codec.h"
#include "trace/codec/perfetto_machines.h"
#include "trace/codec/perfetto_packet.h"

struct bundles;
struct diag;
struct view;
struct view_track;

/* The ids of clocks: the one that all times are on in the end, and the one of differences, of which each sequence has its own. */
#define CLOCK_REALTIME_ID 1
#define CLOCK_TRACE_ID 6
#define CLOCK_DIFFERENCE_ID 64

/* In the file, times are not negative, and small enough that sums of them do not overflow. */
#define PERFETTO_MAX_NS (INT64_C(1) << 62)

struct perfetto {
	const struct view *view;
	struct codec_result *result;
	struct diag *diag;
	struct packets packets; /* on their way to |bundles| */
	struct bundles *bundles;
	struct perfetto_machines machines;
	int64_t shift_ns; /* from the view's time to the file's */
	uint64_t n_uuids; /* that are used; see perfetto_tracks.h */
};

/* -ENOMEM, with the diag. */
int perfetto_fail_memory(struct perfetto *w);
/* Room for |n| bytes of packets; NULL: out of memory, said in the diag. */
uint8_t *perfetto_reserve(struct perfetto *w, size_t n);
/* Ends the packet that begins at |packet| and whose fields end at |at|. 0 or a negative errno. */
int perfetto_put(struct perfetto *w, uint8_t *packet, uint8_t *at);
/* Which machine the packet is of: that of |host|. */
uint8_t *perfetto_put_machine(const struct perfetto *w, uint8_t *at, uint32_t host);
/* A time of the view on the file's clock; what does not fit is counted as lost. */
uint64_t perfetto_time(struct perfetto *w, int64_t view_ns);
/* Into a snapshot: the clock of the id showed |ns|. */
uint8_t *perfetto_put_clock(uint8_t *at, uint32_t id, uint64_t ns, bool is_incremental);

#endif
