/* SPDX-License-Identifier: Apache-2.0 */
/* Makes digests: finds the time, reads all tracks, and sorts the lists. */
#include "trace/report/digest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "trace/model/names.h"
#include "trace/model/space.h" /* PLANE_ENVIRONMENT */
#include "trace/read/archive.h"
#include "trace/read/view.h"
#include "trace/saturate.h"

/* --- the digest's time --------------------------------------------------------------------- */

/*
 * Finds the first begin of a recording and the last end, on the view's time; false: no file has
 * them.
 */
static bool find_session(const struct view *view, int64_t *begin_ns, int64_t *end_ns, size_t *first)
{
	bool is_found = false;

	for (size_t i = 0; i < view->n_archives; i++) {
		const struct view_host *host = &view->hosts[i];
		int64_t length_ns = host->length_ns;
		int64_t stop_ns = add_saturated(host->shift_ns, length_ns);

		if (length_ns < 0)
			continue;
		if (!is_found || host->shift_ns < *begin_ns) {
			*begin_ns = host->shift_ns;
			*first = i;
		}
		*end_ns = !is_found || stop_ns > *end_ns ? stop_ns : *end_ns;
		is_found = true;
	}
	return is_found;
}

bool digest_get_session(const struct view *view, uint64_t *start_unix_ns, uint64_t *duration_ns)
{
	int64_t begin_ns;
	int64_t end_ns;
	size_t first = 0;

	if (!find_session(view, &begin_ns, &end_ns, &first))
		return false;
	*start_unix_ns = (uint64_t)view->hosts[first].epoch_ns;
	*duration_ns = (uint64_t)sub_saturated(end_ns, begin_ns);
	return true;
}

/* Returns the view's time since which the plane is complete; INT64_MIN: unknown. */
static int64_t find_complete_since(const struct view_host *host, const struct archive_plane *plane)
{
	int64_t since_ns = archive_plane_find_int(plane, "ptap_complete_since_ns");

	if (since_ns <= 0 || host->epoch_ns <= 0)
		return INT64_MIN;
	return add_saturated(sub_saturated(since_ns, host->epoch_ns), host->shift_ns);
}

/* Returns the latest time since which a process is complete; INT64_MIN: none is known. */
static int64_t find_complete(const struct view *view)
{
	int64_t complete_ns = INT64_MIN;

	for (size_t i = 0; i < view->n_archives; i++) {
		const struct view_host *host = &view->hosts[i];

		for (size_t k = 0; k < host->archive->n_planes; k++) {
			int64_t since_ns = find_complete_since(host, &host->archive->planes[k]);

			complete_ns = since_ns > complete_ns ? since_ns : complete_ns;
		}
	}
	return complete_ns;
}

/*
 * Makes the digest's time begin at the time since which all processes are complete, unless that is
 * after all events, or the selection has its own begin.
 */
static void select_complete(struct digest *g)
{
	const struct selection *s = g->view->selection;
	int64_t begin_ns;
	int64_t end_ns = g->view->end_ns;
	size_t first;

	find_session(g->view, &begin_ns, &end_ns, &first);
	g->complete_ns = find_complete(g->view);
	if (g->complete_ns >= end_ns || (s && (s->is_whole || s->from_ns != INT64_MIN)))
		return;
	g->selection = s ? *s : (struct selection)SELECTION_INIT;
	g->selection.from_ns = g->complete_ns;
	if (g->complete_ns != INT64_MIN)
		g->view->selection = &g->selection;
}

/*
 * Finds the digest's time: that of the recordings, or else of the events, as far as --from and --to
 * select it.
 */
static void find_time(struct digest *g)
{
	const struct selection *s = g->view->selection;
	size_t first;

	if (!find_session(g->view, &g->begin_ns, &g->end_ns, &first)) {
		g->begin_ns = g->view->first_ns;
		g->end_ns = g->view->end_ns;
	}
	if (s && s->from_ns > g->begin_ns)
		g->begin_ns = s->from_ns;
	if (s && s->to_ns < g->end_ns)
		g->end_ns = s->to_ns;
	if (g->end_ns < g->begin_ns)
		g->end_ns = g->begin_ns;
}

