/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the planes of all files as JSON: their threads, steps, flows and counters. */
#include <errno.h>
#include <math.h>

#include "base/cleanup.h"
#include "trace/json.h"
#include "trace/read/archive.h"
#include "trace/read/view.h"
#include "trace/report/digest.h"
#include "trace/report/facts.h"
#include "trace/report/report.h"
#include "trace/report/report_json.h"
#include "trace/report/slow.h"

/* --- steps --------------------------------------------------------------------------------- */

static void put_slow(struct report_json *w, size_t plane, const struct row *row)
{
	int64_t limit_ns = slow_find_step_limit(w->slow, plane, row, w->options->slow);

	json_uint(&w->j, "outliers", sample_count_above(&row->durations, (double)limit_ns - 1));
	if (row->n_whole)
		json_int(&w->j, "limit_ns", limit_ns);
	else
		json_nothing(&w->j, "limit_ns");
	json_begin_list(&w->j, "slowest");
	for (size_t i = 0; i < row->n_slowest; i++) {
		if (row->slowest[i].duration_ns < limit_ns)
			break;
		json_begin_object(&w->j, NULL);
		json_int(&w->j, "step_num", row->slowest[i].number);
		json_int(&w->j, "start_ns", row->slowest[i].start_ns);
		json_int(&w->j, "duration_ns", row->slowest[i].duration_ns);
		json_end_object(&w->j);
	}
	json_end_list(&w->j);
}

static void put_steps(struct report_json *w, size_t plane, const struct rows *rows)
{
	json_begin_list(&w->j, "steps");
	for (size_t i = 0; i < report_json_count_shown(w, rows->n); i++) {
		json_begin_object(&w->j, NULL);
		report_json_put_counts(w, &rows->v[i]);
		report_json_put_times(&w->j, &rows->v[i]);
		put_slow(w, plane, &rows->v[i]);
		json_end_object(&w->j);
	}
	json_end_list(&w->j);
}

/* --- threads ------------------------------------------------------------------------------- */

static void put_track(struct report_json *w, const struct digest_track *t)
{
	json_int(&w->j, "id", t->track->line->id);
	json_text(&w->j, "name", t->track->line->name);
	json_uint(&w->j, "n_spans", t->n_of_kind[DIGEST_SPAN]);
	json_uint(&w->j, "n_instants", t->n_of_kind[DIGEST_INSTANT]);
	json_uint(&w->j, "n_flow_marks", t->n_of_kind[DIGEST_FLOW_MARK]);
	report_json_put_spans(w, "spans", &t->rows);
	report_json_put_busy(w, &t->busy);
	if (view_track_has_sources(w->digest->view, t->track))
		json_text(&w->j, "file", view_track_get_source(w->digest->view, t->track));
}

/* Writes a thread with its tracks from all servers that recorded it. */
static void put_thread(struct report_json *w, const struct digest_track *t)
{
	size_t n_seconds = digest_count_seconds(w->digest, t);

	if (digest_track_is_second(w->digest, t))
		return;
	json_begin_object(&w->j, NULL);
	put_track(w, t);
	if (n_seconds)
		json_begin_list(&w->j, "other_sources");
	for (size_t i = 1; i <= n_seconds; i++) {
		json_begin_object(&w->j, NULL);
		put_track(w, &t[i]);
		json_end_object(&w->j);
	}
	if (n_seconds)
		json_end_list(&w->j);
	json_end_object(&w->j);
}

static void put_threads(struct report_json *w, size_t plane)
{
	const struct groups *tracks = &w->tracks;

	json_begin_list(&w->j, "threads");
	for (size_t i = tracks->first[plane]; i != GROUPS_END; i = tracks->next[i])
		put_thread(w, &w->digest->tracks[i]);
	json_end_list(&w->j);
}

/* --- planes -------------------------------------------------------------------------------- */

