/* SPDX-License-Identifier: Apache-2.0 */
/* Showing a view in the Perfetto UI: converted into an unlinked file, served, and the link told. */
#ifndef CLIENT_PERFETTO_VIEW_H
#define CLIENT_PERFETTO_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct diag;
struct view;

struct perfetto_view {
	int64_t port;
	const char *port_option; /* that chooses it */
	int64_t max_events; /* more are not for a browser */
	bool keeps; /* until interrupted, not until it was fetched once */
	bool is_json; /* the link, and what was converted, as an object */
	int n_interrupts; /* that are not meant for it (interrupt_get_count()) */
	FILE *out; /* gets the link */
};

/*
 * Some 30 bytes each in memory-hungry form: Perfetto's page needs two to four times that, and has 2 to 4 GB in most browsers.
 */
#define PERFETTO_VIEW_MAX_EVENTS 20000000
/* The same of what events carry, as the file is compressed. */
#define PERFETTO_VIEW_MAX_BYTES (INT64_C(1) << 30)

#define PERFETTO_VIEW_INIT                                            \
	{                                                             \
		.port = PERFETTO_LINK_PORT, .port_option = "--port",  \
		.max_events = PERFETTO_VIEW_MAX_EVENTS, .out = stdout \
	}

/*
 * |view| is of the trace or run at |path|. EXIT_DONE: it was fetched whole, at least once; EXIT_INTERRUPTED: it was not;
 * EXIT_FAILED with |d|, which is empty when all has been said; -EFBIG: it is too large for a browser (see processor_command.h).
 * view->stop ends the conversion (EXIT_INTERRUPTED). Counts interrupts from where it serves (interrupt.h).
 */
int perfetto_view_run(
	const struct perfetto_view *p, const struct view *view, const char *path, struct diag *d);

#endif