static int64_t get_later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t get_earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Converts a range of an archive's time to the view's time. */
static struct digest_window find_hull(int64_t first_ns, int64_t end_ns, int64_t shift_ns)
{
	return (struct digest_window){
		add_saturated(first_ns, shift_ns), add_saturated(end_ns, shift_ns)};
}

/*
 * Returns the window of a file without a time of its recording: from its first event to the end of
 * its last.
 */
static struct digest_window find_host_hull(const struct view_host *host)
{
	struct digest_window w = {INT64_MAX, INT64_MIN};

	for (size_t i = 0; i < host->archive->n_planes; i++) {
		const struct archive_plane *plane = &host->archive->planes[i];

		for (size_t k = 0; k < plane->n_lines; k++) {
			w.begin_ns = get_earlier(w.begin_ns, plane->lines[k].first_ns);
			w.end_ns = get_later(w.end_ns, plane->lines[k].end_ns);
		}
	}
	if (w.end_ns < w.begin_ns)
		return (struct digest_window){0, 0};
	return find_hull(w.begin_ns, w.end_ns, host->shift_ns);
}

/*
 * Returns the window of a recording, without the time at its start in which threads could not
 * record yet.
 */
static struct digest_window find_host_window(const struct view_host *host)
{
	const struct archive_plane *environment =
		archive_find_plane(host->archive, PLANE_ENVIRONMENT);
	int64_t missing_ns = archive_plane_find_int(environment, "ptap_missing_ns");

	if (host->length_ns < 0)
		return find_host_hull(host);
	return find_hull(get_later(missing_ns, 0), host->length_ns, host->shift_ns);
}

static struct digest_window clip_window(const struct digest *g, struct digest_window w)
{
	w.begin_ns = get_later(w.begin_ns, g->begin_ns);
	w.end_ns = get_later(get_earlier(w.end_ns, g->end_ns), w.begin_ns);
	return w;
}

static bool is_program_of_others(const struct digest *g, size_t host, size_t process)
{
	const struct view_host *h = &g->view->hosts[host];

	return !h->is_ours && h->epoch_ns > 0 && !g->view->origins[process].is_device;
}

static bool is_end_unknown(const struct digest *g, const struct view_track *track)
{
	return track->kind == TRACK_THREAD && is_program_of_others(g, track->host, track->origin);
}

struct digest_window digest_find_window(const struct digest *g, const struct view_track *track)
{
	const struct view_host *host = &g->view->hosts[track->host];
	const struct archive_line *line = track->line;
	int64_t since_ns = find_complete_since(host, track->plane);
	struct digest_window w = g->recordings[track->host];

	w.begin_ns = get_later(w.begin_ns, since_ns);
	if (is_end_unknown(g, track)) {
		struct digest_window known =
			find_hull(line->first_ns, line->end_ns, host->shift_ns);

		w.begin_ns = get_later(w.begin_ns, known.begin_ns);
		w.end_ns = get_earlier(w.end_ns, known.end_ns);
	}
	return clip_window(g, w);
}

struct digest_window digest_find_process_window(const struct digest *g, size_t process)
{
	size_t host = g->view->origins[process].host;
	struct digest_window w = clip_window(g, g->recordings[host]);

	if (is_program_of_others(g, host, process))
		w.end_ns = w.begin_ns;
	return w;
}

bool digest_has_unknown_ends(const struct digest *g)
{
	for (size_t i = 0; i < g->n_tracks; i++)
		if (g->tracks[i].n_of_kind[DIGEST_SPAN] && is_end_unknown(g, g->tracks[i].track))
			return true;
	return false;
}

/* --- making -------------------------------------------------------------------------------- */

static void add_planes(struct digest *g, size_t host)
{
	const struct archive *archive = g->view->hosts[host].archive;
	struct digest_window w;

	g->recordings[host] = find_host_window(&g->view->hosts[host]);
	w = clip_window(g, g->recordings[host]);
	g->first_plane[host] = g->n_planes;
	for (size_t i = 0; i < archive->n_planes; i++) {
		struct digest_plane *p = &g->planes[g->n_planes++];

		*p = (struct digest_plane){.host = host, .plane = &archive->planes[i]};
		gauges_init(&p->counters, w.begin_ns, w.end_ns);
	}
}

