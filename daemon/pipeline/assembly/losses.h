/* SPDX-License-Identifier: Apache-2.0 */
/* What was not recorded, by reason: as stats of the plane and as warnings for people. */
#ifndef DAEMON_LOSSES_H
#define DAEMON_LOSSES_H

#include <stdint.h>

struct drain;
struct plane;
struct space;

/* What was noticed when the capture was assembled. */
struct losses_seen {
	uint64_t n_invalid; /* entries that made no sense */
	uint64_t n_undated; /* that nobody knows when they were written */
	uint64_t n_unmatched_ends; /* of async spans */
	uint64_t n_beginless_ends; /* likewise, whose begins may be missing */
	uint64_t n_endless_begins; /* of async spans, whose ends may be missing */
	uint64_t
		n_unspooled; /* events that the capture's file, or what must stay in memory, had no room for */
	uint64_t n_nameless; /* names and keys that became "(too many names)" */
	uint64_t n_left_out_texts; /* names and texts that became "…" */
	uint64_t max_text_bytes; /* that there was room for */
	uint64_t n_of_devices; /* records, of which more is said elsewhere */
};

/* 0 or -ENOMEM */
int losses_add(const struct drain *drain, const struct losses_seen *seen, struct plane *plane,
	struct space *space);

#endif
