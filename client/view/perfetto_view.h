/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows a view in the Perfetto UI: converts it into an unlinked file, prints the link and serves
 * the file. The link's path is random, so that other users of the machine cannot guess it.
 */
#ifndef CLIENT_PERFETTO_VIEW_H
#define CLIENT_PERFETTO_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct diag;
struct view;

struct perfetto_view {
	int64_t port;
	const char *port_option; /* the option that chooses |port|, for messages */
	int64_t max_events; /* a view with more is refused, because a browser cannot hold so many */
	bool keeps; /* serves until interrupted, not only until the file was fetched once */
	bool is_json; /* prints the link and the conversion's results as a JSON object */
	/* interrupt_get_count() before the call; these interrupts do not end the serving. */
	int n_interrupts;
	FILE *out; /* the link is written to it */
};

/*
 * An event takes some 30 bytes of the file. Perfetto's page needs two to four times the file's size
 * in memory, and most browsers give a page 2 to 4 GB.
 */
#define PERFETTO_VIEW_MAX_EVENTS 20000000
/* The limit of the file's size, for events with much data. */
#define PERFETTO_VIEW_MAX_BYTES (INT64_C(1) << 30)

#define PERFETTO_VIEW_INIT                                            \
	{                                                             \
		.port = PERFETTO_LINK_PORT, .port_option = "--port",  \
		.max_events = PERFETTO_VIEW_MAX_EVENTS, .out = stdout \
	}

/*
 * Serves |view|, which shows the trace or run at |path|. EXIT_DONE: the file was fetched whole at
 * least once. EXIT_INTERRUPTED: the file was not fetched, or view->stop ended the conversion.
 * EXIT_FAILED: |d| has the reason, or is empty if it has been printed; a |d| of -EFBIG means that
 * the view is too large for a browser (see processor_command_write()). Calls interrupt_start()
 * before serving.
 */
int perfetto_view_run(
	const struct perfetto_view *p, const struct view *view, const char *path, struct diag *d);

/* --- the command for trace_processor ------------------------------------------------------- */

/* An option of proftap convert as the user gave it. */
struct processor_option {
	const char *name;
	const char *value; /* NULL: a flag */
};

/*
 * A command line for a trace that is too large for a browser: Google's trace_processor, a program
 * on this machine, holds the trace, and the page of the Perfetto UI queries it.
 */
struct processor_command {
	const struct processor_option *options;
	size_t n_options;
	char *const *places; /* operands */
	size_t n_places;
};

/* Writes the command as a line that a shell can read. */
void processor_command_write(const struct processor_command *c, FILE *out);

/* --- the link --------------------------------------------------------------------------------- */

#define PERFETTO_LINK_ORIGIN "https://ui.perfetto.dev"
#define PERFETTO_LINK_PORT 9001

struct perfetto_link {
	char path[256]; /* "/<128 random bits>/gpu7_9999.pftrace" */
	char url[320]; /* the file's URL for the browser */
	char text[512]; /* the link */
	/*
	 * The ssh command for the browser's machine; "": the browser runs on this machine.
	 */
	char tunnel[256];
};

/*
 * Returns true if a Host header names this server. Another name may be an attack by DNS rebinding.
 * |host| NULL: false.
 */
bool perfetto_link_is_host(const char *host, uint16_t port);

#endif
