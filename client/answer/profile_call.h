/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests of a capture as bytes: of proftap.v1 CaptureRequest, StartRequest, SnapshotRequest and StopRequest,
 * of others ProfileRequest and TerminateRequest.
 */
#ifndef CLIENT_PROFILE_CALL_H
#define CLIENT_PROFILE_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile_options;

/* What calls name the flight recorder by, where a session's id is meant otherwise. */
#define RECORDER_ID "recorder"

struct profile_call {
	const struct profile_options *options; /* session_id set; start_timestamp_ns final */
	const char *host_name; /* of the file, or NULL: the server's choice */
	const char *address; /* as called, e.g. "127.0.0.1:9999" */
	const char *
		log_dir; /* for servers that write by themselves; absolute; NULL: they are not to */
	bool server_writes; /* they are asked to; else for the data */
};

/*
 * Makes the name of the directory that holds the runs of |log_dir|, a path or a URL. The caller
 * frees it. NULL: no memory.
 */
char *profile_call_make_root(const char *log_dir);

/* 0 or -ENOMEM; the caller frees *out. */
int profile_call_encode(const struct profile_call *call, uint8_t **out, size_t *n_out);
int profile_call_encode_terminate(const char *session_id, uint8_t **out, size_t *n_out);
int profile_call_encode_capture(const struct profile_call *call, uint8_t **out, size_t *n_out);
/* Of a session, or with |of_recorder| of that. */
int profile_call_encode_start(
	const struct profile_call *call, bool of_recorder, uint8_t **out, size_t *n_out);
/* |session_id| may be "": whichever runs. |last_ms|: 0: all; |keep|: see profiler.proto. */
int profile_call_encode_snapshot(
	const char *session_id, uint64_t last_ms, bool keep, uint8_t **out, size_t *n_out);
int profile_call_encode_stop(const char *session_id, bool discard, uint8_t **out, size_t *n_out);

#endif