static int make_room(struct digest *g)
{
	const struct view *view = g->view;
	size_t n = 1;

	for (size_t i = 0; i < view->n_archives; i++)
		n += view->hosts[i].archive->n_planes;
	g->planes = calloc(n, sizeof *g->planes);
	g->first_plane = calloc(view->n_archives + 1, sizeof *g->first_plane);
	g->recordings = calloc(view->n_archives + 1, sizeof *g->recordings);
	g->tracks = calloc(view->n_tracks + 1, sizeof *g->tracks);
	g->processes = calloc(view->n_origins + 1, sizeof *g->processes);
	if (!g->planes || !g->first_plane || !g->recordings || !g->tracks || !g->processes)
		return -ENOMEM;
	for (size_t i = 0; i < view->n_archives; i++)
		add_planes(g, i);
	return 0;
}

/* A truncated name of kernels is wanted if one of the names that it replaces is. */
static int find_wanted(struct digest *g, const struct view *view)
{
	const struct selected *s = &view->selected;

	if (!s->names)
		return 0;
	g->wanted = calloc((size_t)view->names.n_texts + 1, 1);
	if (!g->wanted)
		return -ENOMEM;
	memcpy(g->wanted, s->names, s->n_names);
	for (uint32_t i = 0; s->kernels && i < s->n_names; i++)
		g->wanted[s->kernels[i]] |= s->names[i];
	return 0;
}

/* Copies the view, so that its cursors also read names that are not wanted. */
static int copy_view(struct digest *g, const struct view *view)
{
	g->view = malloc(sizeof *g->view);
	if (!g->view)
		return -ENOMEM;
	*g->view = *view;
	g->view->selected.names = NULL;
	g->view->clips_spans = true;
	return find_wanted(g, view);
}

static void deinit_track(struct digest_track *t)
{
	rows_deinit(&t->rows);
	busy_deinit(&t->busy);
}

static void keep_wanted(struct digest *g)
{
	size_t n = 0;

	for (int i = 0; i < DIGEST_LISTS; i++)
		rows_keep(&g->lists[i], g->wanted);
	for (size_t i = 0; i < g->n_planes; i++) {
		rows_keep(&g->planes[i].steps, g->wanted);
		rows_keep(&g->planes[i].asyncs, g->wanted);
		flows_keep(&g->planes[i].flows, g->wanted);
		gauges_finish(&g->planes[i].counters, g->wanted);
	}
	for (size_t i = 0; i < g->n_tracks; i++) {
		rows_keep(&g->tracks[i].rows, g->wanted);
		if (g->tracks[i].rows.n)
			g->tracks[n++] = g->tracks[i];
		else
			deinit_track(&g->tracks[i]);
	}
	g->n_tracks = n;
}

/*
 * Finds the plane of the machine's counters, which a host daemon puts into each trace; NULL: there
 * is none.
 */
static struct digest_plane *find_machine(const struct digest *g, size_t host)
{
	const struct archive *archive = g->view->hosts[host].archive;
	const struct archive_plane *plane = archive_find_plane(archive, PLANE_MACHINE);

	return plane ? &g->planes[g->first_plane[host] + (size_t)(plane - archive->planes)] : NULL;
}

/* True if both planes have counters of one machine at one time. */
static bool planes_are_of_one_machine(
	const struct digest *g, const struct digest_plane *a, const struct digest_plane *b)
{
	const struct gauges *in_a = &a->counters;
	const struct gauges *in_b = &b->counters;

	return strcmp(g->view->hosts[a->host].name, g->view->hosts[b->host].name) == 0 &&
	       in_a->begin_ns < in_b->end_ns && in_b->begin_ns < in_a->end_ns;
}

static void drop_counters(struct digest *g, struct digest_plane *p)
{
	for (size_t i = 0; i < p->counters.n; i++)
		g->totals.n_counter_samples -= p->counters.v[i].n;
	gauges_deinit(&p->counters);
}

/* Keeps the counters of one machine only in the file with the longest recording. */
static void drop_repeated_machines(struct digest *g)
{
	for (size_t i = 0; i < g->view->n_archives; i++) {
		struct digest_plane *one = find_machine(g, i);

		for (size_t k = 0; k < i && one; k++) {
			struct digest_plane *other = find_machine(g, k);
			int64_t length_ns = one->counters.end_ns - one->counters.begin_ns;

			if (!other || !one->counters.n || !other->counters.n ||
				!planes_are_of_one_machine(g, one, other))
				continue;
			if (other->counters.end_ns - other->counters.begin_ns >= length_ns)
				drop_counters(g, one);
			else
				drop_counters(g, other);
		}
	}
}

