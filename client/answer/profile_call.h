/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes requests: CaptureRequest, StartRequest, SnapshotRequest and StopRequest of proftap.v1,
 * and ProfileRequest and TerminateRequest for other servers.
 */
#ifndef CLIENT_PROFILE_CALL_H
#define CLIENT_PROFILE_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile_options;

/* The session id that means the flight recorder. */
#define RECORDER_ID "recorder"

struct profile_call {
	/* Contains session_id and the final start_timestamp_ns. */
	const struct profile_options *options;
	const char *host_name; /* for the file's name; NULL: the server chooses */
	const char *address; /* the target's address, such as "127.0.0.1:9999" */
	const char *log_dir; /* an absolute path or URL for servers that write the trace; or NULL */
	/* The server is to write the trace; false: the server sends the trace. */
	bool server_writes;
};

/*
 * Returns the name of the directory that holds the runs of |log_dir|, a path or a URL. The caller
 * frees it. NULL: memory ran out.
 */
char *profile_call_make_root(const char *log_dir);

/* The encoding functions return 0 or -ENOMEM; the caller frees *out. */
int profile_call_encode(const struct profile_call *call, uint8_t **out, size_t *n_out);
int profile_call_encode_terminate(const char *session_id, uint8_t **out, size_t *n_out);
int profile_call_encode_capture(const struct profile_call *call, uint8_t **out, size_t *n_out);
/* Starts a session, or with |of_recorder| the flight recorder. */
int profile_call_encode_start(
	const struct profile_call *call, bool of_recorder, uint8_t **out, size_t *n_out);
/* |session_id|: "" means the running one. |last_ms|: 0 means all. |keep|: see profiler.proto. */
int profile_call_encode_snapshot(
	const char *session_id, uint64_t last_ms, bool keep, uint8_t **out, size_t *n_out);
int profile_call_encode_stop(const char *session_id, bool discard, uint8_t **out, size_t *n_out);

#endif
