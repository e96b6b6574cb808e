/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of stacks as bytes; see stack_profile.h. */
#include "trace/xspace/stack_profile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "trace/model/idmap.h"
#include "trace/model/stacks.h"
#include "trace/xspace/pbwire.h"

/* The fields of Profile. */
enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
};

/* Texts that the table does not have; they come first in the table of strings. */
enum profile_text {
	TEXT_EMPTY,
	TEXT_SAMPLES,
	TEXT_COUNT,
	N_TEXTS,
};

static const char *const fixed_texts[N_TEXTS] = {
	[TEXT_EMPTY] = "",
	[TEXT_SAMPLES] = "samples",
	[TEXT_COUNT] = "count",
};

/* Room for a field of numbers, and its tag. */
#define NUMBER_BYTES (2 * PB_VARINT_MAX_BYTES)

/* --- encoding ------------------------------------------------------------------------------- */

static void put_message(
	struct chunks *out, enum profile_field field, const void *message, size_t n_bytes)
{
	uint8_t head[NUMBER_BYTES];
	uint8_t *end = pb_put_varint(pb_put_varint(head, PB_TAG(field, PB_LEN)), n_bytes);

	chunks_append(out, head, (size_t)(end - head));
	chunks_append(out, message, n_bytes);
}

static void put_sample_type(struct chunks *out)
{
	uint8_t message[2 * NUMBER_BYTES];
	uint8_t *end = pb_put_uint(message, 1, TEXT_SAMPLES);

	end = pb_put_uint(end, 2, TEXT_COUNT);
	put_message(out, PROFILE_SAMPLE_TYPE, message, (size_t)(end - message));
}

/* The ids of mappings, locations and functions are their indices + 1. */
static void put_sample(struct chunks *out, const struct stacks *s, const struct stack_use *use)
{
	uint8_t message[(STACKS_MAX_DEPTH + 4) * PB_VARINT_MAX_BYTES];
	uint8_t *length = pb_put_varint(message, PB_TAG(1, PB_LEN));
	uint8_t *end = length + 1;
	uint32_t at = use->stack;

	for (int i = 0; at != STACKS_NONE && i < STACKS_MAX_DEPTH; i++, at = s->v[at].callers)
		end = pb_put_varint(end, (uint64_t)s->v[at].frame + 1);
	end = pb_put_length_before(length, end);
	end = pb_put_uint(end, 2, use->n_samples);
	put_message(out, PROFILE_SAMPLE, message, (size_t)(end - message));
}

/* A profile's addresses are offsets in the file. has_functions is set: pprof looks for no names. */
static void put_mapping(struct chunks *out, const struct stacks *s, size_t i)
{
	uint8_t message[5 * NUMBER_BYTES];
	uint8_t *end = pb_put_uint(message, 1, i + 1);

	end = pb_put_uint(end, 3, INT64_MAX);
	end = pb_put_uint(end, 5, (uint64_t)s->mappings[i].path + N_TEXTS);
	end = pb_put_uint(end, 6, (uint64_t)s->mappings[i].build_id + N_TEXTS);
	end = pb_put_uint(end, 7, 1);
	put_message(out, PROFILE_MAPPING, message, (size_t)(end - message));
}

static void put_location(struct chunks *out, const struct stacks *s, size_t i)
{
	const struct stack_frame *f = &s->frames[i];
	uint8_t message[5 * NUMBER_BYTES];
	uint8_t *end = pb_put_uint(message, 1, i + 1);
	uint8_t *length;

	if (f->mapping != STACKS_NONE)
		end = pb_put_uint(end, 2, (uint64_t)f->mapping + 1);
	end = pb_put_uint(end, 3, f->address);
	length = pb_put_varint(end, PB_TAG(4, PB_LEN));
	end = pb_put_length_before(length, pb_put_uint(length + 1, 1, i + 1));
	put_message(out, PROFILE_LOCATION, message, (size_t)(end - message));
}

