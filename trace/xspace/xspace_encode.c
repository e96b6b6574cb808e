/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes a space as XSpace bytes. Planes and lines, whose lengths are unknown until their end,
 * have padded varints as lengths; the loop over events is in xspace_events.c.
 *
 * Readers of the format break on some names and numbers. So the stat name `group_id` is altered,
 * and names of counters, which XProf prints without escaping; counter samples that are not finite
 * are left out. (Every text is made valid UTF-8, see xspace_encoder.h.)
 */
#include "trace/xspace/xspace.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/grow.h"
#include "trace/model/space.h"
#include "trace/xspace/pbwire.h"
#include "trace/xspace/xspace_encoder.h"

#define LATE_NS (INT64_MAX / 2000) /* a line that starts after this needs a base: ps are 64 bits */
#define BAD_SAMPLES_STAT "nan_counter_events"

/* --- names and samples that XProf cannot read ---------------------------------------------- */

bool encoder_is_drawable(const struct plane *plane, const struct trace_event *event)
{
	const struct trace_stat *stat = plane_get_stats(plane, event);
	bool has_number = false;

	for (; stat; stat = stat_next(stat)) {
		if (stat->type == STAT_DOUBLE && !isfinite(stat->value.f64))
			return false;
		has_number |= stat->type <= STAT_DOUBLE;
	}
	return has_number;
}

/* True if any event of |line| will be written. */
static bool line_has_output(const struct plane_encoder *e, const struct line *line)
{
	if (line->n_stored || !line_is_counters(line))
		return line_count_events(line) > 0;
	for (size_t i = 0; i < line->n_events; i++) {
		if (encoder_is_drawable(e->plane, &line->events[i]))
			return true;
	}
	return false;
}

/* Sets the rules of the names that the counter sample |event| uses. */
static void set_sample_rules(struct plane_encoder *e, const struct trace_event *event)
{
	const struct plane *plane = e->plane;
	const struct trace_stat *stat = plane_get_stats(plane, event);

	if (!encoder_is_drawable(plane, event)) {
		e->n_bad_samples++;
		return;
	}
	if (!is_safe_counter_name(names_get(&plane->event_names, event->name)))
		e->event_rules[event->name] = NAME_OF_COUNTER;
	for (; stat; stat = stat_next(stat)) {
		if (!is_safe_counter_name(names_get(&plane->stat_names, stat->name)))
			e->stat_rules[stat->name] = NAME_OF_COUNTER;
	}
}

/* Finds out which names may not be written as they are. 0 or -ENOMEM. */
static int encoder_set_rules(struct plane_encoder *e)
{
	const struct plane *plane = e->plane;
	uint32_t reserved = names_find(&plane->stat_names, RESERVED_STAT);

	e->event_rules = calloc((size_t)plane->event_names.n_texts + 1, 1);
	e->stat_rules = calloc((size_t)plane->stat_names.n_texts + 1, 1);
	if (!e->event_rules || !e->stat_rules)
		return -ENOMEM;
	for (size_t i = 0; i < plane->n_lines; i++) {
		const struct line *line = &plane->lines[i];

		for (size_t k = 0; line_is_counters(line) && k < line->n_events; k++)
			set_sample_rules(e, &line->events[k]);
	}
	if (reserved != NAMES_NONE)
		e->stat_rules[reserved] = NAME_RESERVED;
	return 0;
}

/* --- planes and lines ---------------------------------------------------------------------- */

/* A message whose length is filled in at its end. */
struct open_message {
	uint8_t *length; /* NULL when memory ran out */
	uint64_t start_bytes;
};

/* Counts the bytes written so far and those that will stand in the gaps. */
static uint64_t count_bytes(const struct plane_encoder *e)
{
	return e->out->total_bytes + (e->gaps ? e->gaps->n_bytes : 0);
}

static struct open_message open_message(const struct plane_encoder *e, uint32_t number)
{
	uint8_t *p = chunks_reserve(e->out, 1 + PB_PADDED_BYTES);

	if (!p)
		return (struct open_message){NULL, 0};
	*p = (uint8_t)PB_TAG(number, PB_LEN);
	chunks_commit(e->out, 1 + PB_PADDED_BYTES);
	return (struct open_message){p + 1, count_bytes(e)};
}

static void close_message(const struct plane_encoder *e, struct open_message message)
{
	if (message.length)
		pb_put_padded(message.length, count_bytes(e) - message.start_bytes);
}

static void write_text(struct chunks *out, uint32_t number, const char *text)
{
	uint8_t *p = chunks_reserve(out, FIELD_MAX_BYTES + strlen(text));

	if (p)
		chunks_commit(out, (size_t)(put_text(p, number, text, NAME_AS_IS) - p));
}

static void write_uint(struct chunks *out, uint32_t number, uint64_t value)
{
	uint8_t *p = chunks_reserve(out, FIELD_MAX_BYTES);

	if (p)
		chunks_commit(out, (size_t)(pb_put_uint(p, number, value) - p));
}

static void write_plane_stat(const struct plane_encoder *e, const struct trace_stat *stat)
{
	uint8_t *p = chunks_reserve(e->out, stat_max_bytes(e, stat));

	if (p)
		chunks_commit(e->out, (size_t)(put_stat(p, 6, e, stat) - p));
}

/*
 * Leaves a gap for the stored events of |line|; the caller of xspace_encode_around() fills it in.
 */
