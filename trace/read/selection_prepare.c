/* SPDX-License-Identifier: Apache-2.0 */
/* What a selection can find out before anything is read; see selection.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/grow.h"
#include "trace/read/cursor.h"
#include "trace/read/selection.h"
#include "trace/read/view.h"
#include "trace/saturate.h"

void selected_deinit(struct selected *s)
{
	free(s->names);
	free(s->kernels);
	free(s->windows);
	free(s->has_steps);
	*s = (struct selected){.names = NULL};
}

/* --- names --------------------------------------------------------------------------------- */

/* Whether it does, or -ENOMEM. */
static int match(const regex_t *pattern, const char *name)
{
	int rc = regexec(pattern, name, 0, NULL, 0);

	return rc && rc != REG_NOMATCH ? -ENOMEM : rc == 0;
}

/* Whether it is, or -ENOMEM. */
static int is_wanted(const struct selection *s, const char *name)
{
	int rc = s->has_name ? match(&s->name, name) : 1;

	if (rc <= 0 || !s->has_exclude)
		return rc;
	rc = match(&s->exclude, name);
	return rc < 0 ? rc : !rc;
}

static int mark_names(struct view *v)
{
	const struct selection *s = v->selection;

	if (!s->has_name && !s->has_exclude)
		return 0;
	v->selected.names = calloc((size_t)v->names.n_texts + 1, 1);
	if (!v->selected.names)
		return -ENOMEM;
	v->selected.n_names = v->names.n_texts;
	for (uint32_t i = 0; i < v->names.n_texts; i++) {
		int rc = is_wanted(s, v->names.texts[i]);

		if (rc < 0)
			return rc;
		v->selected.names[i] = (uint8_t)rc;
	}
	return 0;
}

/* --- kernels ------------------------------------------------------------------------------- */

/* The part of a name that is taken over as it is: neither a bracket in it begins arguments nor a blank a name. */
static size_t find_whole(const char *p)
{
	static const char *const wholes[] = {"(anonymous namespace)", "operator()", "operator<<",
		"operator<=", "operator<", "operator->", "operator>>"};

	for (size_t i = 0; i < sizeof wholes / sizeof wholes[0]; i++)
		if (strncmp(p, wholes[i], strlen(wholes[i])) == 0)
			return strlen(wholes[i]);
	return 0;
}

/* For each '<' in |name|, whether a '>' closes it: in one pass from the end, as there may be megabytes of them. */
static void find_closed(const char *name, char *is_closed)
{
	size_t n_ends = 0; /* that close nothing yet */

	for (size_t i = strlen(name); i-- > 0;) {
		n_ends += name[i] == '>';
		is_closed[i] = name[i] == '<' && n_ends;
		n_ends -= (size_t)is_closed[i];
	}
}

/* Bytes of "<...>" at |p|, which is closed, with what is nested in it. */
static size_t measure_template(const char *p)
{
	size_t n_open = 0;
	size_t n = 0;

	do {
		n_open += p[n] == '<';
		n_open -= p[n] == '>';
		n++;
	} while (n_open);
	return n;
}

/*
 * "void gemm<float, 2>(float const*, int) [clone .kd]" becomes "gemm": without arguments, template parameters and, where there
 * are arguments, what stands before the name. What has no arguments only loses its template parameters. |out| has room for all.
 */
static void truncate_kernel(const char *name, char *out)
{
	size_t n_kept = 0;
	size_t start = 0;

	find_closed(name, out); /* where nothing was written yet */
	for (const char *p = name; *p;) {
		size_t whole = find_whole(p);

		if (!whole && *p == '<' && out[p - name]) {
			p += measure_template(p);
			continue;
		}
		if (!whole && *p == '(' && n_kept > start) {
			memmove(out, out + start, n_kept - start);
			out[n_kept - start] = '\0';
			return;
		}
		if (*p == ' ')
			start = n_kept + 1;
		for (size_t n = whole ? whole : 1; n; n--)
			out[n_kept++] = *p++;
		/* It keeps apart the parameters of operator<. */
		if (whole && p[0] == ' ' && p[1] == '<')
			p++;
	}
	out[n_kept] = '\0';
}