/* Each frame has a function of its own: two frames in one function share only its texts. */
static void put_function(struct chunks *out, const struct stacks *s, size_t i)
{
	uint8_t message[3 * NUMBER_BYTES];
	uint8_t *end = pb_put_uint(message, 1, i + 1);

	end = pb_put_uint(end, 2, (uint64_t)s->frames[i].function + N_TEXTS);
	end = pb_put_uint(end, 3, (uint64_t)s->frames[i].raw_function + N_TEXTS);
	put_message(out, PROFILE_FUNCTION, message, (size_t)(end - message));
}

static void put_texts(struct chunks *out, const struct stacks *s)
{
	for (int i = 0; i < N_TEXTS; i++)
		put_message(out, PROFILE_STRING_TABLE, fixed_texts[i], strlen(fixed_texts[i]));
	for (uint32_t i = 0; i < s->texts.n_texts; i++)
		put_message(
			out, PROFILE_STRING_TABLE, s->texts.texts[i], strlen(s->texts.texts[i]));
}

void stack_profile_encode(
	const struct stacks *s, const struct stack_use *uses, size_t n, struct chunks *out)
{
	put_sample_type(out);
	for (size_t i = 0; i < n; i++)
		put_sample(out, s, &uses[i]);
	for (size_t i = 0; i < s->n_mappings; i++)
		put_mapping(out, s, i);
	for (size_t i = 0; i < s->n_frames; i++)
		put_location(out, s, i);
	for (size_t i = 0; i < s->n_frames; i++)
		put_function(out, s, i);
	put_texts(out, s);
}

/* --- decoding ------------------------------------------------------------------------------- */

struct profile_bytes {
	const uint8_t *data;
	size_t n_bytes;
};

/* The messages of one field. */
struct profile_list {
	struct profile_bytes *v;
	size_t n;
	size_t n_allocated;
};

/* A function's names: indices into the strings. */
struct profile_function {
	uint64_t name;
	uint64_t raw_name;
};

struct decoding {
	struct stacks *s;
	struct profile_list samples;
	struct profile_list mappings;
	struct profile_list locations;
	struct profile_list functions;
	struct profile_list strings;
	struct idmap mapping_ids; /* to indices of s->mappings */
	struct idmap location_ids; /* to indices of s->frames */
	struct idmap function_ids; /* to indices of |names| */
	struct profile_function *names;
	const char *why;
};

static int decoding_fail(struct decoding *g, const char *why)
{
	g->why = why;
	return -EBADMSG;
}

static void decoding_deinit(struct decoding *g)
{
	free(g->samples.v);
	free(g->mappings.v);
	free(g->locations.v);
	free(g->functions.v);
	free(g->strings.v);
	idmap_deinit(&g->mapping_ids);
	idmap_deinit(&g->location_ids);
	idmap_deinit(&g->function_ids);
	free(g->names);
}

static struct profile_list *choose_list(struct decoding *g, uint32_t tag)
{
	switch (tag) {
	case PB_TAG(PROFILE_SAMPLE, PB_LEN):
		return &g->samples;
	case PB_TAG(PROFILE_MAPPING, PB_LEN):
		return &g->mappings;
	case PB_TAG(PROFILE_LOCATION, PB_LEN):
		return &g->locations;
	case PB_TAG(PROFILE_FUNCTION, PB_LEN):
		return &g->functions;
	case PB_TAG(PROFILE_STRING_TABLE, PB_LEN):
		return &g->strings;
	default:
		return NULL;
	}
}

/* Sorts the messages by field, so that each is read after those that it refers to. */
static int decoding_list(struct decoding *g, const uint8_t *data, size_t n_bytes)
{
	struct pb_reader reader = pb_reader(data, n_bytes);
	struct pb_field f;
	int r;

	while ((r = pb_next(&reader, &f)) > 0) {
		struct profile_list *list = choose_list(g, f.tag);

		if (!list)
			continue;
		if (grow(&list->v, &list->n_allocated, list->n + 1))
			return -ENOMEM;
		list->v[list->n++] = (struct profile_bytes){f.data, f.n_bytes};
	}
	return r ? decoding_fail(g, reader.error) : 0;
}

