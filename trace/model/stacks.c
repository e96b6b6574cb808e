/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of stacks; see stacks.h. */
#include "trace/model/stacks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

void stacks_deinit(struct stacks *s)
{
	names_deinit(&s->texts);
	free(s->mappings);
	free(s->frames);
	hash_table_deinit(&s->frame_table);
	free(s->v);
	hash_table_deinit(&s->table);
	*s = (struct stacks){.n = 0};
}

static uint32_t add_text(struct stacks *s, const char *text)
{
	return names_intern(&s->texts, text, strlen(text));
}

uint32_t stacks_add_mapping(struct stacks *s, const char *path, const char *build_id)
{
	struct stack_mapping m = {add_text(s, path), add_text(s, build_id)};

	if (m.path == NAMES_NONE || m.build_id == NAMES_NONE || s->n_mappings >= STACKS_NONE ||
		grow(&s->mappings, &s->n_mappings_allocated, s->n_mappings + 1))
		return STACKS_NONE;
	s->mappings[s->n_mappings] = m;
	return (uint32_t)s->n_mappings++;
}

/* Returns the slot of the frame, or an empty one. The table has room. */
static struct hash_slot *find_frame(
	const struct stacks *s, uint32_t hash, uint32_t mapping, uint64_t address)
{
	struct hash_slot *slot = hash_table_first(&s->frame_table, hash);

	for (; slot->number; slot = hash_table_next(&s->frame_table, slot)) {
		const struct stack_frame *f = &s->frames[slot->number - 1];

		if (slot->hash == hash && f->mapping == mapping && f->address == address)
			break;
	}
	return slot;
}

uint32_t stacks_take_frame(struct stacks *s, uint32_t mapping, uint64_t address)
{
	const struct hash_seed *seed = hash_seed();
	uint64_t sum = hash_mix(seed, hash_mix(seed, seed->start, mapping), address);
	uint32_t hash = hash_end(seed, sum);
	uint32_t no_name = add_text(s, "");
	struct hash_slot *slot;

	if (no_name == NAMES_NONE || hash_table_make_room(&s->frame_table) ||
		grow(&s->frames, &s->n_frames_allocated, s->n_frames + 1))
		return STACKS_NONE;
	slot = find_frame(s, hash, mapping, address);
	if (slot->number)
		return slot->number - 1;
	hash_table_add(&s->frame_table, slot, hash);
	s->frames[s->n_frames] = (struct stack_frame){.address = address,
		.mapping = mapping,
		.function = no_name,
		.raw_function = no_name,
		.file = no_name,
		.inlined = STACKS_NONE};
	return (uint32_t)s->n_frames++;
}

static struct hash_slot *find_stack(
	const struct stacks *s, uint32_t hash, uint32_t callers, uint32_t frame)
{
	struct hash_slot *slot = hash_table_first(&s->table, hash);

	for (; slot->number; slot = hash_table_next(&s->table, slot)) {
		const struct stack *one = &s->v[slot->number - 1];

		if (slot->hash == hash && one->callers == callers && one->frame == frame)
			break;
	}
	return slot;
}

uint32_t stacks_take(struct stacks *s, uint32_t callers, uint32_t frame)
{
	uint32_t hash = hash_word(hash_seed(), (uint64_t)callers << 32 | frame);
	struct hash_slot *slot;

	if (hash_table_make_room(&s->table) || grow(&s->v, &s->n_allocated, s->n + 1))
		return STACKS_NONE;
	slot = find_stack(s, hash, callers, frame);
	if (slot->number)
		return slot->number - 1;
	hash_table_add(&s->table, slot, hash);
	s->v[s->n] = (struct stack){callers, frame};
	return (uint32_t)s->n++;
}

int stacks_name(struct stacks *s, uint32_t frame, const char *function, const char *raw_function)
{
	uint32_t name = add_text(s, function);
	uint32_t raw = add_text(s, raw_function);

	if (name == NAMES_NONE || raw == NAMES_NONE)
		return -ENOMEM;
	s->frames[frame].function = name;
	s->frames[frame].raw_function = raw;
	return 0;
}

int stacks_set_place(struct stacks *s, uint32_t frame, const char *file, uint32_t line)
{
	uint32_t text = add_text(s, file);

	if (text == NAMES_NONE)
		return -ENOMEM;
	s->frames[frame].file = text;
	s->frames[frame].line = line;
	return 0;
}

uint32_t stacks_add_inlined(struct stacks *s, uint32_t frame)
{
	uint32_t no_name = add_text(s, "");

	if (no_name == NAMES_NONE || s->n_frames >= STACKS_NONE ||
		grow(&s->frames, &s->n_frames_allocated, s->n_frames + 1))
		return STACKS_NONE;
	s->frames[s->n_frames] = (struct stack_frame){
		.address = s->frames[frame].address,
		.mapping = s->frames[frame].mapping,
		.function = no_name,
		.raw_function = no_name,
		.file = no_name,
		.inlined = STACKS_NONE,
		.is_inlined = true,
	};
	s->frames[frame].inlined = (uint32_t)s->n_frames;
	return (uint32_t)s->n_frames++;
}

/*
 * Appends |frame| and those inlined there to |out|, the innermost first, as far as there is room.
 * Returns the new number of frames.
 */
static size_t list_inlined(
	const struct stacks *s, uint32_t frame, uint32_t out[STACKS_MAX_DEPTH], size_t n)
{
	if (s->frames[frame].inlined != STACKS_NONE)
		n = list_inlined(s, s->frames[frame].inlined, out, n);
	if (n < STACKS_MAX_DEPTH)
		out[n++] = frame;
	return n;
}

uint32_t stacks_take_with_inlined(struct stacks *s, uint32_t stack)
{
	uint32_t frames[STACKS_MAX_DEPTH];
	uint32_t taken = STACKS_NONE;
	size_t n = 0;

	for (; stack != STACKS_NONE && n < STACKS_MAX_DEPTH; stack = s->v[stack].callers)
		n = list_inlined(s, s->v[stack].frame, frames, n);
	while (n > 0) {
		taken = stacks_take(s, taken, frames[--n]);
		if (taken == STACKS_NONE)
			break;
	}
	return taken;
}

uint32_t stacks_get_text(const struct stacks *s, uint32_t stack)
{
	return s->frames[s->v[stack].frame].function;
}

const char *stacks_get_function(const struct stacks *s, uint32_t stack)
{
	return names_get(&s->texts, stacks_get_text(s, stack));
}

size_t stacks_get_path(const struct stacks *s, uint32_t stack, uint32_t path[STACKS_MAX_DEPTH])
{
	size_t n = 0;

	for (uint32_t i = stack; i != STACKS_NONE && n < STACKS_MAX_DEPTH; i = s->v[i].callers)
		n++;
	for (size_t i = n; i > 0; stack = s->v[stack].callers)
		path[--i] = stack;
	return n;
}
