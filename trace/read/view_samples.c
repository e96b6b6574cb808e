/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the stacks of all planes with CPU samples into one table of the view. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "trace/model/space.h"
#include "trace/read/archive.h"
#include "trace/read/view.h"
#include "trace/read/view_tracks.h"
#include "trace/xspace/stack_profile.h"

/* Samples whose stacks cannot be read are shown without. */
static int note_broken(
	struct view *v, const struct archive *a, const struct archive_plane *plane, const char *why)
{
	return view_note(
		v, "%s: the stacks of \"%s\" cannot be read: %s", a->path, plane->name, why);
}

static int add_profile(struct view *v, const struct archive *a, const struct archive_plane *plane)
{
	const struct archive_stat *stat = archive_plane_find(plane, PLANE_STACKS);
	struct view_profile profile = {.plane = plane};
	const char *why = NULL;
	int r;

	if (!stat || stat->type != STAT_BYTES || plane->kind != PLANE_OF_SAMPLES)
		return 0;
	if (grow(&v->profiles, &v->n_profiles_allocated, v->n_profiles + 1))
		return -ENOMEM;
	r = stack_profile_decode((const uint8_t *)stat->text, stat->n_bytes, &v->stacks,
		&profile.numbers, &profile.n, &why);
	if (r == -EBADMSG)
		return note_broken(v, a, plane, why);
	if (!r)
		v->profiles[v->n_profiles++] = profile;
	return r;
}

static int add_profiles(struct view *v, const struct archive *a)
{
	int r = 0;

	for (size_t i = 0; i < a->n_planes && !r; i++)
		r = add_profile(v, a, &a->planes[i]);
	for (size_t i = 0; i < a->n_joined && !r; i++)
		r = add_profiles(v, a->joined[i]);
	return r;
}

int view_add_stacks(struct view *v)
{
	int r = 0;

	for (size_t i = 0; i < v->n_archives && !r; i++)
		r = add_profiles(v, v->archives[i]);
	return r;
}

uint32_t view_find_stack(const struct view *v, const struct archive_plane *plane, uint64_t number)
{
	for (size_t i = 0; i < v->n_profiles; i++)
		if (v->profiles[i].plane == plane)
			return number < v->profiles[i].n ? v->profiles[i].numbers[number]
							 : STACKS_NONE;
	return STACKS_NONE;
}

/* Finds the name in the view of samples with the stack. 0 or -ENOMEM. */
static int name_samples(struct view *v, uint32_t stack)
{
	const char *function = stacks_get_function(&v->stacks, stack);
	uint32_t name = names_intern(&v->names, function, strlen(function));

	v->function_names[stacks_get_text(&v->stacks, stack)] = name;
	return name == NAMES_NONE ? -ENOMEM : 0;
}

int view_add_inlined_frames(struct view *v)
{
	v->function_names = calloc((size_t)v->stacks.texts.n_texts + 1, sizeof *v->function_names);
	if (!v->function_names)
		return -ENOMEM;
	for (size_t i = 0; i < v->n_profiles; i++) {
		struct view_profile *p = &v->profiles[i];

		for (size_t k = 0; k < p->n; k++) {
			p->numbers[k] = stacks_take_with_inlined(&v->stacks, p->numbers[k]);
			if (p->numbers[k] == STACKS_NONE || name_samples(v, p->numbers[k]))
				return -ENOMEM;
		}
	}
	return 0;
}