/* Copies a text of the profile; |why| is the fault if there is none. 0 or a negative errno. */
static int copy_string(struct decoding *g, uint64_t i, const char *why, char **out)
{
	if (i >= g->strings.n)
		return decoding_fail(g, why);
	*out = strndup((const char *)g->strings.v[i].data, g->strings.v[i].n_bytes);
	return *out ? 0 : -ENOMEM;
}

/*
 * Reads the numbers of fields 1 to |n| of a message into |values|; fields that are absent stay 0.
 */
static int read_numbers(
	struct decoding *g, const struct profile_bytes *b, uint64_t *values, uint32_t n)
{
	struct pb_reader reader = pb_reader(b->data, b->n_bytes);
	struct pb_field f;
	int r;

	memset(values, 0, n * sizeof *values);
	while ((r = pb_next(&reader, &f)) > 0) {
		uint32_t number = f.tag >> 3;

		if ((f.tag & 7) == PB_VARINT && number <= n)
			values[number - 1] = f.value;
	}
	return r ? decoding_fail(g, reader.error) : 0;
}

static int decode_mapping(struct decoding *g, const struct profile_bytes *b)
{
	uint64_t values[7];
	int r = read_numbers(g, b, values, 7);
	_cleanup_free_ char *path = NULL;
	_cleanup_free_ char *build_id = NULL;
	uint32_t i;

	if (!r)
		r = copy_string(g, values[4], "a mapping has no text", &path);
	if (!r)
		r = copy_string(g, values[5], "a mapping has no text", &build_id);
	if (r)
		return r;
	i = stacks_add_mapping(g->s, path, build_id);
	return i == STACKS_NONE ? -ENOMEM : idmap_add(&g->mapping_ids, (int64_t)values[0], i);
}

static int decode_function(struct decoding *g, size_t i)
{
	uint64_t values[3];
	int r = read_numbers(g, &g->functions.v[i], values, 3);

	if (r)
		return r;
	g->names[i] = (struct profile_function){values[1], values[2]};
	return idmap_add(&g->function_ids, (int64_t)values[0], (uint32_t)i);
}

/* Finds the function of a location's last line, the one that others were inlined into; or 0. */
static int find_function_id(struct decoding *g, const struct profile_bytes *b, uint64_t *id)
{
	struct pb_reader reader = pb_reader(b->data, b->n_bytes);
	struct pb_field f;
	uint64_t values[1];
	int r;

	*id = 0;
	while ((r = pb_next(&reader, &f)) > 0) {
		if (f.tag != PB_TAG(4, PB_LEN))
			continue;
		r = read_numbers(g, &(struct profile_bytes){f.data, f.n_bytes}, values, 1);
		if (r)
			return r;
		*id = values[0];
	}
	return r ? decoding_fail(g, reader.error) : 0;
}

static int name_frame(struct decoding *g, uint32_t frame, uint64_t function_id)
{
	uint32_t i = idmap_find(&g->function_ids, (int64_t)function_id);
	_cleanup_free_ char *name = NULL;
	_cleanup_free_ char *raw_name = NULL;
	int r;

	if (i == IDMAP_NONE)
		return decoding_fail(g, "a location has no function");
	r = copy_string(g, g->names[i].name, "a function has no name", &name);
	if (!r)
		r = copy_string(g, g->names[i].raw_name, "a function has no name", &raw_name);
	return r ? r : stacks_name(g->s, frame, name, raw_name);
}

static int decode_location(struct decoding *g, const struct profile_bytes *b)
{
	uint64_t values[3];
	uint64_t function_id;
	uint32_t mapping = STACKS_NONE;
	uint32_t frame;
	int r = read_numbers(g, b, values, 3);

	if (!r)
		r = find_function_id(g, b, &function_id);
	if (r)
		return r;
	if (values[1]) {
		mapping = idmap_find(&g->mapping_ids, (int64_t)values[1]);
		if (mapping == IDMAP_NONE)
			return decoding_fail(g, "a location has no mapping");
	}
	frame = stacks_take_frame(g->s, mapping, values[2]);
	if (frame == STACKS_NONE || idmap_add(&g->location_ids, (int64_t)values[0], frame))
		return -ENOMEM;
	return name_frame(g, frame, function_id);
}

