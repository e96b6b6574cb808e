/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as one JSON object; see report.h. Keys are stable; times are integers in nanoseconds;
 * what is unknown is null or an empty list, never left out.
 */
#include "trace/report/report_json.h"
#include "trace/report/output.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "trace/json.h"
#include "trace/read/archive.h"
#include "trace/read/view.h"
#include "trace/report/digest.h"
#include "trace/report/facts.h"
#include "trace/report/groups.h"
#include "trace/report/report.h"

struct writing {
	struct json j;
	const struct digest *digest;
	const struct report_options *options;
	struct groups tracks; /* by plane */
};

static const char *get_name(const struct writing *w, uint32_t name)
{
	return names_get(&w->digest->view->names, name);
}

static size_t count_shown(const struct writing *w, size_t n)
{
	return w->options->n_top && n > w->options->n_top ? w->options->n_top : n;
}

/* --- rows ---------------------------------------------------------------------------------- */

void report_json_put_times(struct json *j, const struct row *row)
{
	json_int(j, "min_ns", row->min_ns);
	json_int(j, "mean_ns", row_get(row, ROW_MEAN));
	json_int(j, "p50_ns", row->p50_ns);
	json_int(j, "p99_ns", row->p99_ns);
	json_int(j, "max_ns", row->max_ns);
}

static void put_counts(struct writing *w, const struct row *row)
{
	json_text(&w->j, "name", get_name(w, row->name));
	json_uint(&w->j, "count", row->count);
	json_uint(&w->j, "unfinished", row->n_unfinished);
}

static void put_spans(struct writing *w, const char *key, const struct rows *rows)
{
	json_begin_list(&w->j, key);
	for (size_t i = 0; i < count_shown(w, rows->n); i++) {
		json_begin_object(&w->j, NULL);
		put_counts(w, &rows->v[i]);
		json_int(&w->j, "total_ns", rows->v[i].total_ns);
		json_int(&w->j, "self_ns", rows->v[i].self_ns);
		report_json_put_times(&w->j, &rows->v[i]);
		json_end_object(&w->j);
	}
	json_end_list(&w->j);
}

static void put_asyncs(struct writing *w, const struct rows *rows)
{
	json_begin_list(&w->j, "async_spans");
	for (size_t i = 0; i < count_shown(w, rows->n); i++) {
		json_begin_object(&w->j, NULL);
		put_counts(w, &rows->v[i]);
		json_int(&w->j, "total_ns", rows->v[i].total_ns);
		report_json_put_times(&w->j, &rows->v[i]);
		json_end_object(&w->j);
	}
	json_end_list(&w->j);
}

/* --- steps --------------------------------------------------------------------------------- */

static void put_slow(struct writing *w, const struct row *row)
{
	double slow = w->options->slow > 0 ? w->options->slow : REPORT_SLOW;
	double limit_ns = slow * (double)row->p50_ns;

	json_uint(&w->j, "outliers", sample_count_above(&row->durations, limit_ns));
	json_begin_list(&w->j, "slowest");
	for (size_t i = 0; i < row->n_slowest; i++) {
		if ((double)row->slowest[i].duration_ns <= limit_ns)
			break;
		json_begin_object(&w->j, NULL);
		json_int(&w->j, "step_num", row->slowest[i].number);
		json_int(&w->j, "start_ns", row->slowest[i].start_ns);
		json_int(&w->j, "duration_ns", row->slowest[i].duration_ns);
		json_end_object(&w->j);
	}
	json_end_list(&w->j);
}

static void put_steps(struct writing *w, const struct rows *rows)
{
	json_begin_list(&w->j, "steps");
	for (size_t i = 0; i < count_shown(w, rows->n); i++) {
		json_begin_object(&w->j, NULL);
		put_counts(w, &rows->v[i]);
		report_json_put_times(&w->j, &rows->v[i]);
		put_slow(w, &rows->v[i]);
		json_end_object(&w->j);
	}
	json_end_list(&w->j);
}

/* --- threads and processes ----------------------------------------------------------------- */

static void put_gap_name(struct writing *w, const char *key, uint32_t name)
{
	json_text(&w->j, key, name == BUSY_NO_NAME ? NULL : get_name(w, name));
}

