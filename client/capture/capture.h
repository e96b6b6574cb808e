/* SPDX-License-Identifier: Apache-2.0 */
/* One capture of one or many targets: from the log directory to the published files and what is said of them. */
#ifndef CLIENT_CAPTURE_H
#define CLIENT_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/profile_options.h"
#include "client/target/address.h"
#include "client/view/formats.h"
#include "trace/model/space.h" /* struct names */

struct diag;
struct outline;

struct capture {
	const struct address *targets; /* at least one, all different */
	size_t n_targets;
	struct profile_options options; /* duration_ms > 0 */
	const char *log_dir;
	const char *url; /* to which the servers write, with |server_writes|; NULL: to |log_dir| */
	const char *run; /* NULL: a new one, named after the time */
	const char *const *host_names; /* of the files, one a target; NULL: found out */
	int64_t timeout_ms; /* < 0: duration + delay + 60 s, which begin anew as bytes come */
	int64_t split_bytes; /* larger files are split into some of at most so many; 0: not */
	bool server_writes; /* the trace is to stay there; those that send it all the same are taken at their word */
	bool is_json;
	bool has_program; /* whose standard output it is: the path goes to standard error, without progress */
	/* NULL, or: whether to publish what came (its space NULL: too large to be read); else EXIT_EMPTY */
	bool (*is_wanted)(const struct outline *outline, void *context);
	void *context;
	struct formats formats; /* written beside the trace */
	struct names *files; /* NULL, or: gets the paths of the traces that were published */
	struct names warnings; /* for the summary */
	bool is_waited_for; /* --wait: a target that is busy, so that nobody need be told of it */
	bool can_retry; /* there will be another try: of many, all must be ready, or none is recorded */
	bool is_reported; /* out: what there is to say about each of many targets was printed, failures too */
	int n_interrupts; /* out: when the recording was over; a later one ends what is made of the traces */
	char target[384]; /* out: the address that was reached or tried last, or that failed */
};

#define CAPTURE_SLACK_MS 60000
#define CAPTURE_MAX_MS PROFILE_TO_THE_END_MS

/*
 * Captures once, and prints the summary and the paths of the files. Many targets begin at one instant, which
 * is agreed on when all are connected. Returns an enum exit_code; EXIT_PARTIAL: some of many failed. When it is neither
 * that nor EXIT_DONE, |d| says why and nothing was published (an answer that cannot be read is kept beside, and
 * |d| says where).
 */
int capture_run(struct capture *capture, struct diag *d);

#endif
