/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of records, as the versions of CUPTI lay them out: the length of each kind, and the
 * offsets of its fields, which are the same in all versions. tests/interop has NVIDIA's library
 * parse what is written here.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/fake_inside.h"

/* The last row that fits the version counts for each kind. */
static const struct {
	uint32_t kind;
	uint32_t since;
	size_t bytes;
} strides[] = {
	{1, 0, 88}, /* copy */
	{1, 26, 96},
	{1, 130400, 112},
	{2, 0, 88}, /* set */
	{2, 130400, 104},
	{3, 0, 200}, /* kernel */
	{3, 19, 208},
	{3, 130000, 216},
	{3, 130100, 224},
	{3, 130400, 248},
	{9, 0, 16}, /* context */
	{9, 24, 32},
	{9, 130100, 40},
	{10, 0, 200}, /* kernels side by side */
	{10, 19, 208},
	{10, 130000, 216},
	{10, 130100, 224},
	{10, 130400, 248},
	{12, 0, 56}, /* marker */
	{13, 0, 32}, /* its data */
	{13, 130000, 40},
	{17, 0, 40}, /* overhead */
	{17, 24, 56},
	{22, 0, 96}, /* copy between devices */
	{37, 0, 24}, /* stream */
	{38, 0, 40}, /* wait */
	{38, 26, 56},
	{39, 0, 24}, /* external correlation */
	{49, 0, 120}, /* memory */
	{49, 24, 128},
	{50, 0, 72}, /* pool */
	{50, 130000, 80},
	{51, 0, 48}, /* graph */
	{51, 24, 56},
};

size_t record_stride(uint32_t version, uint32_t kind)
{
	size_t bytes = 0;

	for (size_t i = 0; i < sizeof strides / sizeof strides[0]; i++)
		if (strides[i].kind == kind && version >= strides[i].since)
			bytes = strides[i].bytes;
	return bytes;
}

static void put(uint8_t *at, size_t offset, const void *value, size_t n)
{
	memcpy(at + offset, value, n);
}

static void put8(uint8_t *at, size_t offset, uint8_t value)
{
	put(at, offset, &value, sizeof value);
}

static void put16(uint8_t *at, size_t offset, uint16_t value)
{
	put(at, offset, &value, sizeof value);
}

static void put32(uint8_t *at, size_t offset, uint32_t value)
{
	put(at, offset, &value, sizeof value);
}

static void put64(uint8_t *at, size_t offset, uint64_t value)
{
	put(at, offset, &value, sizeof value);
}

static void put_name(uint8_t *at, size_t offset, const char *name)
{
	put(at, offset, &name, sizeof name);
}

static void put_times(uint8_t *at, size_t offset, const struct fake_record *r)
{
	put64(at, offset, r->start_ns);
	put64(at, offset + 8, r->end_ns);
}

/* Device, context, stream. */
static void put_place(uint8_t *at, size_t offset, const struct fake_record *r)
{
	put32(at, offset, r->device);
	put32(at, offset + 4, r->context);
	put32(at, offset + 8, r->stream);
}

static void write_kernel(const struct fake_record *r, uint8_t *at)
{
	put16(at, 6, r->registers);
	put_times(at, 16, r);
	put_place(at, 40, r);
	put(at, 52, r->grid, sizeof r->grid);
	put(at, 64, r->block, sizeof r->block);
	put32(at, 76, r->static_shared);
	put32(at, 80, r->dynamic_shared);
	put32(at, 92, r->correlation);
	put_name(at, 104, r->name);
	put64(at, 144, r->node);
	put32(at, 156, r->graph);
}

static void write_copy(const struct fake_record *r, uint8_t *at)
{
	put8(at, 4, r->direction);
	put8(at, 5, r->from);
	put8(at, 6, r->to);
	put8(at, 7, r->is_async);
	put64(at, 8, r->bytes);
	put_times(at, 16, r);
	put_place(at, 32, r);
	put32(at, 44, r->correlation);
	put64(at, 64, r->node);
	put32(at, 72, r->graph);
}

