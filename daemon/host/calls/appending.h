/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream of proftap.v1.CaptureReply on its way through the daemon, behind whose last chunk goes the machine's part
 * (machine_part.h) if the program's server wants that. Chunks are only summed up, where they lie; Progress and Trailer, which tell
 * the sums, are changed. A stream whose sums are wrong is passed on as it is: its reader is to see that.
 *
 * Threads: none inside; one at a time.
 */
#ifndef DAEMON_APPENDING_H
#define DAEMON_APPENDING_H

#include <stdint.h>

struct Proftap__V1__CaptureReply;
struct XXH3_state_s;
struct chunks;
struct delivery;
struct machine;
struct rpc_pending;

struct appending {
	struct machine *machine; /* borrowed; NULL: there is no part */
	struct XXH3_state_s *sum; /* of all chunks; NULL: memory ran out */
	uint64_t n_bytes; /* the same */
	int has_part; /* it was made, or could not be */
	struct delivery *part; /* NULL: there is none */
	uint64_t part_bytes;
	uint64_t part_left; /* of those, to be sent */
	uint64_t n_events; /* in it */
	struct Proftap__V1__CaptureReply *reply; /* to be sent, changed; NULL: none */
};

/* Where memory runs out, all is passed on as it is. */
void appending_init(struct appending *a, struct machine *m);
void appending_deinit(struct appending *a);

/*
 * Looks at the message that is there at |from|. 0: it is to be passed on; 1: appending_next() has what goes in its place. Waits as
 * machine_part_append() does, once.
 */
int appending_look(struct appending *a, struct rpc_pending *from);
/* The next message that goes in its place: 1, and it is in |message|, which keeps the error. 0: there is no more. */
int appending_next(struct appending *a, struct chunks *message);

#endif