static int finish_planes(struct digest *g)
{
	int r = 0;

	for (size_t i = 0; i < g->n_planes && r == 0; i++) {
		struct digest_plane *p = &g->planes[i];

		g->totals.n_counters += p->counters.n;
		rows_finish(&p->steps);
		rows_finish(&p->asyncs);
		rows_sort(&p->steps, ROW_NAME, &g->view->names);
		rows_sort(&p->asyncs, ROW_TOTAL, &g->view->names);
		r = rows_take(&g->lists[LIST_ASYNCS], &p->asyncs);
	}
	return r;
}

static int digest_finish(struct digest *g, struct diag *d)
{
	int r;

	drop_repeated_machines(g);
	r = finish_planes(g);
	for (size_t i = 0; i < g->view->n_archives; i++)
		g->totals.n_dropped += g->view->hosts[i].n_dropped;
	if (r == 0)
		r = digest_cover(g, d);
	for (int i = 0; i < DIGEST_LISTS; i++)
		rows_finish(&g->lists[i]);
	keep_wanted(g);
	digest_sort(g, ROW_SELF);
	return r;
}

static int digest_fill(struct digest *g, const struct view *view, struct diag *d)
{
	int r = copy_view(g, view);

	if (r)
		return r;
	select_complete(g);
	find_time(g);
	r = make_room(g);
	for (size_t i = 0; i < view->n_tracks && r == 0; i++)
		r = digest_read_track(g, &view->tracks[i], d);
	return r ? r : digest_finish(g, d);
}

int digest_make(const struct view *view, struct digest **out, struct diag *d)
{
	struct digest *g = calloc(1, sizeof *g);
	int r = g ? 0 : -ENOMEM;

	if (r == 0)
		r = digest_fill(g, view, d);
	if (r) {
		digest_free(g);
		return d && d->text[0] ? r : diag_set(d, r, "trace: %s", errno_words(r));
	}
	*out = g;
	return 0;
}

struct digest *digest_free(struct digest *g)
{
	if (!g)
		return NULL;
	for (size_t i = 0; i < g->n_planes; i++) {
		rows_deinit(&g->planes[i].steps);
		rows_deinit(&g->planes[i].asyncs);
		flows_deinit(&g->planes[i].flows);
		gauges_deinit(&g->planes[i].counters);
	}
	for (size_t i = 0; i < g->n_tracks; i++)
		deinit_track(&g->tracks[i]);
	for (size_t i = 0; g->processes && i < g->view->n_origins; i++)
		busy_deinit(&g->processes[i].busy);
	for (int i = 0; i < DIGEST_LISTS; i++)
		rows_deinit(&g->lists[i]);
	free(g->planes);
	free(g->recordings);
	free(g->first_plane);
	free(g->tracks);
	free(g->processes);
	free(g->wanted);
	free(g->view);
	free(g);
	return NULL;
}

bool digest_track_is_second(const struct digest *g, const struct digest_track *track)
{
	return track > g->tracks && track[-1].track->row_line == track->track->row_line;
}

size_t digest_count_seconds(const struct digest *g, const struct digest_track *track)
{
	size_t n = 0;

	while (!digest_track_is_second(g, track) && track + n + 1 < g->tracks + g->n_tracks &&
		digest_track_is_second(g, track + n + 1))
		n++;
	return n;
}

int digest_gather_steps(struct digest *g)
{
	struct rows *steps = &g->lists[LIST_STEPS];
	int r = 0;

	for (size_t i = 0; i < g->n_planes && r == 0; i++)
		r = rows_take(steps, &g->planes[i].steps);
	rows_finish(steps);
	return r;
}

void digest_sort(struct digest *g, enum row_key key)
{
	const struct names *names = &g->view->names;

	for (size_t i = 0; i < g->n_tracks; i++)
		rows_sort(&g->tracks[i].rows, key, names);
	rows_sort(&g->lists[LIST_SPANS], key, names);
	rows_sort(&g->lists[LIST_KERNELS], key, names);
	rows_sort(&g->lists[LIST_ASYNCS], ROW_TOTAL, names);
}