static void put_busy(struct writing *w, const struct busy *busy)
{
	json_int(&w->j, "busy_ns", busy->busy_ns);
	json_begin_list(&w->j, "idle");
	for (size_t i = 0; i < busy->n_gaps; i++) {
		json_begin_object(&w->j, NULL);
		json_int(&w->j, "start_ns", busy->gaps[i].start_ns);
		json_int(&w->j, "duration_ns", gap_get_length(&busy->gaps[i]));
		put_gap_name(w, "after", busy->gaps[i].after);
		put_gap_name(w, "before", busy->gaps[i].before);
		json_end_object(&w->j);
	}
	json_end_list(&w->j);
}

static void put_thread(struct writing *w, const struct digest_track *t)
{
	json_begin_object(&w->j, NULL);
	json_int(&w->j, "id", t->track->line->id);
	json_text(&w->j, "name", t->track->line->name);
	json_uint(&w->j, "n_spans", t->n_of_kind[DIGEST_SPAN]);
	json_uint(&w->j, "n_instants", t->n_of_kind[DIGEST_INSTANT]);
	json_uint(&w->j, "n_flow_marks", t->n_of_kind[DIGEST_FLOW_MARK]);
	put_spans(w, "spans", &t->rows);
	put_busy(w, &t->busy);
	json_end_object(&w->j);
}

static void put_threads(struct writing *w, size_t plane)
{
	const struct groups *tracks = &w->tracks;

	json_begin_list(&w->j, "threads");
	for (size_t i = tracks->first[plane]; i != GROUPS_END; i = tracks->next[i])
		put_thread(w, &w->digest->tracks[i]);
	json_end_list(&w->j);
}

static void put_processes(struct writing *w)
{
	const struct view *view = w->digest->view;

	json_begin_list(&w->j, "processes");
	for (size_t i = 0; i < view->n_origins; i++) {
		const struct view_process *p = &view->origins[i];

		json_begin_object(&w->j, NULL);
		json_text(&w->j, "host", view->hosts[p->host].name);
		json_text(&w->j, "name", p->name);
		if (p->is_real)
			json_int(&w->j, "pid", p->pid);
		else
			json_nothing(&w->j, "pid");
		if (p->is_device)
			json_int(&w->j, "device", p->device);
		else
			json_nothing(&w->j, "device");
		json_uint(&w->j, "n_spans", w->digest->processes[i].n_spans);
		put_busy(w, &w->digest->processes[i].busy);
		json_end_object(&w->j);
	}
	json_end_list(&w->j);
}

/* --- planes -------------------------------------------------------------------------------- */

static void put_flows(struct writing *w, const struct flows *flows)
{
	json_begin_list(&w->j, "flows");
	for (size_t i = 0; i < count_shown(w, flows->n); i++) {
		json_begin_object(&w->j, NULL);
		json_text(&w->j, "name", get_name(w, flows->v[i].name));
		json_uint(&w->j, "out", flows->v[i].n_out);
		json_uint(&w->j, "in", flows->v[i].n_in);
		json_end_object(&w->j);
	}
	json_end_list(&w->j);
}

static void put_counter(struct writing *w, const struct gauge *c)
{
	json_begin_object(&w->j, NULL);
	json_text(&w->j, "name", get_name(w, c->name));
	json_uint(&w->j, "n", c->n);
	json_double(&w->j, "min", c->min);
	json_double(&w->j, "mean", c->mean);
	json_double(&w->j, "max", c->max);
	json_double(&w->j, "last", c->last);
	json_begin_list(&w->j, "means");
	for (size_t i = 0; i < COUNTER_SLOTS; i++)
		json_double(&w->j, NULL, c->n_of_slot[i] ? c->slots[i] : NAN);
	json_end_list(&w->j);
	json_end_object(&w->j);
}

static void put_counters(struct writing *w, const struct gauges *counters)
{
	json_begin_list(&w->j, "counters");
	for (size_t i = 0; i < count_shown(w, counters->n); i++)
		put_counter(w, &counters->v[i]);
	json_end_list(&w->j);
}

