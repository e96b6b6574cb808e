/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One target's part of a capture, step by step: opening the run's directory, connecting, recording,
 * writing the file. When a step fails, p->code and p->d have the reason, and no further step is
 * taken. Only part_connect(), which has no |wait_ms|, may wait long for its target; several threads
 * may call it for different parts.
 */
#ifndef CLIENT_PART_H
#define CLIENT_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/profile_options.h"
#include "client/answer/answer.h"
#include "client/answer/clock_offset.h"
#include "client/capture/recording_call.h"
#include "client/target/address.h"
#include "trace/model/names.h"
#include "trace/run_dir.h"

struct client_capture;
struct write_behind;

struct part {
	const struct client_capture *capture;
	const char *host_name; /* for the file's name; NULL: from the trace */
	struct names *taken; /* names of the capture's files so far, shared by its parts */
	struct address address; /* link_open() replaces a pid, a name or "localhost" */
	/* The capture's options with session id and start; their map is borrowed. */
	struct profile_options options;
	struct run_dir run_dir;
	/* Writes the file; NULL: not yet, or there are many targets, or it is a session. */
	struct write_behind *writer;
	struct recording_call recording;
	struct recording_request request;
	struct clock_offset clock; /* measured if there are many targets */
	/* The agreed start of many targets by our clock; 0: only one target, see |options|. */
	int64_t start_unix_ns;
	uint8_t *capture_request; /* the request for servers of proftap.v1; see recording_call.h */
	uint8_t *profile_request; /* the same request for other servers */
	struct answer answer;
	uint64_t received_bytes; /* the trace's bytes */
	/* The bytes that this thread, not |writer|, has written to the temporary file. */
	uint64_t written_bytes;
	uint64_t file_bytes;
	char *file; /* the published path, or the first of several */
	struct names more_files; /* the paths of all files, if the trace was split */
	struct names converted; /* the paths of the converted files */
	struct names conversion_warnings;
	/* interrupt_get_count() at the recording's end; a later interrupt ends conversions. */
	int n_interrupts;
	struct diag remark; /* a warning about the file; "": none */
	struct diag name_remark; /* a warning about the file's name */
	/* A warning about the file's directory, if the log directory was full. */
	struct diag place_remark;
	char *report; /* the report at the end, if there are many targets */
	int code; /* enum exit_code */
	bool is_over;
	bool has_stream; /* the part is over, and its call was one of proftap.v1 (a stream) */
	struct diag d;
};

void part_init(struct part *p, const struct client_capture *capture, size_t i, struct names *taken);
void part_deinit(struct part *p);

/*
 * Creates the temporary file in the run |run| (NULL: a new one). Returns p->code, as the other
 * steps do.
 */
int part_open(struct part *p, const char *run);
/* Connects, and measures the target's clock if there are many targets. */
int part_connect(struct part *p);
/* Makes the request and sends it. |start_unix_ns|: the start by our clock; 0: see the options. */
int part_start(struct part *p, int64_t start_unix_ns);
/* Sends the existing |capture_request| or |profile_request|; p->request.calls has the methods. */
int part_send(struct part *p);
/*
 * Waits up to |wait_ms|. True: the recording is over, and the file is published or p->code has the
 * failure. Prints only progress and, for the only target, the warnings of an empty recording.
 */
bool part_receive(struct part *p, int64_t wait_ms);
/*
 * Call it when the recording is over. Writes the other formats if this is the only target, prints
 * or keeps the report, and closes the connection.
 */
void part_conclude(struct part *p);
/* Calls part_receive(), and part_conclude() when the recording is over. */
bool part_poll(struct part *p, int64_t wait_ms);

#endif