static void put_flows(struct report_json *w, const struct flows *flows)
{
	json_begin_list(&w->j, "flows");
	for (size_t i = 0; i < report_json_count_shown(w, flows->n); i++) {
		json_begin_object(&w->j, NULL);
		json_text(&w->j, "name", report_json_get_name(w, flows->v[i].name));
		json_uint(&w->j, "out", flows->v[i].n_out);
		json_uint(&w->j, "in", flows->v[i].n_in);
		json_end_object(&w->j);
	}
	json_end_list(&w->j);
}

static void put_counter(struct report_json *w, const struct gauge *c)
{
	json_begin_object(&w->j, NULL);
	json_text(&w->j, "name", report_json_get_name(w, c->name));
	json_uint(&w->j, "n", c->n);
	json_double(&w->j, "min", c->min);
	json_double(&w->j, "mean", c->mean);
	json_double(&w->j, "max", c->max);
	json_double(&w->j, "last", c->last);
	json_begin_list(&w->j, "means");
	for (size_t i = 0; i < COUNTER_SLOTS; i++)
		json_double(&w->j, NULL, c->ns_of_slot[i] > 0 ? c->slots[i] : NAN);
	json_end_list(&w->j);
	json_end_object(&w->j);
}

static void put_counters(struct report_json *w, const struct gauges *counters)
{
	json_begin_list(&w->j, "counters");
	for (size_t i = 0; i < report_json_count_shown(w, counters->n); i++)
		put_counter(w, &counters->v[i]);
	json_end_list(&w->j);
}

void report_json_put_process_of(struct report_json *w, const struct archive_plane *plane)
{
	_cleanup_free_ char *name = archive_plane_copy_text(plane, "ptap_process_name");
	int64_t pid = plane ? facts_get_pid(plane) : -1;

	json_text(&w->j, "process_name", name);
	if (pid >= 0)
		json_int(&w->j, "process_id", pid);
	else
		json_nothing(&w->j, "process_id");
}

static void put_loss(struct report_json *w, const struct archive_plane *plane)
{
	const char *name;
	uint64_t count;

	json_begin_object(&w->j, "lost");
	for (size_t i = 0; i < plane->own.n; i++)
		if (facts_get_loss(plane, i, &name, &count))
			json_uint(&w->j, name, count);
	json_end_object(&w->j);
}

static int put_windows(struct report_json *w, const struct archive_plane *plane)
{
	_cleanup_free_ char *text = facts_copy_windows(plane);
	const char *rest = text;
	char line[FACTS_WINDOW_BYTES];

	json_begin_list(&w->j, "windows");
	while (rest && facts_next_window(&rest, line))
		json_text(&w->j, NULL, line);
	json_end_list(&w->j);
	return text ? 0 : -ENOMEM;
}

static int put_plane(struct report_json *w, size_t plane)
{
	const struct digest_plane *p = &w->digest->planes[plane];
	int r;

	json_begin_object(&w->j, NULL);
	json_text(&w->j, "name", p->plane->name);
	json_int(&w->j, "id", p->plane->id);
	report_json_put_process_of(w, p->plane);
	put_loss(w, p->plane);
	r = put_windows(w, p->plane);
	put_threads(w, plane);
	put_steps(w, plane, &p->steps);
	report_json_put_asyncs(w, &p->asyncs);
	put_flows(w, &p->flows);
	put_counters(w, &p->counters);
	json_text(&w->j, "host", w->digest->view->hosts[p->host].name);
	json_end_object(&w->j);
	return r;
}

static size_t get_plane_of(const void *digest, size_t track)
{
	const struct digest *g = digest;

	return digest_find_plane(g, g->tracks[track].track);
}

int report_json_put_planes(struct report_json *w)
{
	const struct digest *g = w->digest;
	int r = groups_make(&w->tracks, g->n_planes, g->n_tracks, get_plane_of, g);

	json_begin_list(&w->j, "planes");
	for (size_t i = 0; i < g->n_planes && r == 0; i++)
		if (g->planes[i].plane->kind ==
			PLANE_OF_EVENTS) /* others have members of their own */
			r = put_plane(w, i);
	json_end_list(&w->j);
	groups_deinit(&w->tracks);
	return r;
}
