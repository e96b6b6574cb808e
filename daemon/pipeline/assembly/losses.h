/* SPDX-License-Identifier: Apache-2.0 */
/* Adds the losses of a recording, by reason, as stats of the plane and as warnings for people. */
#ifndef DAEMON_LOSSES_H
#define DAEMON_LOSSES_H

#include <stdint.h>

struct drain;
struct plane;
struct space;

/* Losses that were noticed when the capture was assembled. */
struct losses_seen {
	uint64_t n_invalid; /* invalid entries */
	uint64_t n_undated; /* entries of unknown time */
	uint64_t n_unmatched_ends; /* ends of async spans that surely had no begin */
	uint64_t n_beginless_ends; /* ends of async spans whose begins may have been lost */
	uint64_t n_endless_begins; /* begins of async spans whose ends may have been lost */
	uint64_t n_unspooled; /* events for which the capture's file or memory had no room */
	uint64_t n_nameless; /* names and keys that became "(too many names)" */
	uint64_t n_left_out_texts; /* names and texts that became "…" */
	uint64_t max_text_bytes; /* bytes reserved for texts */
	uint64_t n_of_devices; /* records of devices; device_losses.h has the details */
};

/* 0 or -ENOMEM */
int losses_add(const struct drain *drain, const struct losses_seen *seen, struct plane *plane,
	struct space *space);

#endif
