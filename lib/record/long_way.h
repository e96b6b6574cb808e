/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotations that the short way (short_way.h) does not take: the first of a thread, in a capture or of a place in the
 * source; those of a signal handler that interrupted one; in another clock than the counter; whatever else is rare. They
 * do everything, from the beginning.
 */
#ifndef RECORD_LONG_WAY_H
#define RECORD_LONG_WAY_H

#include <proftap/proftap.h>

#include "lib/wire/record.h"

struct ring;

struct ptap_impl_token span_begin(struct ptap_impl_site *site, uint32_t word);
struct ptap_impl_token span_begin_args(struct ptap_impl_site *site, uint32_t word,
	const struct ptap_impl_arg *args, unsigned n_args);
void span_end(struct ptap_impl_token token);
/*
 * Writes the record of the span at |depth| and drops everything above, up to |n_open|. Guard held. False as of
 * ring_append().
 */
int span_pop(struct ring *ring, uint32_t word, uint32_t depth, uint32_t n_open);

void point_instant(struct ptap_impl_site *site, uint32_t word);
/* A point with a number. */
void point_number(struct ptap_impl_site *site, uint32_t word, enum record_kind kind,
	enum slot_type type, uint64_t bits);
/* An entry without duration, at the current depth, with |n| slots. Guard held. */
void point_emit(struct ring *ring, uint32_t word, enum record_kind kind, uint32_t id,
	const struct slot *slots, uint32_t n);

#endif
