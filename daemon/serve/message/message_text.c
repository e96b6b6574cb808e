/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages as text; see message_text.h. This walks through protobuf-c's descriptors of the message
 * types.
 */
#include "daemon/serve/message/message_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/printable.h"

typedef ProtobufCFieldDescriptor Field;

struct text_writing {
	char *out;
	size_t n;
	size_t at;
};

__attribute__((format(printf, 2, 3))) static void put_text(
	struct text_writing *w, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(w->out + w->at, w->n - w->at, format, ap);
	va_end(ap);
	if (n > 0)
		w->at = w->at + (size_t)n < w->n ? w->at + (size_t)n : w->n - 1;
}

static const char *field_at(const ProtobufCMessage *m, unsigned offset)
{
	return (const char *)m + offset;
}

static size_t size_of(const Field *f)
{
	switch (f->type) {
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
	case PROTOBUF_C_TYPE_DOUBLE:
		return 8;
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_MESSAGE:
		return sizeof(void *);
	case PROTOBUF_C_TYPE_BYTES:
		return sizeof(ProtobufCBinaryData);
	default:
		return 4;
	}
}

static bool is_zero(const Field *f, const char *value)
{
	static const char zero[sizeof(ProtobufCBinaryData)];

	if (f->type == PROTOBUF_C_TYPE_STRING)
		return !*(const char *const *)value || !**(const char *const *)value;
	return memcmp(value, zero, size_of(f)) == 0;
}

/* The number of values; a field with its default value has none. */
static size_t count_values(const ProtobufCMessage *m, const Field *f)
{
	if (f->label == PROTOBUF_C_LABEL_REPEATED)
		return *(const size_t *)field_at(m, f->quantifier_offset);
	if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
		return *(const uint32_t *)field_at(m, f->quantifier_offset) == f->id;
	return !is_zero(f, field_at(m, f->offset));
}

static void write_members(struct text_writing *w, const char *name, const ProtobufCMessage *m);

static void write_value(struct text_writing *w, const Field *f, const char *value)
{
	switch (f->type) {
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
		put_text(w, "%" PRId64, *(const int64_t *)value);
		break;
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
		put_text(w, "%" PRIu64, *(const uint64_t *)value);
		break;
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_FIXED32:
		put_text(w, "%" PRIu32, *(const uint32_t *)value);
		break;
	case PROTOBUF_C_TYPE_DOUBLE:
		put_text(w, "%g", *(const double *)value);
		break;
	case PROTOBUF_C_TYPE_FLOAT:
		put_text(w, "%g", (double)*(const float *)value);
		break;
	case PROTOBUF_C_TYPE_STRING:
		put_text(w, "%s", *(const char *const *)value);
		break;
	case PROTOBUF_C_TYPE_BYTES:
		put_text(w, "%zu bytes", ((const ProtobufCBinaryData *)value)->len);
		break;
	default:
		put_text(w, "%" PRId32, *(const int32_t *)value);
	}
}

/* Returns the key if |m| is an entry of a map (all our maps have text keys), or NULL. */
static const char *find_key(const ProtobufCMessage *m)
{
	const ProtobufCMessageDescriptor *d = m->descriptor;

	if (d->n_fields != 2 || strcmp(d->fields[0].name, "key") != 0 ||
		d->fields[0].type != PROTOBUF_C_TYPE_STRING)
		return NULL;
	return *(const char *const *)field_at(m, d->fields[0].offset);
}

static void write_one(struct text_writing *w, const char *name, const Field *f, const char *value)
{
	const ProtobufCMessage *inner;

	if (f->type == PROTOBUF_C_TYPE_MESSAGE) {
		inner = *(const ProtobufCMessage *const *)value;
		write_members(w, find_key(inner) ? find_key(inner) : name, inner);
		return;
	}
	put_text(w, "%s%s=", w->at ? " " : "", name ? name : f->name);
	write_value(w, f, value);
}

/* |name| replaces the names of the members; NULL: each member's own name is written. */
static void write_members(struct text_writing *w, const char *name, const ProtobufCMessage *m)
{
	const ProtobufCMessageDescriptor *d = m->descriptor;

	for (unsigned i = find_key(m) ? 1 : 0; i < d->n_fields; i++) {
		const Field *f = &d->fields[i];
		size_t n = count_values(m, f);
		const char *value = field_at(m, f->offset);

		if (f->label == PROTOBUF_C_LABEL_REPEATED)
			value = *(const char *const *)value;
		for (size_t k = 0; k < n; k++)
			write_one(w, name, f, value + k * size_of(f));
	}
}

void message_text_write(const ProtobufCMessage *message, char *out, size_t n)
{
	struct text_writing w = {.out = out, .n = n};

	out[0] = '\0';
	write_members(&w, NULL, message);
	printable_clean(out);
}
