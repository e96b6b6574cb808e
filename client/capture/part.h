/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One target's part in a capture, step by step: a place for the file, the connection, the recording, the file.
 * A part that has failed stays where it is; p->code and p->d say why. Nothing waits longer than it is told to but
 * part_connect(), which other threads may do for other parts meanwhile.
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
#include "client/capture/recording.h"
#include "client/target/address.h"
#include "trace/model/names.h"
#include "trace/run_dir.h"

struct capture;
struct write_behind;

struct part {
	const struct capture *capture;
	const char *host_name; /* of the file; NULL: found out */
	struct names *taken; /* names of files that this capture has made, shared by its parts */
	struct address address; /* exact, once connected */
	struct profile_options options; /* borrows the map; session and start filled in */
	struct run_dir run_dir;
	struct write_behind *writer; /* of the file; NULL: none yet, or one of many */
	struct recording recording;
	struct recording_request request;
	struct clock_offset clock; /* of one of many */
	int64_t start_unix_ns; /* by our clock, agreed on by many; 0: at once */
	uint8_t *capture_request; /* both forms of one; see recording.h */
	uint8_t *profile_request;
	struct answer answer;
	uint64_t received_bytes; /* of the trace */
	uint64_t written_bytes; /* of it, to the temporary file, where this thread writes them */
	uint64_t file_bytes;
	char *file; /* the published path, or the first one */
	struct names more_files; /* all of them, when the trace was split */
	struct names converted; /* the same in the formats that were asked for, beside them */
	struct names conversion_warnings;
	int n_interrupts; /* when the recording was over: a later one ends them */
	struct diag remark; /* on the file, for the report; "": none */
	struct diag name_remark; /* on what it is called */
	struct diag place_remark; /* on where it is, when the log directory took no more */
	char *report; /* of one of many: what is said of it at the end */
	int code; /* enum exit_code */
	bool is_over;
	bool has_stream; /* it is, and was answered by proftap.v1 */
	struct diag d;
};

void part_init(struct part *p, const struct capture *capture, size_t i, struct names *taken);
void part_deinit(struct part *p);

/* Makes sure of the place for the file, in the run |run| (NULL: a new one). Returns p->code, as all do. */
int part_open(struct part *p, const char *run);
/* Connects, and looks at the target's clock if there are many. */
int part_connect(struct part *p);
/* Sends the request. |start_unix_ns| by our clock; 0: as the options say. */
int part_start(struct part *p, int64_t start_unix_ns);
/* Sends |capture_request| and |profile_request| as they are, as part->request says. */
int part_send(struct part *p);
/* One turn of waiting, up to |wait_ms|. True: it is over, the file is published or p->code says why not. Prints nothing. */
bool part_receive(struct part *p, int64_t wait_ms);
/* Once it is over: writes the other formats, prints or keeps the report, and closes the connection. */
void part_conclude(struct part *p);
/* The two in one. */
bool part_poll(struct part *p, int64_t wait_ms);

#endif
