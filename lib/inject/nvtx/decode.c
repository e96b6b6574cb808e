/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes payloads into arguments; see event.h. Nothing beyond the size that the program gave is
 * read.
 */
#define PTAP_IMPL_BUILDING
#include "lib/inject/nvtx/event.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/inject/nvtx/field.h"
#include "lib/inject/nvtx/payload_abi.h"
#include "lib/inject/nvtx/schema.h"
#include "lib/inject/nvtx/vocabulary.h"
#include "lib/inject/nvtx/wide.h"

/* bytes; a text takes at most all slots of an event */
#define MAX_TEXT_BYTES (RECORD_MAX_EXTRA * SLOT_BYTES)

/* Reads a pointer from a payload, at any alignment. */
static const void *get_pointer(const char *at)
{
	const void *pointer;

	memcpy(&pointer, at, sizeof pointer);
	return pointer;
}

/* --- texts --------------------------------------------------------------------------------- */

/* Copies the text of a text field, cut at |size| - 1 bytes. */
static void copy_text(char *to, size_t size, const struct field *f, const char *at, size_t n)
{
	const struct nvtx_string *string;
	const void *pointer;

	to[0] = '\0';
	switch (f->kind) {
	case FIELD_TEXT:
		wide_to_utf8(to, size, at, f->width, n);
		break;
	case FIELD_TEXT_POINTER:
		pointer = get_pointer(at);
		if (pointer)
			wide_to_utf8(to, size, pointer, f->n, SIZE_MAX);
		break;
	default:
		string = get_pointer(at);
		if (string)
			wide_to_utf8(
				to, size, string->name + string->domain->n_prefix, 1, SIZE_MAX);
		break;
	}
}

static void write_text(
	struct nvtx_writer *w, const struct field *f, uint32_t key, const char *at, size_t n)
{
	char text[MAX_TEXT_BYTES + 1];

	copy_text(text, sizeof text, f, at, n);
	writer_text(w, key, text);
}

/* --- lists --------------------------------------------------------------------------------- */

#define LIST_TEXT_BYTES 128

/* Restores the decimal point: the program's locale may have another one, of any length. */
static void restore_point(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (strchr("0123456789+-einfa", *from))
			*to++ = *from;
		else if (to == text || to[-1] != '.')
			*to++ = '.';
	}
	*to = '\0';
}

static void format_element(char *to, size_t size, const struct field *f, const char *at)
{
	uint64_t bits = field_get(f, at);
	double value;

	switch (f->kind) {
	case FIELD_SIGNED:
		snprintf(to, size, "%" PRId64, (int64_t)bits);
		break;
	case FIELD_UNSIGNED:
	case FIELD_ENUM:
		snprintf(to, size, "%" PRIu64, bits);
		break;
	case FIELD_FLOAT:
	case FIELD_HALF:
	case FIELD_BRAIN:
		memcpy(&value, &bits, sizeof value);
		snprintf(to, size, "%.6g", value);
		restore_point(to);
		break;
	default:
		snprintf(to, size, "0x%" PRIx64, bits);
		break;
	}
}

/*
 * Writes the |n| elements at |at|, of a field of numbers, as "[1, 2, 3]". A longer text ends in
 * "...]".
 */
static void format_list(char to[LIST_TEXT_BYTES], const struct field *f, const char *at, size_t n)
{
	static const char cut[] = "...]";
	size_t length = 1;

	to[0] = '[';
	for (size_t i = 0; i < n; i++) {
		char one[32];
		size_t n_one;

		format_element(one, sizeof one, f, at + i * f->width);
		n_one = strlen(one);
		if (length + n_one + sizeof ", ...]" > LIST_TEXT_BYTES) {
			memcpy(to + length, cut, sizeof cut);
			return;
		}
		memcpy(to + length, one, n_one);
		length += n_one;
		if (i + 1 < n) {
			memcpy(to + length, ", ", 2);
			length += 2;
		}
	}
	memcpy(to + length, "]", 2);
}

/* --- fields -------------------------------------------------------------------------------- */

static void write_enum(struct nvtx_writer *w, const struct field *f, uint32_t key, const char *at)
{
	uint64_t value = field_get(f, at);
	const char *name = nvtx_enumeration_get(f->values, value);

	if (name)
		writer_text(w, key, name);
	else
		writer_number(w, key, SLOT_U64, value);
}

static void write_element(
	struct nvtx_writer *w, const struct field *f, uint32_t key, const char *at)
{
	switch (f->kind) {
	case FIELD_SIGNED:
		writer_number(w, key, SLOT_I64, field_get(f, at));
		break;
	case FIELD_UNSIGNED:
		writer_number(w, key, SLOT_U64, field_get(f, at));
		break;
	case FIELD_ADDRESS:
		writer_number(w, key, SLOT_POINTER, field_get(f, at));
		break;
	case FIELD_ENUM:
		write_enum(w, f, key, at);
		break;
	default:
		writer_number(w, key, SLOT_F64, field_get(f, at));
		break;
	}
}

