/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connecting to a target: every address of the name is tried, and a failure says exactly why and
 * what to do.
 */
#ifndef CLIENT_DIAL_H
#define CLIENT_DIAL_H

#include <stdbool.h>
#include <stdint.h>

struct address;
struct diag;

#define DIAL_TIMEOUT_MS 10000

/*
 * Returns a connected, close-on-exec, non-blocking socket, or a negative errno with |d| filled.
 * -EINTR: interrupted. |address| may be made more exact: "localhost" becomes the address that
 * answered, or the last one that was tried.
 */
int dial(struct address *address, int64_t timeout_ms, struct diag *d);

/* Bytes that the peer sent on |fd| so far, whether read or not; -1 when it cannot be known. */
int64_t dial_get_received_bytes(int fd);

/* Whether neither side has closed the connection yet. */
bool dial_is_connected(int fd);

#endif