static void write_peer_copy(const struct fake_record *r, uint8_t *at)
{
	write_copy(r, at);
	put32(at, 44, r->from_device);
	put32(at, 48, r->context);
	put32(at, 52, r->to_device);
	put32(at, 56, r->context);
	put32(at, 60, r->correlation);
	put64(at, 64, 0);
	put64(at, 72, r->node);
	put32(at, 80, r->graph);
}

static void write_set(const struct fake_record *r, uint8_t *at)
{
	put32(at, 4, r->value);
	put64(at, 8, r->bytes);
	put_times(at, 16, r);
	put_place(at, 32, r);
	put32(at, 44, r->correlation);
	put16(at, 48, r->is_async);
	put16(at, 50, r->to);
	put64(at, 64, r->node);
	put32(at, 72, r->graph);
}

static void write_context(const struct fake_record *r, uint8_t *at)
{
	put32(at, 4, r->context);
	put32(at, 8, r->device);
}

static void write_marker(const struct fake_record *r, uint8_t *at)
{
	put32(at, 4, r->flags);
	put64(at, 8, r->start_ns);
	put32(at, 16, (uint32_t)r->value);
	put_name(at, 40, r->name);
}

static void write_marker_data(const struct fake_record *r, uint8_t *at)
{
	put32(at, 4, r->flags);
	put32(at, 8, r->value);
}

static void write_overhead(const struct fake_record *r, uint8_t *at)
{
	put32(at, 4, r->type);
	put32(at, 8, r->object_kind);
	put_place(at, 12, r);
	put_times(at, 24, r);
}

static void write_stream(const struct fake_record *r, uint8_t *at)
{
	put32(at, 4, r->context);
	put32(at, 8, r->stream);
	put32(at, 12, (uint32_t)r->priority);
	put32(at, 16, r->flags);
}

static void write_wait(const struct fake_record *r, uint8_t *at)
{
	put32(at, 4, r->type);
	put_times(at, 8, r);
	put32(at, 24, r->correlation);
	put32(at, 28, r->context);
	put32(at, 32, r->stream);
	put32(at, 36, r->event);
}

static void write_external(const struct fake_record *r, uint8_t *at)
{
	put32(at, 4, r->type);
	put64(at, 8, r->value);
	put32(at, 16, r->correlation);
}

static void write_memory(const struct fake_record *r, uint8_t *at)
{
	put32(at, 4, r->type);
	put32(at, 8, r->to);
	put32(at, 12, r->correlation);
	put64(at, 16, r->address);
	put64(at, 24, r->bytes);
	put64(at, 32, r->start_ns);
	put_place(at, 52, r);
}

static void write_pool(const struct fake_record *r, uint8_t *at)
{
	put32(at, 4, r->type);
	put32(at, 12, r->correlation);
	put32(at, 20, r->device);
	put64(at, 32, r->address);
	put64(at, 40, r->bytes);
	put64(at, 56, r->start_ns);
}

static void write_graph(const struct fake_record *r, uint8_t *at)
{
	put32(at, 4, r->correlation);
	put_times(at, 8, r);
	put32(at, 24, r->device);
	put32(at, 28, r->graph);
	put32(at, 32, r->context);
	put32(at, 36, r->stream);
}

static const struct {
	void (*write)(const struct fake_record *r, uint8_t *at);
	size_t end_offset; /* for records of device work */
	size_t name_offset;
} kinds[N_KINDS] = {
	[1] = {write_copy, 24, 0},
	[2] = {write_set, 24, 0},
	[3] = {write_kernel, 24, 104},
	[9] = {write_context, 0, 0},
	[10] = {write_kernel, 24, 104},
	[12] = {write_marker, 0, 0},
	[13] = {write_marker_data, 0, 0},
	[17] = {write_overhead, 0, 0},
	[22] = {write_peer_copy, 24, 0},
	[37] = {write_stream, 0, 0},
	[38] = {write_wait, 0, 0},
	[39] = {write_external, 0, 0},
	[49] = {write_memory, 0, 0},
	[50] = {write_pool, 0, 0},
	[51] = {write_graph, 16, 0},
};

