/* SPDX-License-Identifier: Apache-2.0 */
/* The whole of a digest; see digest.h. */
#include "trace/report/digest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "trace/names.h"
#include "trace/read/archive.h"
#include "trace/read/view.h"
#include "trace/report/digest_parts.h"
#include "trace/saturate.h"
#include "trace/space.h" /* PLANE_ENVIRONMENT */

/* --- the time that is looked at ------------------------------------------------------------ */

/* How long a host's recording was; -1: it does not tell. */
static int64_t find_length(const struct view_host *host)
{
	const struct archive_plane *plane = archive_find_plane(host->archive, PLANE_ENVIRONMENT);
	int64_t start_ns = archive_plane_find_int(plane, "profile_start_time");
	int64_t stop_ns = archive_plane_find_int(plane, "profile_stop_time");

	return start_ns > 0 && stop_ns >= start_ns ? stop_ns - start_ns : -1;
}

/* From the first begin of a recording to the last end, of the view; false: no file tells. */
static bool find_session(const struct view *view, int64_t *begin_ns, int64_t *end_ns, size_t *first)
{
	bool is_found = false;

	for (size_t i = 0; i < view->n_archives; i++) {
		const struct view_host *host = &view->hosts[i];
		int64_t length_ns = find_length(host);
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

/* That of the recordings, or else of the events; less what --from and --to leave out. */
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

/* --- making -------------------------------------------------------------------------------- */

static void add_planes(struct digest *g, size_t host)
{
	const struct archive *archive = g->view->hosts[host].archive;

	g->first_plane[host] = g->n_planes;
	for (size_t i = 0; i < archive->n_planes; i++)
		g->planes[g->n_planes++] =
			(struct digest_plane){.host = host, .plane = &archive->planes[i]};
}

static int make_room(struct digest *g)
{
	const struct view *view = g->view;
	size_t n = 1;

	for (size_t i = 0; i < view->n_archives; i++)
		n += view->hosts[i].archive->n_planes;
	g->planes = calloc(n, sizeof *g->planes);
	g->first_plane = calloc(view->n_archives + 1, sizeof *g->first_plane);
	g->tracks = calloc(view->n_tracks + 1, sizeof *g->tracks);
	g->processes = calloc(view->n_origins + 1, sizeof *g->processes);
	if (!g->planes || !g->first_plane || !g->tracks || !g->processes)
		return -ENOMEM;
	for (size_t i = 0; i < view->n_archives; i++)
		add_planes(g, i);
	return 0;
}

/* Names of kernels that were cut are wanted if one of those that they stand for is. */
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

/* Its cursors read what has other names, too. */
static int copy_view(struct digest *g, const struct view *view)
{
	g->view = malloc(sizeof *g->view);
	if (!g->view)
		return -ENOMEM;
	*g->view = *view;
	g->view->selected.names = NULL;
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
		gauges_keep(&g->planes[i].counters, g->wanted);
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

static int finish_planes(struct digest *g)
{
	int rc = 0;

	for (size_t i = 0; i < g->n_planes && rc == 0; i++) {
		struct digest_plane *p = &g->planes[i];

		g->totals.n_counters += p->counters.n;
		rows_finish(&p->steps);
		rows_finish(&p->asyncs);
		rows_sort(&p->steps, ROW_NAME, &g->view->names);
		rows_sort(&p->asyncs, ROW_TOTAL, &g->view->names);
		rc = rows_take(&g->lists[LIST_ASYNCS], &p->asyncs);
	}
	return rc;
}

static int finish(struct digest *g, struct diag *d)
{
	int rc = finish_planes(g);

	for (size_t i = 0; i < g->view->n_archives; i++)
		g->totals.n_dropped += g->view->hosts[i].n_dropped;
	if (rc == 0)
		rc = digest_cover(g, d);
	for (int i = 0; i < DIGEST_LISTS; i++)
		rows_finish(&g->lists[i]);
	keep_wanted(g);
	digest_sort(g, ROW_SELF);
	return rc;
}

static int make(struct digest *g, const struct view *view, struct diag *d)
{
	int rc = copy_view(g, view);

	if (rc)
		return rc;
	find_time(g);
	rc = make_room(g);
	for (size_t i = 0; i < view->n_tracks && rc == 0; i++)
		rc = digest_read_track(g, &view->tracks[i], d);
	return rc ? rc : finish(g, d);
}

int digest_make(const struct view *view, struct digest **out, struct diag *d)
{
	struct digest *g = calloc(1, sizeof *g);
	int rc = g ? 0 : -ENOMEM;

	if (rc == 0)
		rc = make(g, view, d);
	if (rc) {
		digest_free(g);
		return d && d->text[0] ? rc : diag_set(d, rc, "trace: %s", errno_words(rc));
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
	free(g->first_plane);
	free(g->tracks);
	free(g->processes);
	free(g->wanted);
	free(g->view);
	free(g);
	return NULL;
}

int digest_gather_steps(struct digest *g)
{
	struct rows *steps = &g->lists[LIST_STEPS];
	int rc = 0;

	for (size_t i = 0; i < g->n_planes && rc == 0; i++)
		rc = rows_take(steps, &g->planes[i].steps);
	rows_finish(steps);
	return rc;
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
