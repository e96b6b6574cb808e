/* SPDX-License-Identifier: Apache-2.0 */
/* Parses selections, prepares them for a view, and applies them to tracks and items. */
#include "trace/read/selection.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/grow.h"
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

void selected_deinit(struct selected *s)
{
	free(s->names);
	free(s->kernels);
	free(s->windows);
	free(s->has_steps);
	*s = (struct selected){.names = NULL};
}

/* --- patterns ------------------------------------------------------------------------------ */

static int compile_pattern(
	regex_t *pattern, bool *is_there, const char *option, const char *value, struct diag *d)
{
	char why[128];
	int error;

	if (*is_there)
		regfree(pattern);
	error = regcomp(pattern, value, REG_EXTENDED | REG_NOSUB);
	*is_there = error == 0;
	if (!error)
		return 0;
	regerror(error, pattern, why, sizeof why);
	return diag_set(d, -EINVAL, "%s: bad value \"%.64s\": not a regular expression: %s", option,
		value, why);
}

int selection_set_name(struct selection *s, const char *option, const char *value, struct diag *d)
{
	return compile_pattern(&s->name, &s->has_name, option, value, d);
}

int selection_set_exclude(
	struct selection *s, const char *option, const char *value, struct diag *d)
{
	return compile_pattern(&s->exclude, &s->has_exclude, option, value, d);
}

/* --- lists of names and ids ---------------------------------------------------------------- */

static int selection_set_words(
	const char **words, const char *option, const char *value, struct diag *d)
{
	for (const char *p = value;; p++) {
		size_t n = selection_get_word_length(p);

		if (n > SELECTION_MAX_WORD)
			return diag_set(d, -EINVAL,
				"%s: bad value \"%.64s\": a name with more than %d bytes; put * for a part of it",
				option, p, SELECTION_MAX_WORD);
		if (n == 0)
			return diag_set(d, -EINVAL,
				"%s: bad value \"%.64s\": must be names or numbers, with a comma between two",
				option, value);
		p += n;
		if (!*p)
			break;
	}
	*words = value;
	return 0;
}

int selection_set_threads(
	struct selection *s, const char *option, const char *value, struct diag *d)
{
	return selection_set_words(&s->threads, option, value, d);
}

int selection_set_pids(struct selection *s, const char *option, const char *value, struct diag *d)
{
	return selection_set_words(&s->pids, option, value, d);
}

/* --- times --------------------------------------------------------------------------------- */

static const struct {
	const char *unit;
	double ns;
} time_units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"", 1e6}};

int selection_parse_time(const char *option, const char *value, int64_t *out_ns, struct diag *d)
{
	char *end = NULL;
	double number = isdigit((unsigned char)value[*value == '-']) ? strtod(value, &end) : NAN;

	for (size_t i = 0; end && i < sizeof time_units / sizeof time_units[0]; i++) {
		if (strcmp(end, time_units[i].unit) != 0 ||
			!(fabs(number * time_units[i].ns) < 9e18))
			continue;
		*out_ns = llround(number * time_units[i].ns);
		return 0;
	}
	return diag_set(d, -EINVAL,
		"%s: bad value \"%.64s\": must be a time with its unit, as in 250us, 20ms or 1.5s",
		option, value);
}

/* --- iterations ---------------------------------------------------------------------------- */

static int selection_add_range(
	struct selection *s, size_t *n_allocated, int64_t first, int64_t last)
{
	if (grow(&s->iterations, n_allocated, s->n_iterations + 1))
		return -ENOMEM;
	s->iterations[s->n_iterations++] = (struct selection_range){first, last};
	return 0;
}

/* Parses "3" or "3-4" at *|p|, and moves *|p| behind it. */
static bool parse_range(const char **p, int64_t *first, int64_t *last)
{
	char *end;

	if (!isdigit((unsigned char)**p))
		return false;
	errno = 0;
	*first = *last = strtoll(*p, &end, 10);
	if (*end == '-' && isdigit((unsigned char)end[1]))
		*last = strtoll(end + 1, &end, 10);
	*p = end;
	return errno == 0 && *first <= *last;
}

/* Brackets have no meaning, but they must be closed. */
static int selection_parse_ranges(struct selection *s, const char *value)
{
	size_t n_allocated = 0;
	int depth = 0;
	int64_t first;
	int64_t last;

	for (const char *p = value; *p;) {
		if (strchr("[], ", *p)) {
			depth += (*p == '[') - (*p == ']');
			p++;
			if (depth < 0)
				return -EINVAL;
			continue;
		}
		if (!parse_range(&p, &first, &last))
			return -EINVAL;
		if (selection_add_range(s, &n_allocated, first, last))
			return -ENOMEM;
	}
	return depth == 0 && s->n_iterations ? 0 : -EINVAL;
}

int selection_set_iterations(
	struct selection *s, const char *option, const char *value, struct diag *d)
{
	int r;

	free(s->iterations);
	s->iterations = NULL;
	s->n_iterations = 0;
	r = selection_parse_ranges(s, value);
	if (r == -ENOMEM)
		return diag_set(d, r, "%s: out of memory", option);
	return r ? diag_set(d, r,
			   "%s: bad value \"%.64s\": must be numbers and ranges, as in 1,3-4 or [1,[3-4]]",
			   option, value)
		 : 0;
}

/* True if |number| is a wanted iteration. */
static bool selection_has_number(const struct selection *s, int64_t number)
{
	for (size_t i = 0; i < s->n_iterations; i++)
		if (number >= s->iterations[i].first && number <= s->iterations[i].last)
			return true;
	return false;
}

/* --- names --------------------------------------------------------------------------------- */

