/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limit of the bytes that all clients together may send. Requests are small, but gRPC keeps
 * header blocks that are incomplete, and a peer that never acknowledges gRPC's limits may send them
 * without end.
 */
#ifndef DAEMON_TRAFFIC_H
#define DAEMON_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

/* A struct of zeros is the state before the first byte. */
struct traffic_limit {
	uint64_t owed_bytes; /* bytes from clients, less those forgiven; see traffic.c */
	int64_t forgiven_until_ns;
};

/* The bytes that one connection has sent and received. */
struct traffic {
	uint64_t received_bytes;
	uint64_t sent_bytes;
};

/*
 * Counts the bytes of a connection between |before| and |now|, and sets |before| to |now|. Returns
 * true if all clients together have sent too much, and this one more than 128 KiB in its life.
 */
bool traffic_count(
	struct traffic_limit *limit, struct traffic *before, struct traffic now, int64_t now_ns);

/* The bytes of the TCP connection |fd|; 0 for other sockets, which are not limited. */
struct traffic traffic_read(int fd);

#endif
