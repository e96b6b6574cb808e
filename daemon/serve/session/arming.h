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
 * Sets the start of |request|, as its options say, and when it is due. Whether that is in the
 * future. Under the mutex.
 */
bool arming_begin(struct session *s, struct session_request *request);
/* Whether the start has passed. |now_ns|: an int64_t. */
bool arming_is_late(const struct session_request *request, const void *now_ns);

/*
 * Checks whether the program uses a device, if the start of a request is near and nothing is
 * recorded. Returns when to call it next; INT64_MAX: no request needs it. The worker's thread.
 */
int64_t arming_tend(struct session *s);

#endif
