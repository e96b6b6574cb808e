/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When requests with a start in the future get the place: a little before it, and earlier where the program uses a device, whose
 * collectors take their time to begin.
 */
#ifndef DAEMON_ARMING_H
#define DAEMON_ARMING_H

#include <stdint.h>

struct session;
struct session_request;

/* Sets when |request| is to start, as its options say, and is due. 1 when that is later than now. Under the mutex. */
int arming_begin(struct session *s, struct session_request *request);
/* It cannot begin at its time any more. |now_ns|: an int64_t. */
int arming_is_late(const struct session_request *request, const void *now_ns);

/*
 * Looks whether the program uses a device, if a request wants to know by now and nothing is recorded. Returns when it is to be
 * called next; INT64_MAX: nobody wants to know. The worker's.
 */
int64_t arming_tend(struct session *s);

#endif
