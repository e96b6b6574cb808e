/* SPDX-License-Identifier: Apache-2.0 */
/* What archives say about their recordings: messages, loss, and what a flight recorder noted. */
#ifndef TRACE_REPORT_FACTS_H
#define TRACE_REPORT_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/model/names.h"

struct archive_plane;
struct view;

/* Texts of all archives, each once. All zero is empty. */
struct facts {
	struct names hostnames;
	struct names errors;
	struct names warnings;
	char *reason; /* why the program asked for it; NULL: it did not */
};

/* 0 or -ENOMEM; facts_deinit() in any case. */
int facts_read(const struct view *view, struct facts *out);
void facts_deinit(struct facts *f);

/* Whether a plane's own stat |i| counts something lost (dropped_traces, ptap_lost_…, ptap_async_…), and what. */
bool facts_get_loss(
	const struct archive_plane *plane, size_t i, const char **name, uint64_t *count);
/* -1 if it is not known. */
int64_t facts_get_pid(const struct archive_plane *plane);

#define FACTS_WINDOW_BYTES \
	256 /* the server writes no longer ones: what is cut was somebody else's */

/* The next line of |*text| into |line|: how far back a thread of a recorder's snapshot reaches; false: there is none. */
bool facts_next_window(const char **text, char line[FACTS_WINDOW_BYTES]);
/* The text of them; "" if there is none, NULL without memory. The caller frees it. */
char *facts_copy_windows(const struct archive_plane *plane);

#endif