struct kept_name {
	struct kept_name *next;
	struct kept_name **at; /* what points to it */
	char text[];
};

static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept_name *names;

/* The copy of a name is valid as long as its record may be read. */
static const char *keep_name(const char *name)
{
	struct kept_name *kept;

	if (!name || !knob(FAKE_POISONS_NAMES))
		return name;
	kept = malloc(sizeof *kept + strlen(name) + 1);
	memcpy(kept->text, name, strlen(name) + 1);
	pthread_mutex_lock(&names_lock);
	kept->next = names;
	kept->at = &names;
	if (names)
		names->at = &kept->next;
	names = kept;
	pthread_mutex_unlock(&names_lock);
	return kept->text;
}

static void drop_name(struct kept_name *kept)
{
	pthread_mutex_lock(&names_lock);
	*kept->at = kept->next;
	if (kept->next)
		kept->next->at = kept->at;
	pthread_mutex_unlock(&names_lock);
	memset(kept->text, '?', strlen(kept->text));
	free(kept);
}

void record_reset(void)
{
	while (names)
		drop_name(names);
}

size_t record_write(uint32_t version, const struct fake_record *r, uint8_t *at)
{
	size_t bytes = record_stride(version, r->kind);
	struct fake_record copy = *r;

	if (!bytes)
		return 0;
	if (kinds[r->kind].name_offset)
		copy.name = keep_name(r->name);
	memset(at, 0, bytes);
	put32(at, 0, r->kind);
	kinds[r->kind].write(&copy, at);
	return bytes;
}

bool record_is_of_device(uint32_t kind)
{
	return kind < N_KINDS && kinds[kind].end_offset != 0;
}

void record_set_end(uint8_t *at, uint64_t end_ns)
{
	uint32_t kind;

	memcpy(&kind, at, sizeof kind);
	put64(at, kinds[kind].end_offset, end_ns);
}

/* Overwrites the name, so that a later read gets nonsense, and fails under a sanitizer. */
static void poison(uint8_t *at, uint32_t kind)
{
	char *name;

	if (!kinds[kind].name_offset)
		return;
	memcpy(&name, at + kinds[kind].name_offset, sizeof name);
	if (!name)
		return;
	drop_name((struct kept_name *)(name - offsetof(struct kept_name, text)));
	put64(at, kinds[kind].name_offset, 0);
}

static void poison_names(uint8_t *buffer, size_t n)
{
	uint32_t version = (uint32_t)knob(FAKE_VERSION);
	uint32_t kind;
	size_t bytes;

	for (size_t at = 0; at < n; at += bytes) {
		memcpy(&kind, buffer + at, sizeof kind);
		bytes = record_stride(version, kind);
		if (!bytes)
			return;
		poison(buffer + at, kind);
	}
}

int record_next(uint8_t *buffer, size_t valid_bytes, void **record)
{
	uint32_t version = (uint32_t)knob(FAKE_VERSION);
	uint8_t *at = *record;
	uint32_t kind;

	if (at) {
		memcpy(&kind, at, sizeof kind);
		at += record_stride(version, kind);
	} else {
		at = buffer;
	}
	if (at >= buffer + valid_bytes) {
		if (knob(FAKE_POISONS_NAMES))
			poison_names(buffer, valid_bytes);
		return MAX_LIMIT_REACHED;
	}
	memcpy(&kind, at, sizeof kind);
	if (!record_stride(version, kind))
		return version > 18 ? INVALID_KIND : UNKNOWN;
	*record = at;
	return OK;
}
