/* SPDX-License-Identifier: Apache-2.0 */
/* Encoded events in parts; see xspace_events.h. */
#include "trace/xspace/xspace_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/grow.h"
#include "trace/xspace/xspace_encoder.h"
#include "trace/xspace/xspace_put.h"

void xspace_events_init(struct xspace_events *x, const struct plane *plane)
{
	*x = (struct xspace_events){plane, NULL, 0, 0};
}

void xspace_events_deinit(struct xspace_events *x)
{
	free(x->rules);
	xspace_events_init(x, NULL);
}

/*
 * What the plane's metadata will be is not known yet: a text that would be altered there if some counter's stat had
 * it as its name is treated as if one did.
 */
static enum name_rule find_rule(const char *text)
{
	if (strcmp(text, RESERVED_STAT) == 0)
		return NAME_RESERVED;
	return is_safe_counter_name(text) ? NAME_AS_IS : NAME_OF_COUNTER;
}

static int add_rules(struct xspace_events *x)
{
	const struct names *names = &x->plane->stat_names;

	if (grow(&x->rules, &x->n_allocated, names->n_texts))
		return -ENOMEM;
	for (; x->n_rules < names->n_texts; x->n_rules++)
		x->rules[x->n_rules] = (uint8_t)find_rule(names->texts[x->n_rules]);
	return 0;
}

size_t xspace_events_max_bytes(const struct xspace_events *x, size_t n)
{
	return x->plane ? SIZE_MAX : n * HEAD_MAX_BYTES + BATCH_BYTES;
}

int xspace_events_encode(
	struct xspace_events *x, const struct trace_event *events, size_t n, struct chunks *out)
{
	struct plane_encoder e = {.plane = x->plane, .out = out};

	if (x->plane && add_rules(x))
		return -ENOMEM;
	e.stat_rules = x->rules;
	encoder_write_some(&e, events, n);
	return out->error;
}

/* The start and the duration of an encoded event, in ps. */
struct times {
	int64_t start_ps;
	int64_t duration_ps;
};

static int read_times(const struct pb_field *event, struct times *times)
{
	struct pb_reader r = pb_enter(event);
	struct pb_field field;
	int rc;

	*times = (struct times){0, 0};
	while ((rc = pb_next(&r, &field)) > 0) {
		if (field.tag == PB_TAG(2, PB_VARINT))
			times->start_ps = (int64_t)field.value;
		else if (field.tag == PB_TAG(3, PB_VARINT))
			times->duration_ps = (int64_t)field.value;
		/* The arguments come last. */
		else if (field.tag == PB_TAG(4, PB_LEN))
			return 0;
	}
	return rc;
}

static bool comes_before(const struct times *a, const struct times *b)
{
	if (a->start_ps != b->start_ps)
		return a->start_ps < b->start_ps;
	return a->duration_ps > b->duration_ps;
}

ssize_t xspace_events_find(const uint8_t *data, size_t n_bytes, const struct trace_event *key)
{
	struct times limit = {ns_to_ps(key->start_ns), ns_to_ps(key->duration_ns)};
	struct pb_reader r = pb_reader(data, n_bytes);
	const uint8_t *at = r.p;
	struct pb_field event;
	int rc;

	while ((rc = pb_next(&r, &event)) > 0) {
		struct times times;

		if (event.tag != PB_TAG(4, PB_LEN) || read_times(&event, &times))
			return -EBADMSG;
		if (!comes_before(&times, &limit))
			break;
		at = r.p;
	}
	return rc < 0 ? rc : at - data;
}
