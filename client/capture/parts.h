/* SPDX-License-Identifier: Apache-2.0 */
/* All the parts of a capture, driven together by one thread; only connecting is done by several. */
#ifndef CLIENT_PARTS_H
#define CLIENT_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "client/capture/part.h"
#include "trace/model/names.h"

struct parts {
	struct capture *capture;
	struct part *v;
	size_t n;
	struct names taken;
	int64_t start_unix_ns; /* agreed, by our clock; 0: the only target's own affair */
};

int parts_init(
	struct parts *parts, struct capture *capture); /* 0 or -ENOMEM; deinit in both cases */
void parts_deinit(struct parts *parts);

/* All in one run. An enum exit_code; the one that failed has the reason. */
int parts_open(struct parts *parts);

void parts_connect(struct parts *parts);
/* One whose target is that of another, too, under another name: it has failed and says so. NULL: none. */
struct part *parts_find_twin(struct parts *parts);
/* Agrees on the instant, if there are many, and starts those that are connected. */
void parts_start(struct parts *parts);
/*
 * Until all are over. Returns false when it stopped before, because the capture is to be tried again: one of many was
 * refused, and none has a file yet.
 */
bool parts_wait(struct parts *parts);

/* One that failed in a way that another try may mend (retry.h); NULL: none. */
struct part *parts_find_refused(const struct parts *parts);

size_t parts_count_done(const struct parts *parts);
/* Of all together: EXIT_DONE, EXIT_PARTIAL, what all failures have in common, or EXIT_FAILED. */
int parts_get_code(const struct parts *parts);

#endif
