/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations of .proto files; see schema.h. Field numbers: google/protobuf/descriptor.proto. A
 * name is field 1 in all messages there.
 */
#include "daemon/serve/message/schema.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "proto/descriptors.h"
#include "trace/xspace/pbwire.h"

#define SET_FILE PB_TAG(1, PB_LEN)
#define NAME PB_TAG(1, PB_LEN)
#define FILE_PACKAGE PB_TAG(2, PB_LEN)
#define FILE_DEPENDENCY PB_TAG(3, PB_LEN)
#define FILE_SERVICE PB_TAG(6, PB_LEN)

enum kind {
	KIND_FILE,
	KIND_MESSAGE,
	KIND_ENUM,
	KIND_SERVICE,
	KIND_LEAF, /* a field, a value, a method */
};

/* The fields of declarations that hold other declarations. */
static const struct {
	enum kind outer;
	uint32_t tag;
	enum kind inner;
} nestings[] = {
	{KIND_FILE, PB_TAG(4, PB_LEN), KIND_MESSAGE},
	{KIND_FILE, PB_TAG(5, PB_LEN), KIND_ENUM},
	{KIND_FILE, FILE_SERVICE, KIND_SERVICE},
	{KIND_MESSAGE, PB_TAG(2, PB_LEN), KIND_LEAF},
	{KIND_MESSAGE, PB_TAG(3, PB_LEN), KIND_MESSAGE},
	{KIND_MESSAGE, PB_TAG(4, PB_LEN), KIND_ENUM},
	{KIND_ENUM, PB_TAG(2, PB_LEN), KIND_LEAF},
	{KIND_SERVICE, PB_TAG(2, PB_LEN), KIND_LEAF},
};

/* Returns the first field |tag|, or an empty field if there is none. */
static struct pb_field find_field(const uint8_t *data, size_t n_bytes, uint32_t tag)
{
	struct pb_reader r = pb_reader(data, n_bytes);
	struct pb_field field;

	while (pb_next(&r, &field) > 0)
		if (field.tag == tag)
			return field;
	return (struct pb_field){0};
}

static bool field_equals(const struct pb_field *field, const char *text)
{
	return field->n_bytes == strlen(text) && memcmp(field->data, text, field->n_bytes) == 0;
}

/* Returns the rest of |symbol| after "NAME.", or NULL if it does not begin with that. */
static const char *strip_name(const char *symbol, const struct pb_field *name)
{
	if (name->n_bytes == 0)
		return symbol;
	if (strncmp(symbol, (const char *)name->data, name->n_bytes) ||
		symbol[name->n_bytes] != '.')
		return NULL;
	return symbol + name->n_bytes + 1;
}

static bool declares_symbol(enum kind kind, const struct pb_field *outer, const char *symbol);

static bool is_declared_by(enum kind kind, const struct pb_field *inner, const char *symbol)
{
	struct pb_field name = find_field(inner->data, inner->n_bytes, NAME);
	const char *rest;

	if (field_equals(&name, symbol))
		return true;
	rest = strip_name(symbol, &name);
	return rest && declares_symbol(kind, inner, rest);
}

static bool declares_symbol(enum kind kind, const struct pb_field *outer, const char *symbol)
{
	struct pb_reader r = pb_enter(outer);
	struct pb_field field;

	while (pb_next(&r, &field) > 0)
		for (size_t i = 0; i < sizeof nestings / sizeof nestings[0]; i++)
			if (nestings[i].outer == kind && nestings[i].tag == field.tag &&
				is_declared_by(nestings[i].inner, &field, symbol))
				return true;
	return false;
}

static bool has_symbol(const struct pb_field *file, const char *symbol)
{
	struct pb_field package = find_field(file->data, file->n_bytes, FILE_PACKAGE);
	const char *rest = strip_name(symbol, &package);

	return rest && declares_symbol(KIND_FILE, file, rest);
}

static bool has_path(const struct pb_field *file, const char *path)
{
	struct pb_field name = find_field(file->data, file->n_bytes, NAME);

	return field_equals(&name, path);
}

static int find_matching_file(bool (*matches)(const struct pb_field *, const char *),
	const char *text, struct schema_file *out)
{
	struct pb_reader r = pb_reader(proto_descriptors, n_proto_descriptors);
	struct pb_field file;

	while (pb_next(&r, &file) > 0)
		if (file.tag == SET_FILE && matches(&file, text)) {
			*out = (struct schema_file){file.data, file.n_bytes};
			return 0;
		}
	return -ENOENT;
}

int schema_find_file(const char *path, struct schema_file *out)
{
	return find_matching_file(has_path, path, out);
}

int schema_find_symbol(const char *symbol, struct schema_file *out)
{
	return find_matching_file(has_symbol, symbol, out);
}

static size_t add_import(struct schema_file *files, size_t n, const struct pb_field *path)
{
	char text[256];
	struct schema_file file;

	snprintf(text, sizeof text, "%.*s", (int)path->n_bytes, (const char *)path->data);
	if (n == SCHEMA_MAX_FILES || schema_find_file(text, &file))
		return n;
	for (size_t i = 0; i < n; i++)
		if (files[i].data == file.data)
			return n;
	files[n] = file;
	return n + 1;
}

size_t schema_list_imports(const struct schema_file *file, struct schema_file *out)
{
	size_t n = 1;

	out[0] = *file;
	for (size_t i = 0; i < n; i++) {
		struct pb_reader r = pb_reader(out[i].data, out[i].n_bytes);
		struct pb_field field;

		while (pb_next(&r, &field) > 0)
			if (field.tag == FILE_DEPENDENCY)
				n = add_import(out, n, &field);
	}
	return n;
}

static void format_service(
	const struct pb_field *file, const struct pb_field *service, char *name, size_t size)
{
	struct pb_field package = find_field(file->data, file->n_bytes, FILE_PACKAGE);
	struct pb_field own = find_field(service->data, service->n_bytes, NAME);

	snprintf(name, size, "%.*s.%.*s", (int)package.n_bytes, (const char *)package.data,
		(int)own.n_bytes, (const char *)own.data);
}

int schema_get_service(size_t i, char *name, size_t size)
{
	struct pb_reader files = pb_reader(proto_descriptors, n_proto_descriptors);
	struct pb_field file;
	struct pb_field field;

	while (pb_next(&files, &file) > 0) {
		struct pb_reader r = pb_enter(&file);

		while (pb_next(&r, &field) > 0) {
			if (field.tag != FILE_SERVICE || i-- > 0)
				continue;
			format_service(&file, &field, name, size);
			return 0;
		}
	}
	return -ENOENT;
}