static void write_list(
	struct nvtx_writer *w, const struct field *f, uint32_t key, const char *at, size_t n)
{
	char text[LIST_TEXT_BYTES];

	format_list(text, f, at, n);
	writer_text(w, key, text);
}

static void write_elements(
	struct nvtx_writer *w, const struct field *f, uint32_t key, const char *at, size_t n)
{
	switch (f->kind) {
	case FIELD_TEXT:
	case FIELD_TEXT_POINTER:
	case FIELD_REGISTERED:
		write_text(w, f, key, at, n);
		break;
	case FIELD_BYTES:
		writer_number(w, key, SLOT_U64, n * f->width);
		break;
	default:
		if (f->extent == FIELD_ONE)
			write_element(w, f, key, at);
		else
			write_list(w, f, key, at, n);
		break;
	}
}

/* |kept| holds the id of the field's name. */
static void write_field(struct nvtx_writer *w, const struct field *f, uint32_t *kept,
	const struct field_source *source)
{
	const char *at;
	size_t n;

	if (f->is_hidden)
		return;
	if (field_find(f, source, &at, &n))
		write_elements(w, f, writer_key(kept, f->name), at, n);
	else
		count_loss(w->ring, LOSS_CUT);
}

/* --- payloads ------------------------------------------------------------------------------ */

static void write_payload_size(struct nvtx_writer *w, const struct nvtx_payload *payload)
{
	static uint32_t key;

	if (payload->size != SIZE_MAX)
		writer_number(w, writer_key(&key, "payload_bytes"), SLOT_U64, payload->size);
}

/* Writes a payload of a plain type, without a schema: as many elements as its bytes hold. */
static void write_plain_payload(struct nvtx_writer *w, const struct nvtx_payload *payload)
{
	static uint32_t key;
	struct field_source source = {.bytes = payload->bytes, .n = payload->size};
	struct field f = {.name = "payload"};

	if (!field_from_type(&f, payload->schema) || f.kind == FIELD_BYTES ||
		(payload->size == SIZE_MAX && f.kind != FIELD_TEXT)) {
		write_payload_size(w, payload);
		return;
	}
	if (f.kind == FIELD_TEXT || payload->size / f.width > 1)
		f.extent = FIELD_TO_END;
	write_field(w, &f, &key, &source);
}

static void write_fields(
	struct nvtx_writer *w, struct nvtx_schema *schema, const struct nvtx_payload *payload)
{
	struct field_source source = {payload->bytes, payload->size, schema};

	if (payload->size == SIZE_MAX)
		source.n = schema->size;
	for (uint32_t i = 0; i < schema->n_fields; i++)
		write_field(w, &schema->fields[i], &schema->fields[i].key, &source);
}

void decode_payload(
	struct nvtx_writer *w, const struct nvtx_domain *domain, const struct nvtx_payload *payload)
{
	struct nvtx_schema *schema;

	if (!payload->size || !payload->bytes || payload->schema == NVTX_SCHEMA_REFERENCED)
		return;
	if (payload->schema < NVTX_SCHEMA_FIRST) {
		write_plain_payload(w, payload);
		return;
	}
	schema = nvtx_schema_find(domain, payload->schema);
	if (schema && schema->n_fields)
		write_fields(w, schema, payload);
	else
		write_payload_size(w, payload);
}

/* --- the event's name ---------------------------------------------------------------------- */

static void set_message_from_field(
	struct nvtx_event *e, const struct field *f, const struct field_source *source)
{
	const char *at;
	size_t n;

	if (!field_find(f, source, &at, &n))
		return;
	if (f->kind == FIELD_REGISTERED) {
		e->string = (struct nvtx_string *)(uintptr_t)get_pointer(at);
	} else if (f->kind == FIELD_TEXT || f->kind == FIELD_TEXT_POINTER) {
		copy_text(e->narrow, sizeof e->narrow, f, at, n);
		e->text = e->narrow;
		e->string = NULL;
	}
}

void decode_message(struct nvtx_event *e)
{
	if (e->n_payloads > DECODE_MAX_PAYLOADS)
		e->n_payloads = DECODE_MAX_PAYLOADS;
	for (size_t i = 0; i < e->n_payloads; i++) {
		const struct nvtx_payload *payload = &e->payloads[i];
		struct nvtx_schema *schema = payload->schema >= NVTX_SCHEMA_FIRST
						     ? nvtx_schema_find(e->domain, payload->schema)
						     : NULL;
		struct field_source source = {payload->bytes, payload->size, schema};

		if (schema && schema->message && payload->bytes && payload->size != SIZE_MAX)
			set_message_from_field(e, &schema->fields[schema->message - 1], &source);
	}
}
