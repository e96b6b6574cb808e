/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slow path: annotations that the fast path (fast_path.h) does not handle. These are the first
 * of a thread, of a capture, or of a call site; those of a signal handler that interrupted another
 * one; those by another clock than the counter; and other rare cases. The slow path does every step
 * from the beginning.
 */
#ifndef RECORD_SLOW_PATH_H
#define RECORD_SLOW_PATH_H

#include <proftap/proftap.h>
#include <stdbool.h>

#include "lib/record/emit.h"
#include "lib/record/strings.h"
#include "lib/wire/record.h"

struct ring;

/*
 * The string id of a call site: its name is copied at its first recording.
 *
 * The ids belong to one arena. A program that stops its server and starts another gets a new arena
 * with a copy of the old string table (lib/control/arena.c), so that ids stay valid.
 */
static inline uint32_t site_id(struct ptap_impl_site *site)
{
	uint32_t id = __atomic_load_n(&site->id, __ATOMIC_ACQUIRE);

	return unlikely(!id) ? site_register(&site->id, site->name) : id;
}

struct ptap_impl_token span_begin(struct ptap_impl_site *site, uint32_t word);
struct ptap_impl_token span_begin_args(struct ptap_impl_site *site, uint32_t word,
	const struct ptap_impl_arg *args, unsigned n_args);
void span_end(struct ptap_impl_token token);
/*
 * Writes the record of the span at |depth| and drops all spans above it, up to |n_open|. Guard
 * held. Returns as ring_append().
 */
bool span_pop(struct ring *ring, uint32_t word, uint32_t depth, uint32_t n_open);

void point_instant(struct ptap_impl_site *site, uint32_t word);
/* Records a point with a number. */
void point_number(struct ptap_impl_site *site, uint32_t word, enum record_kind kind,
	enum slot_type type, uint64_t bits);
/* Writes an entry without duration, at the current depth, with |n| slots. Guard held. */
void point_emit(struct ring *ring, uint32_t word, enum record_kind kind, uint32_t id,
	const struct slot *slots, uint32_t n);

#endif
