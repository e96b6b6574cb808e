/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of an XSpace and their events; see xspace_decode.c. */
#include "trace/xspace/xspace_decoder.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "trace/saturate.h"

/* --- events -------------------------------------------------------------------------------- */

/* The fields of an XEvent as they are on the wire. */
struct wire_event {
	int64_t id;
	int64_t offset_ps;
	int64_t duration_ps;
	bool has_duration; /* the field is there, though it may be 0 */
	bool is_aggregated;
};

/* To the nearest; the two ends of a span are rounded alike, so that nesting stays proper. */
static int64_t ps_to_ns(int64_t ps)
{
	int64_t ns = ps / 1000;
	int64_t rest = ps % 1000;

	return ns + (rest >= 500) - (rest < -500);
}

static void set_times(struct trace_event *event, const struct wire_event *wire, int64_t base_ns)
{
	int64_t duration_ps = wire->duration_ps > 0 ? wire->duration_ps : 0;
	int64_t start_ns = ps_to_ns(wire->offset_ps);
	int64_t end_ns = ps_to_ns(add_saturated(wire->offset_ps, duration_ps));

	event->start_ns = add_saturated(base_ns, start_ns);
	event->duration_ns = end_ns - start_ns;
	event->is_span = wire->has_duration;
}

static int decode_event_field(struct decoder *d, const struct pb_field *f, struct wire_event *wire)
{
	switch (f->tag) {
	case PB_TAG(1, PB_VARINT):
		wire->id = (int64_t)f->value;
		return 0;
	case PB_TAG(2, PB_VARINT):
		wire->offset_ps = (int64_t)f->value;
		wire->is_aggregated = false;
		return 0;
	case PB_TAG(3, PB_VARINT):
		wire->duration_ps = (int64_t)f->value;
		wire->has_duration = true;
		return 0;
	case PB_TAG(4, PB_LEN):
		return decoder_read_event_stat(d, f);
	case PB_TAG(5, PB_VARINT):
		wire->is_aggregated = true;
		return 0;
	}
	return 0;
}

static int add_event(
	struct decoder *d, struct line *line, const struct wire_event *wire, int64_t base_ns)
{
	struct trace_event event = {0};
	int rc = decoder_resolve(d, &d->events, &d->plane->event_names, wire->id, &event.name);

	if (rc)
		return rc;
	set_times(&event, wire, base_ns);
	event.stats = plane_add_stats(d->plane, d->list, d->n_list);
	if (d->n_list && !event.stats)
		return decoder_fail_memory(d);
	return line_add_event(line, &event) ? decoder_fail_memory(d) : 0;
}

static int decode_event(
	struct decoder *d, const struct pb_field *message, struct line *line, int64_t base_ns)
{
	struct pb_reader r = pb_enter(message);
	struct wire_event wire = {0};
	struct pb_field f = {0};
	int rc;

	d->n_list = 0;
	while ((rc = pb_next(&r, &f)) > 0) {
		rc = decode_event_field(d, &f, &wire);
		if (rc < 0)
			return rc;
	}
	rc = decoder_finish(d, &r, rc, "an event");
	if (rc)
		return rc;
	if (wire.is_aggregated) {
		d->n_aggregated++;
		return 0;
	}
	return add_event(d, line, &wire, base_ns);
}

/* --- lines --------------------------------------------------------------------------------- */

struct line_header {
	int64_t id;
	int64_t timestamp_ns;
	size_t n_events;
	struct pb_field name; /* data is NULL where there is none */
	struct pb_field display_name;
};

/* All events of a line are looked at twice. */
static int pass(const struct decoder *d, const uint8_t *p)
{
	return d->sink ? d->sink->pass(p, d->sink->context) : 0;
}

static void read_header_field(struct line_header *h, const struct pb_field *f)
{
	if (f->tag == PB_TAG(1, PB_VARINT))
		h->id = (int64_t)f->value;
	else if (f->tag == PB_TAG(2, PB_LEN))
		h->name = *f;
	else if (f->tag == PB_TAG(3, PB_VARINT))
		h->timestamp_ns = (int64_t)f->value;
	else if (f->tag == PB_TAG(4, PB_LEN))
		h->n_events++;
	else if (f->tag == PB_TAG(11, PB_LEN))
		h->display_name = *f;
}

static int decode_line_header(
	struct decoder *d, const struct pb_field *message, struct line_header *h)
{
	struct pb_reader r = pb_enter(message);
	struct pb_field f = {0};
	int rc;

	while ((rc = pb_next(&r, &f)) > 0) {
		read_header_field(h, &f);
		rc = pass(d, r.p);
		if (rc < 0)
			return rc;
	}
	return decoder_finish(d, &r, rc, "a line");
}

static char *copy_name(const struct line_header *h)
{
	return decoder_copy_text(h->name.n_bytes ? &h->name : &h->display_name);
}

static struct line *new_line(struct decoder *d, const struct line_header *h)
{
	_cleanup_free_ char *name = copy_name(h);

	return name ? plane_add_line(d->plane, h->id, name, h->n_events) : NULL;
}

/* The bytes were read before, for the header. */
static int read_events(struct decoder *d, const struct pb_field *message,
	const struct line_header *h, struct line *line,
	int (*after)(struct decoder *, struct line *))
{
	struct pb_reader r = pb_enter(message);
	struct pb_field f = {0};
	int rc;

	while ((rc = pb_next(&r, &f)) > 0) {
		if (f.tag != PB_TAG(4, PB_LEN))
			continue;
		rc = decode_event(d, &f, line, h->timestamp_ns);
		if (rc == 0)
			rc = pass(d, r.p);
		if (rc == 0)
			rc = after(d, line);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int keep(struct decoder *d, struct line *line)
{
	(void)d, (void)line;
	return 0;
}

static int read_line(struct decoder *d, const struct pb_field *message, const struct line_header *h)
{
	struct line *line = new_line(d, h);
	int rc;

	if (!line)
		return decoder_fail_memory(d);
	rc = read_events(d, message, h, line, keep);
	if (rc == 0)
		line_sort(line);
	return rc;
}

/* --- lines for a sink ---------------------------------------------------------------------- */

#define SINK_EVENTS 1024

static int hand_over(struct decoder *d, struct line *line, bool is_last)
{
	int rc = d->sink->take(d->plane, line, is_last, d->sink->context);

	line->n_events = 0;
	d->plane->n_stats = 0;
	return rc;
}

static int hand_over_full(struct decoder *d, struct line *line)
{
	return line->n_events < SINK_EVENTS ? 0 : hand_over(d, line, false);
}

static int pour_line(struct decoder *d, const struct pb_field *message, const struct line_header *h)
{
	struct line line = {.id = h->id, .name = copy_name(h)};
	int rc;

	if (!line.name)
		return decoder_fail_memory(d);
	d->is_brief = true;
	rc = read_events(d, message, h, &line, hand_over_full);
	d->is_brief = false;
	if (rc == 0)
		rc = hand_over(d, &line, true);
	free(line.name);
	free(line.events);
	return rc;
}

int decoder_read_line(struct decoder *d, const struct pb_field *message)
{
	struct line_header h = {0};
	int rc = decode_line_header(d, message, &h);

	if (rc)
		return rc;
	return d->sink ? pour_line(d, message, &h) : read_line(d, message, &h);
}
