/* SPDX-License-Identifier: Apache-2.0 */
/* The packets of one track, in the order of time: each tells the difference to the one before, and names by number. */
#ifndef TRACE_CODEC_PERFETTO_SEQUENCE_H
#define TRACE_CODEC_PERFETTO_SEQUENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/codec/perfetto_ends.h"
#include "trace/codec/perfetto_interned.h"
#include "trace/codec/perfetto_rows.h"

struct item;
struct perfetto;
struct view_track;

#define PERFETTO_FEW_BYTES 256 /* a packet without texts */
#define PERFETTO_STEP_IID 1 /* of the category that steps have */

struct perfetto_sequence {
	struct perfetto *w;
	const struct view_track *track;
	uint32_t id;
	uint32_t host;
	bool has_begun;
	uint64_t last_ns; /* of the last packet, on the file's clock */
	uint64_t n_spans; /* that began */
	struct perfetto_interned names;
	struct perfetto_interned keys;
	struct perfetto_interned counters; /* their tracks */
	struct perfetto_rows rows;
	struct perfetto_ends ends;
};

/* Its defaults, and the clock that begins at 0 and goes from packet to packet. 0 or a negative errno. */
int perfetto_sequence_begin(struct perfetto_sequence *s);
/* What every event's packet begins with; returns where it goes on. */
uint8_t *perfetto_sequence_put_head(struct perfetto_sequence *s, uint8_t *at, int64_t view_ns);
/* The names that the item needs and the sequence does not know. A sample has none: its track has it. */
uint8_t *perfetto_sequence_put_interned(
	struct perfetto_sequence *s, uint8_t *at, const struct item *item);

#endif
