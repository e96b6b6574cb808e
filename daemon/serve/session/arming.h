/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides when a request with a start in the future occupies the session: a little before that
 * start, and earlier if the program uses a device, because its collectors start slowly.
 */
#ifndef DAEMON_ARMING_H
#define DAEMON_ARMING_H

#include <stdbool.h>
#include <stdint.h>

struct session;
struct session_request;

/*
 * Sets the start of |request| according to its options, and the time when it is due. Returns true
 * if that time is in the future. The caller has the mutex.
 */
bool arming_begin(struct session *s, struct session_request *request);
/* Returns true if the start has passed. |now_ns| points to an int64_t. */
bool arming_is_late(const struct session_request *request, const void *now_ns);

/*
 * Checks whether the program uses a device, if the start of a request is near and nothing is being
 * recorded. Returns the time of the next call; INT64_MAX: no request needs it, or one is
 * recording. Only the worker's thread calls it.
 */
int64_t arming_tend(struct session *s);

#endif
