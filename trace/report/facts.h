/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the facts that archives have about their recordings: messages, losses, and the notes of a
 * flight recorder.
 */
#ifndef TRACE_REPORT_FACTS_H
#define TRACE_REPORT_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/model/names.h"

struct archive_plane;
struct view;

/* Texts of all archives, each once. Facts of all zero bytes are empty. */
struct facts {
	struct names hostnames;
	struct names errors;
	struct names warnings;
	char *reason; /* why the program requested the recording; NULL: it did not */
};

/* 0 or -ENOMEM; call facts_deinit() in any case. */
int facts_read(const struct view *view, struct facts *out);
void facts_deinit(struct facts *f);

/*
 * True if a plane's own stat |i| counts a loss (dropped_traces, ptap_lost_…, ptap_async_…); then
 * the name and the number are filled in.
 */
bool facts_get_loss(
	const struct archive_plane *plane, size_t i, const char **name, uint64_t *count);
/* Returns -1 if the pid is not known. */
int64_t facts_get_pid(const struct archive_plane *plane);

#define FACTS_WINDOW_BYTES 256 /* longer lines are cut; the server writes none */

/*
 * Copies the next line of |*text| into |line|. Each line shows how far back a thread of a
 * recorder's snapshot reaches. False: there is no further line.
 */
bool facts_next_window(const char **text, char line[FACTS_WINDOW_BYTES]);
/*
 * Returns the text that facts_next_window() splits into lines; the caller frees it. "" if there is
 * none, NULL when memory ran out.
 */
char *facts_copy_windows(const struct archive_plane *plane);

#endif
