/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much all clients together may send. Requests are small, and gRPC keeps what it does not understand yet: header
 * blocks without an end have no limit for a peer that never acknowledges the limits it is told.
 */
#ifndef DAEMON_INTAKE_H
#define DAEMON_INTAKE_H

#include <stdint.h>

/* Zero: nothing was sent yet. */
struct intake {
	uint64_t owed_bytes; /* sent, less what the time since has forgiven */
	int64_t forgiven_until_ns;
};

/* The bytes that one connection has sent and received. */
struct intake_peer {
	uint64_t received_bytes;
	uint64_t sent_bytes;
};

/* Counts what |peer| did since |before|, which it becomes. Nonzero: it is too much, and this one's doing. */
int intake_count(
	struct intake *intake, struct intake_peer *before, struct intake_peer now, int64_t now_ns);

/* Of the TCP connection |fd|; of another one: nothing, ever. */
struct intake_peer intake_read(int fd);

#endif
