/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes and checks the requests of clients for recordings: ProfileRequest of
 * tensorflow.ProfilerService, CaptureRequest and StartRequest of proftap.v1.
 */
#ifndef DAEMON_REQUEST_H
#define DAEMON_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diag;
struct rpc_call;
struct session_request;

/* Calls use this name to refer to the flight recorder instead of a session. */
#define REQUEST_RECORDER_ID "recorder"

/*
 * Decodes a ProfileRequest. Owner: *out belongs to the caller (session_request_free()); its |call|
 * and |deliver| are NULL. 0; -EINVAL with |d|, a text for the client; -ENOMEM.
 */
int request_decode(const uint8_t *bytes, size_t n, struct session_request **out, struct diag *d);

/*
 * Decodes a CaptureRequest likewise. *interval_ms is the time between two messages of progress, at
 * least 50.
 */
int request_decode_capture(const uint8_t *bytes, size_t n, struct session_request **out,
	uint32_t *interval_ms, struct diag *d);
/*
 * Adds a warning for each option that needs a host daemon, unless |call|, that of the request, came
 * through one. 0 or -ENOMEM.
 */
int request_warn_of_host_options(struct session_request *request, const struct rpc_call *call);
/*
 * Decodes a StartRequest likewise; its |session_id| is always set. *for_recorder is set if it
 * starts the flight recorder.
 */
int request_decode_start(const uint8_t *bytes, size_t n, struct session_request **out,
	bool *for_recorder, struct diag *d);

#endif
