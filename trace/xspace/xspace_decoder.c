/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ground that the messages of an XSpace are read on, and the smallest of them; see the header.
 */
#include "trace/xspace/xspace_decoder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/grow.h"

int decoder_fail_memory(struct decoder *d)
{
	return diag_set(d->diag, -ENOMEM, "trace: out of memory while reading it");
}

static int fail_bytes(struct decoder *d, const struct pb_reader *r, const char *message)
{
	return diag_set(d->diag, -EBADMSG, "at byte %zu, in %s: %s; is it whole?",
		(size_t)(r->p - d->data), message, r->error);
}

/* Out of a message's loop: |rc| is what pb_next() said last. */
int decoder_finish(struct decoder *d, const struct pb_reader *r, int rc, const char *message)
{
	return rc < 0 ? fail_bytes(d, r, message) : 0;
}

char *decoder_copy_text(const struct pb_field *f)
{
	return f->n_bytes ? strndup((const char *)f->data, f->n_bytes) : strdup("");
}

int decoder_intern(
	struct decoder *d, struct names *names, const struct pb_field *f, uint32_t *index)
{
	*index = names_intern(names, f->n_bytes ? (const char *)f->data : "", f->n_bytes);
	return *index == NAMES_NONE ? decoder_fail_memory(d) : 0;
}

/* The index behind an id; a name is made up for one that has no metadata. */
int decoder_resolve(struct decoder *d, const struct idmap *map, struct names *names, int64_t id,
	uint32_t *index)
{
	char text[32];

	*index = idmap_find(map, id);
	if (*index != IDMAP_NONE)
		return 0;
	if (d->is_brief)
		snprintf(text, sizeof text, "?");
	else
		snprintf(text, sizeof text, "?%lld", (long long)id);
	*index = names_intern(names, text, strlen(text));
	return *index == NAMES_NONE ? decoder_fail_memory(d) : 0;
}

static int set_blob(struct decoder *d, const struct pb_field *f, struct trace_stat *stat)
{
	stat->type = STAT_BYTES;
	stat->value.bytes = NAMES_NONE;
	if (d->is_brief)
		return 0;
	stat->value.bytes = plane_add_blob(d->plane, f->data, f->n_bytes);
	return stat->value.bytes == NAMES_NONE ? decoder_fail_memory(d) : 0;
}

static int set_string(struct decoder *d, const struct pb_field *f, struct trace_stat *stat)
{
	stat->type = STAT_STRING;
	stat->value.string = NAMES_NONE;
	if (d->is_brief)
		return 0;
	return decoder_intern(d, &d->plane->stat_names, f, &stat->value.string);
}

static int set_reference(struct decoder *d, const struct pb_field *f, struct trace_stat *stat)
{
	stat->type = STAT_STRING;
	return decoder_resolve(
		d, &d->stats, &d->plane->stat_names, (int64_t)f->value, &stat->value.string);
}

static int set_value(struct decoder *d, const struct pb_field *f, struct trace_stat *stat)
{
	switch (f->tag) {
	case PB_TAG(2, PB_FIXED64):
		stat->type = STAT_DOUBLE;
		memcpy(&stat->value.f64, &f->value, sizeof stat->value.f64);
		return 0;
	case PB_TAG(3, PB_VARINT):
		stat->type = STAT_UINT64;
		stat->value.u64 = f->value;
		return 0;
	case PB_TAG(4, PB_VARINT):
		stat->type = STAT_INT64;
		stat->value.i64 = (int64_t)f->value;
		return 0;
	case PB_TAG(5, PB_LEN):
		return set_string(d, f, stat);
	case PB_TAG(6, PB_LEN):
		return set_blob(d, f, stat);
	case PB_TAG(7, PB_VARINT):
		return set_reference(d, f, stat);
	}
	return 0;
}

/* stat->type stays 0 when there is no value in it. */
static int decode_stat(struct decoder *d, const struct pb_field *message, struct trace_stat *stat)
{
	struct pb_reader r = pb_enter(message);
	struct pb_field f = {0};
	int64_t id = 0;
	int rc;

	memset(stat, 0, sizeof *stat);
	while ((rc = pb_next(&r, &f)) > 0) {
		if (f.tag == PB_TAG(1, PB_VARINT))
			id = (int64_t)f.value;
		else
			rc = set_value(d, &f, stat);
		if (rc < 0)
			return rc;
	}
	rc = decoder_finish(d, &r, rc, "a stat");
	return rc ? rc : decoder_resolve(d, &d->stats, &d->plane->stat_names, id, &stat->name);
}

int decoder_read_event_stat(struct decoder *d, const struct pb_field *message)
{
	struct trace_stat stat;
	int rc = decode_stat(d, message, &stat);

	if (rc || !stat.type)
		return rc;
	if (grow(&d->list, &d->n_list_allocated, d->n_list + 1))
		return decoder_fail_memory(d);
	d->list[d->n_list++] = stat;
	return 0;
}

int decoder_read_plane_stat(struct decoder *d, const struct pb_field *message)
{
	struct trace_stat stat;
	int rc = decode_stat(d, message, &stat);

	if (rc || !stat.type)
		return rc;
	return plane_add_own_stat(d->plane, &stat) ? decoder_fail_memory(d) : 0;
}
