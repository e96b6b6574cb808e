/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Appends the machine's part (machine_part.h) to a stream of proftap.v1.CaptureReply that passes
 * through the daemon, after its last chunk, if the program's server wants that. Chunks are counted
 * and hashed without a copy; Progress and Trailer, which contain size or checksum, are changed. A
 * Trailer with a wrong size or checksum is passed on unchanged, so that the reader notices.
 *
 * Threads: starts none; one at a time may call it.
 */
#ifndef DAEMON_APPENDING_H
#define DAEMON_APPENDING_H

#include <stdbool.h>
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
	uint64_t n_bytes; /* size of all chunks */
	bool has_part; /* making the part was tried; |part| has the result */
	struct delivery *part; /* NULL: there is none */
	uint64_t part_bytes;
	uint64_t part_left; /* bytes of the part that are still to be sent */
	uint64_t n_events; /* in the part */
	struct Proftap__V1__CaptureReply
		*reply; /* the changed message that comes next; NULL: none */
};

/* If memory runs out, all messages are passed on unchanged. */
void appending_init(struct appending *a, struct machine *m);
void appending_deinit(struct appending *a);

/*
 * Reads the message that |from| has at hand. false: pass it on; true: send the messages of
 * appending_next() in its place. Once in a stream it calls machine_part_append(), which may take a
 * sample.
 */
bool appending_read_message(struct appending *a, struct rpc_pending *from);
/*
 * Writes the next message to send in place of the one at hand to |message|; an error is in
 * message->error. Returns false if there is no further one.
 */
bool appending_next(struct appending *a, struct chunks *message);

#endif