static void put_process_of(struct writing *w, const struct archive_plane *plane)
{
	_cleanup_free_ char *name = archive_plane_copy_text(plane, "ptap_process_name");
	int64_t pid = facts_get_pid(plane);

	json_text(&w->j, "process_name", name);
	if (pid >= 0)
		json_int(&w->j, "process_id", pid);
	else
		json_nothing(&w->j, "process_id");
}

static void put_loss(struct writing *w, const struct archive_plane *plane)
{
	const char *name;
	uint64_t count;

	json_begin_object(&w->j, "lost");
	for (size_t i = 0; i < plane->own.n; i++)
		if (facts_get_loss(plane, i, &name, &count))
			json_uint(&w->j, name, count);
	json_end_object(&w->j);
}

static int put_windows(struct writing *w, const struct archive_plane *plane)
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

static int put_plane(struct writing *w, size_t plane)
{
	const struct digest_plane *p = &w->digest->planes[plane];
	int rc;

	json_begin_object(&w->j, NULL);
	json_text(&w->j, "name", p->plane->name);
	json_int(&w->j, "id", p->plane->id);
	put_process_of(w, p->plane);
	put_loss(w, p->plane);
	rc = put_windows(w, p->plane);
	put_threads(w, plane);
	put_steps(w, &p->steps);
	put_asyncs(w, &p->asyncs);
	put_flows(w, &p->flows);
	put_counters(w, &p->counters);
	json_text(&w->j, "host", w->digest->view->hosts[p->host].name);
	json_end_object(&w->j);
	return rc;
}

static size_t get_plane_of(const void *digest, size_t track)
{
	const struct digest *g = digest;

	return digest_find_plane(g, g->tracks[track].track);
}

static int put_planes(struct writing *w)
{
	const struct digest *g = w->digest;
	int rc = groups_make(&w->tracks, g->n_planes, g->n_tracks, get_plane_of, g);

	json_begin_list(&w->j, "planes");
	for (size_t i = 0; i < g->n_planes && rc == 0; i++)
		rc = put_plane(w, i);
	json_end_list(&w->j);
	groups_deinit(&w->tracks);
	return rc;
}

/* --- the whole ----------------------------------------------------------------------------- */

static void put_session(struct writing *w)
{
	uint64_t start_unix_ns;
	uint64_t duration_ns;

	if (digest_get_session(w->digest->view, &start_unix_ns, &duration_ns)) {
		json_uint(&w->j, "start_unix_ns", start_unix_ns);
		json_uint(&w->j, "duration_ns", duration_ns);
	} else {
		json_nothing(&w->j, "start_unix_ns");
		json_nothing(&w->j, "duration_ns");
	}
}

static void put_names(struct writing *w, const char *key, const struct names *names)
{
	json_texts(&w->j, key, names->texts, names->n_texts);
}

static int put_head(struct writing *w)
{
	struct facts facts;
	int rc = facts_read(w->digest->view, &facts);

	json_text(&w->j, "path", w->options->title);
	put_session(w);
	put_names(w, "hostnames", &facts.hostnames);
	json_text(&w->j, "reason", facts.reason);
	json_begin_object(&w->j, "totals");
	report_write_json_totals(&w->j, &w->digest->totals);
	json_end_object(&w->j);
	put_names(w, "errors", &facts.errors);
	put_names(w, "warnings", &facts.warnings);
	facts_deinit(&facts);
	return rc;
}

static void put_tail(struct writing *w)
{
	const struct digest *g = w->digest;

	json_int(&w->j, "begin_ns", g->begin_ns);
	json_int(&w->j, "end_ns", g->end_ns);
	put_processes(w);
	put_spans(w, "names", &g->lists[LIST_SPANS]);
	put_spans(w, "kernels", &g->lists[LIST_KERNELS]);
	json_uint(&w->j, "derived_spans", g->rest.n_derived);
	put_names(w, "notes", &g->view->notes);
}

int report_write_json(struct digest *g, const struct report_options *options, FILE *out)
{
	struct writing w = {.digest = g, .options = options};
	int rc;

	digest_sort(g, options->sort);
	json_begin(&w.j, out);
	rc = put_head(&w);
	if (rc == 0)
		rc = put_planes(&w);
	put_tail(&w);
	json_end(&w.j);
	if (rc)
		return rc;
	return output_finish(out);
}
