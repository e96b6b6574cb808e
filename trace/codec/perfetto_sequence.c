/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences; see perfetto_sequence.h. */
#include "trace/codec/perfetto_sequence.h"

#include <errno.h>

#include "trace/codec/perfetto.h"
#include "trace/codec/perfetto_args.h"
#include "trace/codec/perfetto_fields.h"
#include "trace/codec/perfetto_tracks.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"

#define STEP "step"

int perfetto_sequence_begin(struct perfetto_sequence *s)
{
	uint8_t *packet = perfetto_reserve(s->w, PERFETTO_FEW_BYTES);
	uint8_t *message;
	uint8_t *inner;
	uint8_t *at;

	if (!packet)
		return -ENOMEM;
	packet = packet_open(packet, TRACE_PACKET);
	at = pb_put_uint(packet, PACKET_SEQUENCE_ID, s->id);
	at = perfetto_put_machine(s->w, at, s->host);
	at = pb_put_uint(at, PACKET_SEQUENCE_FLAGS, SEQUENCE_CLEARED);
	at = pb_put_uint(at, PACKET_FIRST_ON_SEQUENCE, 1);
	message = packet_open(at, PACKET_DEFAULTS);
	inner = packet_open(message, DEFAULTS_TRACK_EVENT);
	at = pb_put_uint(inner, EVENT_DEFAULTS_TRACK, perfetto_track_uuid(s->w->view, s->track));
	at = pb_put_uint(packet_close(inner, at), DEFAULTS_CLOCK_ID, CLOCK_DIFFERENCE_ID);
	at = packet_close(message, at);
	message = packet_open(at, PACKET_CLOCK_SNAPSHOT);
	at = perfetto_put_clock(message, CLOCK_DIFFERENCE_ID, 0, true);
	at = perfetto_put_clock(at, CLOCK_TRACE_ID, 0, false);
	s->has_begun = true;
	return perfetto_put(s->w, packet, packet_close(message, at));
}

uint8_t *perfetto_sequence_put_head(struct perfetto_sequence *s, uint8_t *at, int64_t view_ns)
{
	uint64_t ns = perfetto_time(s->w, view_ns);

	at = pb_put_wide_uint(at, PACKET_TIMESTAMP, ns - s->last_ns);
	at = pb_put_uint(at, PACKET_SEQUENCE_ID, s->id);
	s->last_ns = ns;
	return perfetto_put_machine(s->w, at, s->host);
}

uint8_t *perfetto_sequence_put_interned(
	struct perfetto_sequence *s, uint8_t *at, const struct item *item)
{
	bool is_named = item->kind != ITEM_SAMPLE;
	bool is_new = is_named && !perfetto_interned_find(&s->names, item->name);
	uint8_t *message;

	if (!is_new && !item->n_args)
		return at;
	message = packet_open(at, PACKET_INTERNED_DATA);
	at = message;
	if (is_new) {
		if (s->names.n == 0)
			at = packet_interned(at, INTERNED_CATEGORIES, PERFETTO_STEP_IID, STEP);
		perfetto_interned_set(&s->names, item->name, ++s->names.n);
		at = packet_interned(at, INTERNED_EVENT_NAMES, s->names.n,
			names_get(&s->w->view->names, item->name));
	}
	at = perfetto_args_intern(at, item->args, item->n_args, &s->keys);
	return packet_close(message, at);
}
