/* SPDX-License-Identifier: Apache-2.0 */
/* Names of planes; see graft_plane.h. */
#include "trace/graft_plane.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/names.h"
#include "trace/pbwire.h"

#define PLANE_NAME PB_TAG(2, PB_LEN)
#define PLANE_STAT_METADATA PB_TAG(5, PB_LEN)
#define PLANE_STATS PB_TAG(6, PB_LEN)
#define STAT_ID PB_TAG(1, PB_VARINT)
#define STAT_TEXT PB_TAG(5, PB_LEN)
#define STAT_REF PB_TAG(7, PB_VARINT)

static const char process_name[] = "ptap_process_name";

/* The last field |tag| of |message|, as protobuf has it; all zero when there is none. */
static struct pb_field find_field(const struct pb_field *message, uint32_t tag)
{
	struct pb_reader r = pb_enter(message);
	struct pb_field f = {0};
	struct pb_field found = {0};

	while (pb_next(&r, &f) > 0)
		if (f.tag == tag)
			found = f;
	return found;
}

/* Of a map's entry. */
static struct pb_field find_metadata_name(const struct pb_field *entry)
{
	const struct pb_field value = find_field(entry, PB_TAG(2, PB_LEN));

	return find_field(&value, PB_TAG(2, PB_LEN));
}

static int is_process_name(const struct pb_field *name)
{
	return name->n_bytes == sizeof process_name - 1 &&
	       memcmp(name->data, process_name, name->n_bytes) == 0;
}

/* The entry whose key is |id|, or with 0 that of the process's name; all zero when there is none. */
static struct pb_field find_metadata(const struct pb_field *plane, uint64_t id)
{
	struct pb_reader r = pb_enter(plane);
	struct pb_field f = {0};
	struct pb_field name;

	while (pb_next(&r, &f) > 0) {
		if (f.tag != PLANE_STAT_METADATA)
			continue;
		name = find_metadata_name(&f);
		if (id ? find_field(&f, STAT_ID).value == id : is_process_name(&name))
			return f;
	}
	return (struct pb_field){0};
}

static struct pb_field read_text(const struct pb_field *plane, const struct pb_field *stat)
{
	const struct pb_field ref = find_field(stat, STAT_REF);
	struct pb_field entry;

	if (!ref.value)
		return find_field(stat, STAT_TEXT);
	entry = find_metadata(plane, ref.value);
	return find_metadata_name(&entry);
}

static struct pb_field find_process_name(const struct pb_field *plane)
{
	const struct pb_field entry = find_metadata(plane, 0);
	uint64_t id = find_field(&entry, STAT_ID).value;
	struct pb_reader r = pb_enter(plane);
	struct pb_field f = {0};

	while (id && pb_next(&r, &f) > 0)
		if (f.tag == PLANE_STATS && find_field(&f, STAT_ID).value == id)
			return read_text(plane, &f);
	return (struct pb_field){0};
}

int graft_plane_is_named(const struct pb_field *plane, const struct names *names)
{
	const struct pb_field name = find_field(plane, PLANE_NAME);

	return names_search(names, name.data ? (const char *)name.data : "", name.n_bytes) !=
	       NAMES_NONE;
}

int graft_plane_name(const struct pb_field *plane, int64_t pid, char **out)
{
	const struct pb_field name = find_field(plane, PLANE_NAME);
	struct pb_field process;

	*out = NULL;
	if (name.n_bytes > INT32_MAX)
		return -EBADMSG;
	if (name.n_bytes && name.data[name.n_bytes - 1] == ']') {
		*out = strndup((const char *)name.data, name.n_bytes);
		return *out ? 0 : -ENOMEM;
	}
	process = find_process_name(plane);
	if (process.n_bytes > INT32_MAX)
		return -EBADMSG;
	return asprintf(out, "%.*s%s%.*s [%lld]", (int)name.n_bytes,
		       name.data ? (const char *)name.data : "", process.n_bytes ? " " : "",
		       (int)process.n_bytes, process.data ? (const char *)process.data : "",
		       (long long)pid) < 0
		       ? -ENOMEM
		       : 0;
}