static void leave_gap(const struct plane_encoder *e, const struct line *line)
{
	struct xspace_gaps *gaps = e->gaps;

	if (!gaps || grow(&gaps->v, &gaps->n_allocated, gaps->n + 1)) {
		e->out->error = gaps ? -ENOMEM : -EINVAL;
		return;
	}
	gaps->v[gaps->n++] = (struct xspace_gap){e->out->total_bytes, line};
	gaps->n_bytes += line->stored_bytes;
}

static void write_line(const struct plane_encoder *e, const struct line *line)
{
	struct open_message message;
	int64_t base_ns = 0;

	if (!line_has_output(e, line))
		return;
	if (!line->n_stored && line->events[0].start_ns > LATE_NS)
		base_ns = line->events[0].start_ns;
	message = open_message(e, 3);
	write_uint(e->out, 1, (uint64_t)line->id);
	write_text(e->out, 2, line->name);
	if (base_ns)
		write_uint(e->out, 3, (uint64_t)base_ns);
	if (line->n_stored)
		leave_gap(e, line);
	else
		encoder_write_events(e, line, base_ns);
	close_message(e, message);
}

/* Writes an entry of event_metadata or stat_metadata: {key = id, value = {id, name}}. */
static void write_metadata(
	struct chunks *out, uint32_t number, uint64_t id, const char *name, enum name_rule rule)
{
	size_t n = named_length(name, rule);
	size_t id_bytes = 1 + pb_varint_size(id);
	size_t value_bytes = id_bytes + 1 + pb_varint_size(n) + n;
	size_t entry_bytes = id_bytes + 1 + pb_varint_size(value_bytes) + value_bytes;
	uint8_t *start = chunks_reserve(out, 4 * FIELD_MAX_BYTES + n);
	uint8_t *p = start;

	if (!p)
		return;
	p = pb_put_varint(p, PB_TAG(number, PB_LEN));
	p = pb_put_varint(p, entry_bytes);
	p = pb_put_uint(p, 1, id);
	p = pb_put_varint(p, PB_TAG(2, PB_LEN));
	p = pb_put_varint(p, value_bytes);
	p = pb_put_uint(p, 1, id);
	p = put_text(p, 2, name, rule);
	chunks_commit(out, (size_t)(p - start));
}

static void write_names(
	struct chunks *out, uint32_t number, const struct names *names, const uint8_t *rules)
{
	for (uint32_t i = 0; i < names->n_texts && !out->error; i++)
		write_metadata(out, number, (uint64_t)i + 1, names->texts[i], rules[i]);
}

/*
 * Writes a plane stat that counts bad samples, and its metadata if the plane does not know the name
 * yet.
 */
static void write_bad_samples(const struct plane_encoder *e)
{
	const struct names *names = &e->plane->stat_names;
	uint32_t name = names_find(names, BAD_SAMPLES_STAT);
	uint64_t id = name == NAMES_NONE ? (uint64_t)names->n_texts + 1 : (uint64_t)name + 1;
	struct open_message message;
	char text[96];

	if (!e->n_bad_samples)
		return;
	snprintf(text, sizeof text, "%llu counter samples were not finite numbers and are left out",
		(unsigned long long)e->n_bad_samples);
	if (name == NAMES_NONE)
		write_metadata(e->out, 5, id, BAD_SAMPLES_STAT, NAME_AS_IS);
	message = open_message(e, 6);
	write_uint(e->out, 1, id);
	write_text(e->out, 5, text);
	close_message(e, message);
}

static void write_plane_fields(const struct plane_encoder *e)
{
	const struct plane *plane = e->plane;

	if (plane->id)
		write_uint(e->out, 1, (uint64_t)plane->id);
	write_text(e->out, 2, plane->name);
	write_names(e->out, 4, &plane->event_names, e->event_rules);
	write_names(e->out, 5, &plane->stat_names, e->stat_rules);
	for (size_t i = 0; i < plane->n_plane_stats; i++)
		write_plane_stat(e, &plane->plane_stats[i]);
	write_bad_samples(e);
	for (size_t i = 0; i < plane->n_lines && !e->out->error; i++)
		write_line(e, &plane->lines[i]);
}

static int write_plane(const struct plane *plane, struct chunks *out, struct xspace_gaps *gaps)
{
	struct plane_encoder e = {.plane = plane, .out = out, .gaps = gaps};
	int r = encoder_set_rules(&e);

	if (r == 0) {
		struct open_message message = open_message(&e, 1);

		write_plane_fields(&e);
		close_message(&e, message);
	}
	free(e.event_rules);
	free(e.stat_rules);
	return r ? r : out->error;
}

static void write_texts(struct chunks *out, uint32_t number, const struct names *texts)
{
	for (uint32_t i = 0; i < texts->n_texts; i++)
		write_text(out, number, texts->texts[i]);
}

int xspace_encode_around(const struct space *space, struct chunks *out, struct xspace_gaps *gaps)
{
	for (size_t i = 0; i < space->n_planes; i++) {
		int r = write_plane(space->planes[i], out, gaps);

		if (r)
			return r;
	}
	for (size_t i = 0; i < space->n_parts; i++)
		chunks_append(out, space->parts[i].data, space->parts[i].n_bytes);
	write_texts(out, 2, &space->errors);
	write_texts(out, 3, &space->warnings);
	write_texts(out, 4, &space->hostnames);
	return out->error;
}

int xspace_encode(const struct space *space, struct chunks *out)
{
	return xspace_encode_around(space, out, NULL);
}

void xspace_gaps_deinit(struct xspace_gaps *gaps)
{
	free(gaps->v);
	*gaps = (struct xspace_gaps){NULL, 0, 0, 0};
}
