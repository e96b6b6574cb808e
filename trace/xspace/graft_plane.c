/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and writes the names and process ids of encoded planes. */
#include "trace/xspace/graft.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/model/names.h"
#include "trace/model/space.h"
#include "trace/xspace/pbwire.h"

#define PLANE_NAME PB_TAG(2, PB_LEN)
#define PLANE_STAT_METADATA PB_TAG(5, PB_LEN)
#define PLANE_STATS PB_TAG(6, PB_LEN)
#define STAT_ID PB_TAG(1, PB_VARINT)
#define STAT_TEXT PB_TAG(5, PB_LEN)
#define STAT_REF PB_TAG(7, PB_VARINT)

static const char process_name[] = "ptap_process_name";
static const char process_id[] = "process_id";

/*
 * Finds the last field |tag| of |message|: in protobuf the last one counts. All zero when there is
 * none.
 */
static struct pb_field find_field(const struct pb_field *message, uint32_t tag)
{
	struct pb_reader reader = pb_enter(message);
	struct pb_field f = {0};
	struct pb_field found = {0};

	while (pb_next(&reader, &f) > 0)
		if (f.tag == tag)
			found = f;
	return found;
}

/* Finds the name in an entry of the map of stat metadata. */
static struct pb_field find_metadata_name(const struct pb_field *entry)
{
	const struct pb_field value = find_field(entry, PB_TAG(2, PB_LEN));

	return find_field(&value, PB_TAG(2, PB_LEN));
}

static bool field_is_text(const struct pb_field *field, const char *text)
{
	return field->n_bytes == strlen(text) && memcmp(field->data, text, field->n_bytes) == 0;
}

/*
 * Finds the entry whose key is |id|, or if that is 0 the one named |text|; all zero when there is
 * none.
 */
static struct pb_field find_metadata(const struct pb_field *plane, uint64_t id, const char *text)
{
	struct pb_reader reader = pb_enter(plane);
	struct pb_field f = {0};
	struct pb_field name;

	while (pb_next(&reader, &f) > 0) {
		if (f.tag != PLANE_STAT_METADATA)
			continue;
		name = find_metadata_name(&f);
		if (id ? find_field(&f, STAT_ID).value == id : field_is_text(&name, text))
			return f;
	}
	return (struct pb_field){0};
}

static struct pb_field find_stat_text(const struct pb_field *plane, const struct pb_field *stat)
{
	const struct pb_field ref = find_field(stat, STAT_REF);
	struct pb_field entry;

	if (!ref.value)
		return find_field(stat, STAT_TEXT);
	entry = find_metadata(plane, ref.value, "");
	return find_metadata_name(&entry);
}

static struct pb_field find_process_name(const struct pb_field *plane)
{
	const struct pb_field entry = find_metadata(plane, 0, process_name);
	uint64_t id = find_field(&entry, STAT_ID).value;
	struct pb_reader reader = pb_enter(plane);
	struct pb_field f = {0};

	while (id && pb_next(&reader, &f) > 0)
		if (f.tag == PLANE_STATS && find_field(&f, STAT_ID).value == id)
			return find_stat_text(plane, &f);
	return (struct pb_field){0};
}

/* Returns the key of the stat name |text| in the plane, or 0; *last is the highest key in use. */
static uint64_t find_stat_key(const struct pb_field *plane, const char *text, uint64_t *last)
{
	const struct pb_field entry = find_metadata(plane, 0, text);
	struct pb_reader reader = pb_enter(plane);
	struct pb_field f = {0};

	*last = 0;
	while (pb_next(&reader, &f) > 0) {
		uint64_t id = f.tag == PLANE_STAT_METADATA ? find_field(&f, STAT_ID).value : 0;

		*last = id <= INT64_MAX && id > *last ? id : *last;
	}
	return find_field(&entry, STAT_ID).value;
}

