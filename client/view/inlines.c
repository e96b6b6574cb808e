/* SPDX-License-Identifier: Apache-2.0 */
/* Adds inlined functions; see inlines.h. */
#include "client/view/inlines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/view/debug_file.h"
#include "trace/model/demangle.h"
#include "trace/model/stacks.h"
#include "trace/read/view.h"

#define MAX_TOLD 4 /* files that a note names */

/* Why nothing is known of a file's frames. */
enum ignorance {
	IGNORANCE_NO_BUILD_ID,
	IGNORANCE_MISSING,
	IGNORANCE_OTHER,
	IGNORANCE_EMPTY,
	IGNORANCES
};

static const char *const reasons[IGNORANCES] = {
	[IGNORANCE_NO_BUILD_ID] = "the trace has no build-id, so it is not known which file ran",
	[IGNORANCE_MISSING] = "no such file on this machine, and no debug file in " DEBUG_DIR,
	[IGNORANCE_OTHER] =
		"another build-id than the code that ran, and no debug file in " DEBUG_DIR,
	[IGNORANCE_EMPTY] = "no debug information, and no debug file in " DEBUG_DIR,
};

/* The paths of files of which nothing is known. */
struct ignored_files {
	size_t n;
	const char *told[MAX_TOLD]; /* borrowed from the view */
};

struct inlining {
	struct view *view;
	size_t n_frames; /* frames of the trace; those behind them were added */
	struct ignored_files ignored[IGNORANCES];
};

/* --- frames -------------------------------------------------------------------------------- */

static int name_frame(struct stacks *s, uint32_t frame, const char *raw)
{
	_cleanup_free_ char *name = malloc(DEMANGLE_MAX_BYTES);

	if (!name)
		return -ENOMEM;
	return stacks_name(s, frame,
		raw && demangle(raw, name) ? name
		: raw			   ? raw
					   : "",
		raw ? raw : "");
}

/* True if the trace has a place such as "libm.so.6+0x1234" for the name of the function. */
static bool is_unnamed(const char *raw_function)
{
	return strstr(raw_function, "+0x") != NULL;
}

/* True if the function is that of the trace, which may be a part of it, "decode.cold". */
static bool is_expected(const char *found, const char *in_trace)
{
	size_t n = found ? strlen(found) : 0;

	return n && strncmp(in_trace, found, n) == 0 && (!in_trace[n] || in_trace[n] == '.');
}

/* Adds the functions at the frame, the innermost first. 0 or -ENOMEM. */
static int add_places(struct stacks *s, uint32_t frame, const struct debug_place *places, int n)
{
	const char *raw = names_get(&s->texts, s->frames[frame].raw_function);

	if (is_unnamed(raw) && places[n - 1].raw_function &&
		name_frame(s, frame, places[n - 1].raw_function))
		return -ENOMEM;
	while (n-- > 0) {
		const struct debug_place *place = &places[n];

		if (place->file && stacks_set_place(s, frame, place->file, place->line))
			return -ENOMEM;
		if (!n)
			break;
		frame = stacks_add_inlined(s, frame);
		if (frame == STACKS_NONE || name_frame(s, frame, places[n - 1].raw_function))
			return -ENOMEM;
	}
	return 0;
}

static int inline_frame(struct inlining *g, struct debug_file *f, uint32_t frame)
{
	struct stacks *s = &g->view->stacks;
	struct debug_place places[STACKS_MAX_INLINED];
	int n = debug_file_find(f, s->frames[frame].address, places);

	if (n > 0 && debug_file_is_alone(f) &&
		!is_expected(places[n - 1].raw_function,
			names_get(&s->texts, s->frames[frame].raw_function)))
		return 0;
	return n > 0 ? add_places(s, frame, places, n) : n;
}

/* --- files --------------------------------------------------------------------------------- */

static void ignore(struct inlining *g, enum ignorance why, const char *path)
{
	struct ignored_files *files = &g->ignored[why];

	if (files->n < MAX_TOLD)
		files->told[files->n] = path;
	files->n++;
}

