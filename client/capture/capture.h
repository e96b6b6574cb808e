/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One capture of one or many targets: from the log directory to the published files and their
 * report.
 */
#ifndef CLIENT_CAPTURE_H
#define CLIENT_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/profile_options.h"
#include "client/target/address.h"
#include "client/view/conversion.h"
#include "trace/model/names.h"

struct client_capture;
struct diag;
struct outline;

struct client_capture {
	const struct address *targets; /* at least one, all different */
	size_t n_targets;
	struct profile_options options; /* duration_ms > 0 */
	const char *log_dir;
	const char *url; /* with |server_writes|: the servers write to it; NULL: to |log_dir| */
	const char *run; /* NULL: a new one, named after the time */
	const char *const
		*host_names; /* for the files' names, one per target; NULL: from the traces */
	/*
	 * < 0: the limit is the duration, the delay and 60 s; the 60 s begin anew whenever bytes
	 * arrive.
	 */
	int64_t timeout_ms;
	int64_t split_bytes; /* the size limit of a file, above which it is split; 0: none */
	/* The server is to write the trace. If it sends the trace instead, the client writes it. */
	bool server_writes;
	bool is_json;
	/*
	 * A program that was started here owns standard output: the path goes to standard error,
	 * and no progress is drawn.
	 */
	bool has_program;
	/*
	 * If not NULL, decides whether the trace is published; an unpublished trace makes the
	 * capture EXIT_EMPTY. The archive of |outline| is NULL if the trace was too large to be
	 * read.
	 */
	bool (*is_wanted)(const struct outline *outline, void *context);
	void *context;
	struct formats formats; /* other formats that are written beside the trace */
	struct names *files; /* gets the paths of the published traces; may be NULL */
	struct names warnings; /* for the summary */
	bool is_waited_for; /* --wait was given, so messages about busy targets do not advise it */
	/* Another try may follow. While it may, many targets are recorded only if all are ready. */
	bool can_retry;
	bool is_reported; /* out: many targets' or a session's file's report is printed */
	/*
	 * Out: interrupt_get_count() at the end of the recording; a later interrupt ends the
	 * conversion.
	 */
	int n_interrupts;
	char target[384]; /* out: the address of a target that failed, or else of the first one */
};

#define CAPTURE_SLACK_MS 60000
#define CAPTURE_MAX_MS PROFILE_TO_THE_END_MS

/*
 * Captures once, and prints the summary and the paths of the files. Many targets start at one
 * instant, which is agreed on when all are connected. Returns an enum exit_code; EXIT_PARTIAL: some
 * of many failed. With any code other than EXIT_PARTIAL and EXIT_DONE, |d| has the reason and
 * nothing was published. An answer that cannot be read is kept in a file that |d| names.
 */
int client_capture_run(struct client_capture *capture, struct diag *d);

/*
 * Prints the message and the client's warnings of a capture or session without a trace to standard
 * error; with --json also an object with "error" and "exit".
 */
void capture_failure_write(const struct client_capture *capture, int code, const struct diag *d);

#endif