/* The locations of a sample, innermost first. */
struct sample_frames {
	uint32_t v[STACKS_MAX_DEPTH];
	size_t n;
};

static int add_sample_frame(struct decoding *g, struct sample_frames *frames, uint64_t id)
{
	uint32_t frame = idmap_find(&g->location_ids, (int64_t)id);

	if (frame == IDMAP_NONE)
		return decoding_fail(g, "a sample has no location");
	if (frames->n == STACKS_MAX_DEPTH)
		return decoding_fail(g, "a stack is too deep");
	frames->v[frames->n++] = frame;
	return 0;
}

static int add_packed_frames(
	struct decoding *g, struct sample_frames *frames, const struct pb_field *f)
{
	struct pb_reader reader = pb_enter(f);
	uint64_t id;
	int r = 0;

	while (r == 0 && reader.p < reader.end) {
		if (pb_get_varint(&reader, &id))
			return decoding_fail(g, reader.error);
		r = add_sample_frame(g, frames, id);
	}
	return r;
}

static int read_sample(
	struct decoding *g, const struct profile_bytes *b, struct sample_frames *frames)
{
	struct pb_reader reader = pb_reader(b->data, b->n_bytes);
	struct pb_field f;
	int r;

	frames->n = 0;
	while ((r = pb_next(&reader, &f)) > 0) {
		int error = 0;

		if (f.tag == PB_TAG(1, PB_LEN))
			error = add_packed_frames(g, frames, &f);
		else if (f.tag == PB_TAG(1, PB_VARINT))
			error = add_sample_frame(g, frames, f.value);
		if (error)
			return error;
	}
	if (r)
		return decoding_fail(g, reader.error);
	return frames->n ? 0 : decoding_fail(g, "a sample has no location");
}

static int decode_sample(struct decoding *g, const struct profile_bytes *b, uint32_t *number)
{
	struct sample_frames frames;
	int r = read_sample(g, b, &frames);

	*number = STACKS_NONE;
	while (r == 0 && frames.n > 0) {
		*number = stacks_take(g->s, *number, frames.v[--frames.n]);
		if (*number == STACKS_NONE)
			r = -ENOMEM;
	}
	return r;
}

static int decode_functions(struct decoding *g)
{
	int r = 0;

	g->names = calloc(g->functions.n + 1, sizeof *g->names);
	if (!g->names)
		return -ENOMEM;
	for (size_t i = 0; i < g->functions.n && r == 0; i++)
		r = decode_function(g, i);
	idmap_sort(&g->function_ids);
	return r;
}

static int decode_frames(struct decoding *g)
{
	int r = decode_functions(g);

	for (size_t i = 0; i < g->mappings.n && r == 0; i++)
		r = decode_mapping(g, &g->mappings.v[i]);
	idmap_sort(&g->mapping_ids);
	for (size_t i = 0; i < g->locations.n && r == 0; i++)
		r = decode_location(g, &g->locations.v[i]);
	idmap_sort(&g->location_ids);
	return r;
}

static int decode_samples(struct decoding *g, uint32_t **numbers_out)
{
	uint32_t *numbers = calloc(g->samples.n + 1, sizeof *numbers);
	int r = numbers ? 0 : -ENOMEM;

	for (size_t i = 0; i < g->samples.n && r == 0; i++)
		r = decode_sample(g, &g->samples.v[i], &numbers[i]);
	if (r) {
		free(numbers);
		return r;
	}
	*numbers_out = numbers;
	return 0;
}

int stack_profile_decode(const uint8_t *data, size_t n_bytes, struct stacks *s,
	uint32_t **numbers_out, size_t *n_out, const char **why)
{
	struct decoding g = {.s = s};
	int r = decoding_list(&g, data, n_bytes);

	if (!r)
		r = decode_frames(&g);
	if (!r)
		r = decode_samples(&g, numbers_out);
	*n_out = g.samples.n;
	*why = g.why;
	decoding_deinit(&g);
	return r;
}