static bool plane_has_stat(const struct pb_field *plane, uint64_t key)
{
	struct pb_reader reader = pb_enter(plane);
	struct pb_field f = {0};

	while (pb_next(&reader, &f) > 0)
		if (f.tag == PLANE_STATS && find_field(&f, STAT_ID).value == key)
			return true;
	return false;
}

/* Writes a field of fewer than 128 bytes. */
static uint8_t *put_short_field(uint8_t *p, uint32_t tag, const uint8_t *bytes, size_t n)
{
	p = pb_put_varint(pb_put_varint(p, tag), n);
	memcpy(p, bytes, n);
	return p + n;
}

/* Writes an entry of the map of stat names. */
static uint8_t *put_stat_name(uint8_t *p, uint64_t key, const char *text)
{
	uint8_t value[32];
	uint8_t entry[48];
	uint8_t *end = pb_put_uint(value, 1, key);
	size_t n;

	n = (size_t)(put_short_field(end, PB_TAG(2, PB_LEN), (const uint8_t *)text, strlen(text)) -
		     value);
	end = put_short_field(pb_put_uint(entry, 1, key), PB_TAG(2, PB_LEN), value, n);
	return put_short_field(p, PLANE_STAT_METADATA, entry, (size_t)(end - entry));
}

/* True for planes that describe the recording and belong to no process. */
static bool plane_describes_recording(const struct pb_field *plane)
{
	const struct pb_field name = find_field(plane, PLANE_NAME);

	return field_is_text(&name, PLANE_ENVIRONMENT) || field_is_text(&name, PLANE_PART);
}

size_t graft_plane_encode_pid(const struct pb_field *plane, int64_t pid, uint8_t *out)
{
	uint64_t last;
	uint64_t key = find_stat_key(plane, process_id, &last);
	uint8_t stat[24];
	uint8_t *end = out;
	size_t n;

	if (plane_describes_recording(plane) || (key && plane_has_stat(plane, key)) ||
		last >= INT64_MAX)
		return 0;
	if (!key) {
		key = last + 1;
		end = put_stat_name(end, key, process_id);
	}
	n = (size_t)(pb_put_uint(pb_put_uint(stat, 1, key), 4, (uint64_t)pid) - stat);
	return (size_t)(put_short_field(end, PLANE_STATS, stat, n) - out);
}

bool graft_plane_is_named(const struct pb_field *plane, const struct names *names)
{
	const struct pb_field name = find_field(plane, PLANE_NAME);

	return names_search(names, name.data ? (const char *)name.data : "", name.n_bytes) !=
	       NAMES_NONE;
}

/* Removes the end that planes with CPU samples or states have from |name|. Returns it, or "". */
static const char *cut_suffix(struct pb_field *name)
{
	static const char *const suffixes[] = {PLANE_SAMPLES_SUFFIX, PLANE_STATES_SUFFIX};

	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		size_t n = strlen(suffixes[i]);

		if (name->n_bytes < n ||
			memcmp(name->data + name->n_bytes - n, suffixes[i], n) != 0)
			continue;
		name->n_bytes -= n;
		return suffixes[i];
	}
	return "";
}

int graft_plane_make_name(const struct pb_field *plane, int64_t pid, char **out)
{
	const struct pb_field whole = find_field(plane, PLANE_NAME);
	struct pb_field name = whole;
	const char *suffix = cut_suffix(&name);
	struct pb_field process;

	*out = NULL;
	if (name.n_bytes > INT32_MAX)
		return -EBADMSG;
	if (name.n_bytes && name.data[name.n_bytes - 1] == ']') {
		*out = strndup((const char *)whole.data, whole.n_bytes);
		return *out ? 0 : -ENOMEM;
	}
	process = find_process_name(plane);
	if (process.n_bytes > INT32_MAX)
		return -EBADMSG;
	return asprintf(out, "%.*s%s%.*s [%lld]%s", (int)name.n_bytes,
		       name.data ? (const char *)name.data : "", process.n_bytes ? " " : "",
		       (int)process.n_bytes, process.data ? (const char *)process.data : "",
		       (long long)pid, suffix) < 0
		       ? -ENOMEM
		       : 0;
}