/* Returns 1 if the pattern matches, 0 if not, or -ENOMEM. */
static int match_pattern(const regex_t *pattern, const char *name)
{
	int r = regexec(pattern, name, 0, NULL, 0);

	return r && r != REG_NOMATCH ? -ENOMEM : r == 0;
}

/* Returns 1 if the name is wanted, 0 if not, or -ENOMEM. */
static int match_name(const struct selection *s, const char *name)
{
	int r = s->has_name ? match_pattern(&s->name, name) : 1;

	if (r <= 0 || !s->has_exclude)
		return r;
	r = match_pattern(&s->exclude, name);
	return r < 0 ? r : !r;
}

static int mark_wanted_names(struct view *v)
{
	const struct selection *s = v->selection;

	if (!s->has_name && !s->has_exclude)
		return 0;
	v->selected.names = calloc((size_t)v->names.n_texts + 1, 1);
	if (!v->selected.names)
		return -ENOMEM;
	v->selected.n_names = v->names.n_texts;
	for (uint32_t i = 0; i < v->names.n_texts; i++) {
		int r = match_name(s, v->names.texts[i]);

		if (r < 0)
			return r;
		v->selected.names[i] = (uint8_t)r;
	}
	return 0;
}

/* --- kernels ------------------------------------------------------------------------------- */

/*
 * Returns the length of a text at |p| such as "operator()" or "(anonymous namespace)", whose
 * brackets and blanks are parts of the name itself; 0 if there is none.
 */
static size_t measure_fixed_part(const char *p)
{
	static const char *const wholes[] = {"(anonymous namespace)", "operator()", "operator<<",
		"operator<=", "operator<", "operator->", "operator>>"};

	for (size_t i = 0; i < sizeof wholes / sizeof wholes[0]; i++)
		if (strncmp(p, wholes[i], strlen(wholes[i])) == 0)
			return strlen(wholes[i]);
	return 0;
}

/*
 * Marks each '<' in |name| that a '>' closes. It takes one pass from the end, since there may be
 * megabytes of them.
 */
static void mark_closed_brackets(const char *name, char *is_closed)
{
	size_t n_ends = 0; /* number of '>' that close nothing yet */

	for (size_t i = strlen(name); i-- > 0;) {
		n_ends += name[i] == '>';
		is_closed[i] = name[i] == '<' && n_ends;
		n_ends -= (size_t)is_closed[i];
	}
}

/* Returns the length of the closed "<...>" at |p|, with all that is nested in it. */
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
 * Removes arguments, template parameters and, if there are arguments, the words before the name:
 * "void gemm<float, 2>(float const*, int) [clone .kd]" becomes "gemm". A name without arguments
 * loses its template parameters only. |out| has room for |name|.
 */
static void truncate_kernel(const char *name, char *out)
{
	size_t n_kept = 0;
	size_t start = 0;

	mark_closed_brackets(name, out); /* |out| holds the marks until the name overwrites them */
	for (const char *p = name; *p;) {
		size_t whole = measure_fixed_part(p);

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
		/* This blank separates operator< from its template parameters. */
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

/* A search for the steps of one host. */
struct step_search {
	struct view *view;
	uint32_t host;
};

static int note_step(void *search, const struct item *item)
{
	const struct step_search *of = search;
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

static int find_steps_on_track(struct view *v, const struct view_track *track, struct diag *d)
{
	struct step_search search = {v, track->host};

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

/* Merges windows that overlap, as those of several threads do. */
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

/* Reads all threads and streams, ignoring the selection. */
static int find_steps(struct view *v, struct diag *d)
{
	const struct selection *s = v->selection;
	uint8_t *has_steps;
	int r = 0;

	if (!s->iterations)
		return 0;
	has_steps = calloc(v->n_archives, 1);
	if (!has_steps)
		return -ENOMEM;
	v->selected.has_steps = has_steps;
	v->is_being_selected = true;
	for (size_t i = 0; i < v->n_tracks && r == 0; i++)
		if (v->tracks[i].kind == TRACK_THREAD || v->tracks[i].kind == TRACK_STREAM)
			r = find_steps_on_track(v, &v->tracks[i], d);
	v->is_being_selected = false;
	join_windows(&v->selected);
	return r;
}

int selection_prepare(struct view *v, struct diag *d)
{
	int r;

	if (!v->selection)
		return 0;
	r = mark_wanted_names(v);
	if (r == 0)
		r = truncate_names(v);
	return r ? r : find_steps(v, d);
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

/* True if one of the words between commas is the name or the id. */
static bool words_have(const char *words, const char *name, int64_t id)
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
	if (s->threads && !words_have(s->threads, track->origin_name, track->origin_tid))
		return false;
	return !s->pids || words_have(s->pids, p->name, p->pid);
}

/* --- iterations ---------------------------------------------------------------------------- */

bool selection_counts(const struct view *view, const struct view_track *track)
{
	const struct selected *known = &view->selected;

	return view->selection && known->has_steps && track->kind == TRACK_STREAM &&
	       !known->has_steps[track->host];
}

static bool window_has(const struct selection_window *w, uint32_t host, int64_t ns)
{
	return w->host == host && w->start_ns <= ns && ns < w->end_ns;
}

/* Finds the last window of the host that begins at or before |ns|; windows do not overlap. */
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
	return low && window_has(&known->windows[low - 1], host, ns);
}

static bool item_is_in_iteration(const struct view *view, const struct view_track *track,
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
	/* Patterns of names are for annotations, not for functions. */
	if (view->selected.names && item->kind != ITEM_CPU_SAMPLE &&
		!view->selected.names[item->name])
		return false;
	return item_is_in_iteration(view, track, item, nth);
}