/* Each process has mappings of its own. Equal texts have the same index. */
static bool is_same_file(const struct stack_mapping *a, const struct stack_mapping *b)
{
	return a->path == b->path && a->build_id == b->build_id;
}

static bool is_first_of_file(const struct stacks *s, uint32_t mapping)
{
	for (uint32_t i = 0; i < mapping; i++)
		if (is_same_file(&s->mappings[i], &s->mappings[mapping]))
			return false;
	return true;
}

/* Reads the frames of all mappings of the file. */
static int inline_frames(struct inlining *g, uint32_t mapping, struct debug_file *f)
{
	const struct stacks *s = &g->view->stacks;
	int r = 0;

	for (size_t i = 0; i < g->n_frames && !r; i++)
		if (s->frames[i].mapping != STACKS_NONE &&
			is_same_file(&s->mappings[s->frames[i].mapping], &s->mappings[mapping]))
			r = inline_frame(g, f, (uint32_t)i);
	return r;
}

static int inline_mapping(struct inlining *g, uint32_t mapping)
{
	static const enum ignorance ignorances[] = {
		[DEBUG_FILE_MISSING] = IGNORANCE_MISSING,
		[DEBUG_FILE_OTHER] = IGNORANCE_OTHER,
		[DEBUG_FILE_EMPTY] = IGNORANCE_EMPTY,
	};
	const struct stacks *s = &g->view->stacks;
	const char *path = names_get(&s->texts, s->mappings[mapping].path);
	const char *build_id = names_get(&s->texts, s->mappings[mapping].build_id);
	struct debug_file *f;
	int r;

	/* Code of a JIT compiler, or of the kernel, has no file. */
	if (path[0] != '/' || !is_first_of_file(s, mapping))
		return 0;
	if (!build_id[0]) {
		ignore(g, IGNORANCE_NO_BUILD_ID, path);
		return 0;
	}
	r = debug_file_open(path, build_id, &f);
	if (r > 0)
		ignore(g, ignorances[r], path);
	if (r)
		return r < 0 ? r : 0;
	r = inline_frames(g, mapping, f);
	debug_file_close(f);
	return r;
}

/* --- notes --------------------------------------------------------------------------------- */

/* Adds a note such as "no inlined functions of a, b and 3 other files: REASON". 0 or -ENOMEM. */
static int note_ignored(struct inlining *g, enum ignorance why)
{
	const struct ignored_files *files = &g->ignored[why];
	_cleanup_free_ char *list = NULL;
	size_t n_bytes;
	FILE *out = files->n ? open_memstream(&list, &n_bytes) : NULL;

	if (!files->n)
		return 0;
	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < files->n && i < MAX_TOLD; i++)
		fprintf(out, "%s%s", i ? ", " : "", files->told[i]);
	if (files->n > MAX_TOLD)
		fprintf(out, " and %zu other file%s", files->n - MAX_TOLD,
			files->n - MAX_TOLD == 1 ? "" : "s");
	if (fclose(out))
		return -ENOMEM;
	return view_note(g->view, "no inlined functions of %s: %s", list, reasons[why]);
}

int inlines_add(struct view *view, struct diag *d)
{
	struct inlining g = {.view = view, .n_frames = view->stacks.n_frames};
	int r = debug_library_open(d);

	if (r)
		return r;
	for (size_t i = 0; i < view->stacks.n_mappings && !r; i++)
		r = inline_mapping(&g, (uint32_t)i);
	for (int i = 0; i < IGNORANCES && !r; i++)
		r = note_ignored(&g, (enum ignorance)i);
	if (!r && !view->n_samples)
		r = view_note(view, "no inlined functions: the trace has no samples");
	if (!r)
		r = view_add_inlined_frames(view);
	return r ? diag_set(d, r, "--inlines: %s", errno_words(r)) : 0;
}
