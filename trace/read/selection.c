/* SPDX-License-Identifier: Apache-2.0 */
/* What a selection leaves over; see selection.h. */
#include "trace/read/selection.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/saturate.h"

bool selection_is_all(const struct selection *s)
{
	return s->from_ns == INT64_MIN && s->to_ns == INT64_MAX && s->min_duration_ns == 0 &&
	       !s->has_name && !s->has_exclude && !s->threads && !s->pids && !s->iterations &&
	       !s->truncates_kernels && s->device == SELECTION_ALL_DEVICES && !s->is_whole;
}

void selection_deinit(struct selection *s)
{
	if (s->has_name)
		regfree(&s->name);
	if (s->has_exclude)
		regfree(&s->exclude);
	free(s->iterations);
	*s = (struct selection)SELECTION_INIT;
}

/* --- tracks -------------------------------------------------------------------------------- */

bool selection_is_word(const char *word, size_t n, const char *name, int64_t id)
{
	char pattern[SELECTION_MAX_WORD + 1];
	char digits[32];

	if (n >= sizeof pattern)
		return false;
	memcpy(pattern, word, n);
	pattern[n] = '\0';
	snprintf(digits, sizeof digits, "%lld", (long long)id);
	return strcmp(pattern, digits) == 0 || fnmatch(pattern, name, 0) == 0;
}

size_t selection_get_word_length(const char *words)
{
	size_t n = 0;

	while (words[n] && words[n] != ',')
		n += words[n] == '\\' && words[n + 1] ? 2 : 1;
	return n;
}

/* Whether one of the words between commas is the name or the id. */
static bool is_in(const char *words, const char *name, int64_t id)
{
	for (const char *p = words;; p++) {
		size_t n = selection_get_word_length(p);

		if (n && selection_is_word(p, n, name, id))
			return true;
		p += n;
		if (!*p)
			return false;
	}
}

bool selection_has_track(const struct view *view, const struct view_track *track)
{
	const struct selection *s = view->selection;
	const struct view_process *p = view_get_origin(view, track);

	if (!s)
		return true;
	if (s->device == SELECTION_HOSTS && p->is_device)
		return false;
	if (s->device >= 0 && p->device != s->device)
		return false;
	if (s->threads && !is_in(s->threads, track->origin_name, track->origin_tid))
		return false;
	return !s->pids || is_in(s->pids, p->name, p->pid);
}

/* --- iterations ---------------------------------------------------------------------------- */

bool selection_has_number(const struct selection *s, int64_t number)
{
	for (size_t i = 0; i < s->n_iterations; i++)
		if (number >= s->iterations[i].first && number <= s->iterations[i].last)
			return true;
	return false;
}

bool selection_counts(const struct view *view, const struct view_track *track)
{
	const struct selected *known = &view->selected;

	return view->selection && known->has_steps && track->kind == TRACK_STREAM &&
	       !known->has_steps[track->host];
}

static bool begins_in(const struct selection_window *w, uint32_t host, int64_t ns)
{
	return w->host == host && w->start_ns <= ns && ns < w->end_ns;
}

/* The last window that begins at or before |ns|, of that host; they do not overlap. */
static bool is_in_window(const struct selected *known, uint32_t host, int64_t ns)
{
	size_t low = 0;
	size_t high = known->n_windows;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct selection_window *w = &known->windows[middle];

		if (w->host < host || (w->host == host && w->start_ns <= ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low && begins_in(&known->windows[low - 1], host, ns);
}

static bool has_iteration(const struct view *view, const struct view_track *track,
	const struct item *item, uint64_t nth)
{
	const struct selected *known = &view->selected;
	uint32_t host = track->host;

	if (!known->has_steps)
		return true;
	if (known->has_steps[host])
		return is_in_window(known, host, item->start_ns);
	return track->kind != TRACK_STREAM ||
	       selection_has_number(view->selection, (int64_t)nth + 1);
}

/* --- items --------------------------------------------------------------------------------- */

bool selection_has_item(const struct view *view, const struct view_track *track,
	const struct item *item, uint64_t nth)
{
	const struct selection *s = view->selection;

	if ((item->start_ns >= s->to_ns && s->to_ns != INT64_MAX) ||
		add_saturated(item->start_ns, item->duration_ns) < s->from_ns)
		return false;
	if (item->kind == ITEM_SPAN && item->duration_ns < s->min_duration_ns)
		return false;
	if (view->selected.names && !view->selected.names[item->name])
		return false;
	return has_iteration(view, track, item, nth);
}