static uint32_t truncate_name(struct names *names, uint32_t index)
{
	const char *name = names->texts[index];
	char *truncated = malloc(strlen(name) + 1);

	if (!truncated)
		return NAMES_NONE;
	truncate_kernel(name, truncated);
	if (*truncated)
		index = names_intern(names, truncated, strlen(truncated));
	free(truncated);
	return index;
}

static int truncate_names(struct view *v)
{
	uint32_t n = v->names.n_texts;

	if (!v->selection->truncates_kernels)
		return 0;
	v->selected.kernels = calloc((size_t)n + 1, sizeof *v->selected.kernels);
	if (!v->selected.kernels)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		v->selected.kernels[i] = truncate_name(&v->names, i);
		if (v->selected.kernels[i] == NAMES_NONE)
			return -ENOMEM;
	}
	return 0;
}

/* --- steps --------------------------------------------------------------------------------- */

/* Steps of one host are looked for. */
struct search {
	struct view *view;
	uint32_t host;
};

static int note_step(void *search, const struct item *item)
{
	const struct search *of = search;
	struct selected *known = &of->view->selected;

	if (!item->is_step)
		return 0;
	known->has_steps[of->host] = 1;
	if (!selection_has_number(of->view->selection, item->step_num))
		return 0;
	if (grow(&known->windows, &known->n_windows_allocated, known->n_windows + 1))
		return -ENOMEM;
	known->windows[known->n_windows++] = (struct selection_window){
		of->host, item->start_ns, add_saturated(item->start_ns, item->duration_ns)};
	return 0;
}

static int look_for_steps(struct view *v, const struct view_track *track, struct diag *d)
{
	struct search search = {v, track->host};

	return cursor_read(v, track, note_step, &search, d);
}

static int compare_windows(const void *left, const void *right)
{
	const struct selection_window *a = left;
	const struct selection_window *b = right;

	if (a->host != b->host)
		return a->host < b->host ? -1 : 1;
	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

/* Those of several threads are one where they overlap. */
static void join_windows(struct selected *known)
{
	size_t n = 0;

	if (!known->n_windows)
		return;
	qsort(known->windows, known->n_windows, sizeof *known->windows, compare_windows);
	for (size_t i = 1; i < known->n_windows; i++) {
		struct selection_window *last = &known->windows[n];
		const struct selection_window *w = &known->windows[i];

		if (w->host != last->host || w->start_ns > last->end_ns)
			known->windows[++n] = *w;
		else if (w->end_ns > last->end_ns)
			last->end_ns = w->end_ns;
	}
	known->n_windows = n + 1;
}

/* All tracks are read, without any selection. */
static int find_steps(struct view *v, struct diag *d)
{
	const struct selection *s = v->selection;
	uint8_t *has_steps;
	int rc = 0;

	if (!s->iterations)
		return 0;
	has_steps = calloc(v->n_archives, 1);
	if (!has_steps)
		return -ENOMEM;
	v->selected.has_steps = has_steps;
	v->is_being_selected = true;
	for (size_t i = 0; i < v->n_tracks && rc == 0; i++)
		if (v->tracks[i].kind == TRACK_THREAD || v->tracks[i].kind == TRACK_STREAM)
			rc = look_for_steps(v, &v->tracks[i], d);
	v->is_being_selected = false;
	join_windows(&v->selected);
	return rc;
}

int selection_prepare(struct view *v, struct diag *d)
{
	int rc;

	if (!v->selection)
		return 0;
	rc = mark_names(v);
	if (rc == 0)
		rc = truncate_names(v);
	return rc ? rc : find_steps(v, d);
}
