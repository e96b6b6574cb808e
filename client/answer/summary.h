/* SPDX-License-Identifier: Apache-2.0 */
/* The summary of a capture, as a few lines of text or as a JSON object. */
#ifndef CLIENT_SUMMARY_H
#define CLIENT_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "trace/xspace/totals.h"

struct archive;
struct json;
struct names;
struct outline;

/* The time that a flight recorder's snapshot covers, from the plane stats of each process. */
struct recorder_facts {
	/* The trace is a flight recorder's snapshot; else the other members are unused. */
	bool is_snapshot;
	uint64_t n_overwritten; /* the overwritten annotations of all threads */
	/* The shortest window of a thread that overwrote requested data; 0: no thread did. */
	int64_t shortest_ns;
};

struct summary {
	const char *target; /* "127.0.0.1:9999" */
	const char *session_id;
	const char *log_dir;
	const char *run;
	const char *file; /* the path of the published file */
	uint64_t bytes; /* the size of the file */
	int64_t asked_ms; /* the requested duration */
	int64_t last_ms; /* the requested part of a flight recorder's data; 0: all */
	int64_t transfer_ms;
	bool is_interrupted;
	const struct names *warnings; /* the client's warnings; |archive| has the server's */
	const struct names *said; /* warnings that are printed elsewhere, and not here; or NULL */

	/* Read from the trace. */
	const struct archive *archive; /* the outline's; NULL: the trace could not be read */
	struct report_totals totals;
	const char *process; /* NULL: not known */
	int64_t pid; /* 0: not known */
	int64_t duration_ms; /* the recorded duration */
	int64_t start_unix_ns; /* the start of the recording by the target's clock; 0: not known */
	bool knows_late; /* |late_ns| is known: the server has reported it */
	int64_t late_ns; /* the time from the agreed start until the threads could record */
	struct recorder_facts recorder;
};

/*
 * Sets the members that are read from the trace. The outline is borrowed, and its archive may be
 * NULL.
 */
void summary_read_outline(struct summary *s, const struct outline *outline);

void summary_write_text(const struct summary *s, FILE *out);

/* Writes the line of one target among many, which ends with |clock|, and the target's warnings. */
void summary_write_line(const struct summary *s, const char *clock, FILE *out);
/* Writes the members of the JSON object; the caller may add others. */
void summary_write_json_members(const struct summary *s, struct json *j);
/* Writes the commands that show the files in |log_dir|. */
void summary_write_view(const char *log_dir, FILE *out);

/* --- the flight recorder's snapshots ------------------------------------------------------- */

/* |archive| may be NULL. */
void recorder_facts_read(struct recorder_facts *f, const struct archive *archive);
/* Writes a line of text. |last_ms| is the requested time; 0: all. */
void recorder_facts_write_text(const struct recorder_facts *f, int64_t last_ms, FILE *out);
/* Adds members to the open object of |j|. */
void recorder_facts_write_json(const struct recorder_facts *f, struct json *j);

#endif
