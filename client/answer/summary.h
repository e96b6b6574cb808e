/* SPDX-License-Identifier: Apache-2.0 */
/* What a capture brought, for people (a few lines) and for scripts (one JSON object). */
#ifndef CLIENT_SUMMARY_H
#define CLIENT_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "client/answer/recorder_facts.h"
#include "trace/xspace/totals.h" /* struct report_totals */

struct json;
struct names;
struct outline;
struct space;

struct summary {
	const char *target; /* "127.0.0.1:9999" */
	const char *session_id;
	const char *log_dir;
	const char *run;
	const char *file; /* path of the published file */
	uint64_t bytes; /* of the file */
	int64_t asked_ms; /* the duration, as the client knows it */
	int64_t last_ms; /* of the flight recorder, no more than these; 0: all */
	int64_t transfer_ms;
	bool is_interrupted;
	const struct names *warnings; /* of the client; the space has its own */
	const struct names *said; /* printed elsewhere, and not again; NULL: none */

	/* From the trace. */
	const struct space *space; /* without lines; NULL: it could not be read */
	struct report_totals totals;
	const char *process; /* NULL: not known */
	int64_t pid; /* 0: not known */
	int64_t duration_ms; /* recorded */
	int64_t start_unix_ns; /* of the recording, by the target's clock; 0: not known */
	bool knows_late; /* its server says |late_ns| */
	int64_t late_ns; /* since when its threads could record: after the agreed instant */
	struct recorder_facts recorder;
};

/* What the trace says about itself; the outline's space is borrowed, and may be NULL. */
void summary_read_outline(struct summary *s, const struct outline *outline);

void summary_write_text(const struct summary *s, FILE *out);

/* Of one of many targets: one line, with |clock| at its end, and its warnings. */
void summary_write_line(const struct summary *s, const char *clock, FILE *out);
/* The members of the JSON object, to which others may be added. */
void summary_write_json_members(const struct summary *s, struct json *j);
/* Where to go from here, when the files are in |log_dir|. */
void summary_write_view(const char *log_dir, FILE *out);

#endif
