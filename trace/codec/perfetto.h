/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the Perfetto codec, and packets that its files write; perfetto.c has the order of
 * packets.
 */
#ifndef TRACE_CODEC_PERFETTO_H
#define TRACE_CODEC_PERFETTO_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/codec/codec.h"
#include "trace/codec/perfetto_packet.h"

struct bundles;
struct diag;
struct view;

/*
 * Ids of clocks. Each sequence has its own CLOCK_DIFFERENCE_ID, which counts differences on
 * CLOCK_TRACE_ID.
 */
#define CLOCK_REALTIME_ID 1
#define CLOCK_TRACE_ID 6
#define CLOCK_DIFFERENCE_ID 64

/* In the file, times are not negative, and small enough that sums of them do not overflow. */
#define PERFETTO_MAX_NS (INT64_C(1) << 62)

/* --- machines --------------------------------------------------------------------------------- */

/*
 * The machines of a Perfetto trace: within a machine a pid is one process. Archives of one host
 * name are one machine, unless both have a process of the same pid; a view with a grouping has one
 * machine. Viewers draw no arrows between machines, so there are as few as possible.
 */

struct perfetto_machines {
	uint32_t *of_hosts; /* the machine of each host */
	uint32_t n;
};

/* 0 or -ENOMEM. */
int perfetto_machines_init(struct perfetto_machines *m, const struct view *v);
void perfetto_machines_deinit(struct perfetto_machines *m);

struct perfetto {
	const struct view *view;
	struct codec_result *result;
	struct diag *diag;
	struct packets packets; /* not yet in |bundles| */
	struct bundles *bundles;
	struct perfetto_machines machines;
	int64_t shift_ns; /* added to the view's times */
	uint64_t n_uuids; /* ids in use; see perfetto_tracks.h */
};

/* Fills in the diag, and returns -ENOMEM. */
int perfetto_fail_memory(struct perfetto *w);
/* Reserves |n| bytes for packets; NULL: out of memory, with the diag. */
uint8_t *perfetto_reserve(struct perfetto *w, size_t n);
/* Ends the packet that begins at |packet| and whose fields end at |at|. 0 or a negative errno. */
int perfetto_put(struct perfetto *w, uint8_t *packet, uint8_t *at);
/* Writes that the packet belongs to the machine of |host|. */
uint8_t *perfetto_put_machine(const struct perfetto *w, uint8_t *at, uint32_t host);
/*
 * Converts a time of the view to the file's clock. A time that does not fit is clamped, and counted
 * as lost.
 */
uint64_t perfetto_time(struct perfetto *w, int64_t view_ns);
/* Writes into a snapshot that the clock |id| showed |ns|. */
uint8_t *perfetto_put_clock(uint8_t *at, uint32_t id, uint64_t ns, bool is_incremental);

/*
 * Puts the events of all tracks, each track as a sequence (perfetto_events.c). 0 or a negative
 * errno with the diag.
 */
int perfetto_put_events(struct perfetto *w);
/*
 * Puts the samples of all running threads, each thread as a sequence (perfetto_samples.c). 0 or a
 * negative errno with the diag.
 */
int perfetto_put_samples(struct perfetto *w);
/* The same for the states of threads. */
int perfetto_put_states(struct perfetto *w);

#endif
