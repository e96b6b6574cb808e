/* SPDX-License-Identifier: Apache-2.0 */
/* Samples; see perfetto_samples.h. */
#include "trace/codec/perfetto_samples.h"

#include <errno.h>

#include "trace/codec/perfetto.h"
#include "trace/codec/perfetto_args.h"
#include "trace/codec/perfetto_fields.h"
#include "trace/codec/perfetto_sequence.h"
#include "trace/codec/perfetto_tracks.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"

/* The track of the counter, or a negative errno. */
static int64_t find_counter(struct perfetto_sequence *s, const struct item *item)
{
	int64_t uuid = (int64_t)perfetto_interned_find(&s->counters, item->name);

	if (uuid)
		return uuid;
	uuid = perfetto_put_counter(s->w, s->track, names_get(&s->w->view->names, item->name));
	if (uuid > 0)
		perfetto_interned_set(&s->counters, item->name, (uint64_t)uuid);
	return uuid;
}

static uint8_t *put_value(uint8_t *at, const struct item_arg *value)
{
	double number;

	if (value->type == STAT_INT64 ||
		(value->type == STAT_UINT64 && value->value.u64 <= INT64_MAX))
		return pb_put_uint(at, EVENT_COUNTER_VALUE, value->value.u64);
	item_arg_to_double(value, &number);
	return packet_double(at, EVENT_DOUBLE_COUNTER_VALUE, number);
}

int perfetto_put_sample(struct perfetto_sequence *s, const struct item *item)
{
	int64_t counter = find_counter(s, item);
	struct item rest = *item;
	uint8_t *packet;
	uint8_t *event;
	uint8_t *at;

	if (counter < 0)
		return (int)counter;
	rest.args++;
	rest.n_args--;
	packet = perfetto_reserve(
		s->w, PERFETTO_FEW_BYTES + perfetto_args_measure(rest.args, rest.n_args));
	if (!packet)
		return -ENOMEM;
	packet = packet_open(packet, TRACE_PACKET);
	at = perfetto_sequence_put_head(s, packet, item->start_ns);
	at = perfetto_sequence_put_interned(s, at, &rest);
	event = packet_open(at, PACKET_TRACK_EVENT);
	at = pb_put_uint(event, EVENT_TYPE, TYPE_COUNTER);
	at = pb_put_uint(at, EVENT_TRACK, (uint64_t)counter);
	at = put_value(at, &item->args[0]);
	at = perfetto_args_put(at, rest.args, rest.n_args, &s->keys);
	return perfetto_put(s->w, packet, packet_close(event, at));
}

bool perfetto_is_sample(const struct item *item)
{
	double number;

	return item->n_args && item_arg_to_double(&item->args[0], &number);
}
