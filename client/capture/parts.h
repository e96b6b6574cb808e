/* SPDX-License-Identifier: Apache-2.0 */
/* All parts of a capture. One thread drives them; only connecting uses several. */
#ifndef CLIENT_PARTS_H
#define CLIENT_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "client/capture/part.h"
#include "trace/model/names.h"

struct parts {
	struct client_capture *capture;
	struct part *v;
	size_t n;
	struct names taken;
	int64_t start_unix_ns; /* the agreed start by our clock; 0: there is only one target */
};

/* 0 or -ENOMEM. Call parts_deinit() in either case. */
int parts_init(struct parts *parts, struct client_capture *capture);
void parts_deinit(struct parts *parts);

/*
 * Opens all parts in the same run (part_open()). Returns an enum exit_code; the part that failed
 * has the reason.
 */
int parts_open(struct parts *parts);

void parts_connect(struct parts *parts);
/*
 * Finds a part with the target of another part, under a different name, and makes
 * it fail. NULL: none.
 */
struct part *parts_find_twin(struct parts *parts);
/* Agrees on the instant of the start, if there are many, and starts the connected parts. */
void parts_start(struct parts *parts);
/*
 * Waits until all parts are over. Returns false if the wait ended earlier because the capture is to
 * be tried again: one target of many refused, and no part has a file yet.
 */
bool parts_wait(struct parts *parts);

/* Finds a part whose failure another try may mend (retry.h); NULL: none. */
struct part *parts_find_refused(const struct parts *parts);

size_t parts_count_done(const struct parts *parts);
/*
 * Returns the code of all parts: EXIT_DONE, EXIT_PARTIAL, the common code of all failures, or
 * EXIT_FAILED.
 */
int parts_get_code(const struct parts *parts);

#endif
