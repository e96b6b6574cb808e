/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connecting to a target: tries every address of the name. A failure names the exact
 * reason and the remedy.
 */
#ifndef CLIENT_DIAL_H
#define CLIENT_DIAL_H

#include <stdbool.h>
#include <stdint.h>

struct address;
struct diag;

#define DIAL_TIMEOUT_MS 10000

/*
 * Returns a connected, close-on-exec, non-blocking socket, or a negative errno with |d|. -EINTR:
 * interrupted. A host of "localhost" in |address| is replaced by the address that answered, or by
 * 127.0.0.1 if none did.
 */
int dial(struct address *address, int64_t timeout_ms, struct diag *d);

/* The number of bytes that arrived on |fd| so far, including unread ones; -1: not known. */
int64_t dial_get_received_bytes(int fd);

/* Returns true if neither side has closed the connection. */
bool dial_is_connected(int fd);

#endif
