/* SPDX-License-Identifier: Apache-2.0 */
/* From what a stranger wrote, ProfileRequest or CaptureRequest, to what is to be recorded. */
#ifndef DAEMON_REQUEST_H
#define DAEMON_REQUEST_H

#include <stddef.h>
#include <stdint.h>

struct diag;
struct rpc_call;
struct session_request;

/*
 * Owner: *out belongs to the caller (session_request_free()); its |call| and |deliver| are NULL. 0; -EINVAL with |d|
 * for whoever asked; -ENOMEM.
 */
int request_decode(const uint8_t *bytes, size_t n, struct session_request **out, struct diag *d);

/* The same for proftap.v1; |interval_ms|: between two messages of progress, at least 50. */
int request_decode_capture(const uint8_t *bytes, size_t n, struct session_request **out,
	uint32_t *interval_ms, struct diag *d);
/*
 * Adds a warning for each option that only a host daemon can do, where |call|, the request's, did not come through one.
 * 0 or -ENOMEM.
 */
int request_warn_of_host_options(struct session_request *request, const struct rpc_call *call);
/* By this name calls mean the flight recorder, and no session. */
#define REQUEST_RECORDER_ID "recorder"

/* The same for a StartRequest; its |session_id| is set in any case. *for_recorder: whether that is to be started. */
int request_decode_start(const uint8_t *bytes, size_t n, struct session_request **out,
	int *for_recorder, struct diag *d);

#endif
