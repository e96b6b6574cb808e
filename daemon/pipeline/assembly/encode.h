/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes a trace, whose lines may have tracks in a spool, to a delivery. */
#ifndef DAEMON_ENCODE_H
#define DAEMON_ENCODE_H

#include <stdint.h>

struct delivery;
struct space;
struct spool;

struct encode_request {
	struct space *space;
	struct spool *spool; /* NULL: no line has stored events */
	uint64_t max_bytes; /* the most that the client can take; 0: any number */
	const _Atomic int *cancel; /* raised: the trace is not wanted any more */
};

/*
 * If the trace is larger than |max_bytes|, as many of the oldest runs of its tracks (track.h) as
 * necessary are left out, and the trace gets a warning. |*n_left_out| is the number of the events
 * in these runs. Owner: *out belongs to the caller. 0, -ENOMEM or -ECANCELED.
 */
int encode(const struct encode_request *request, struct delivery **out, uint64_t *n_left_out);

#endif
