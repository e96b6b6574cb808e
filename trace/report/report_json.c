/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as one JSON object; see report.h. Keys are stable; times are integers in nanoseconds;
 * what is unknown is null or an empty list, never left out.
 */
#include "trace/report/report_json_parts.h"

#include "base/cleanup.h"
#include "trace/json.h"
#include "trace/read/view.h"
#include "trace/report/death.h"
#include "trace/report/digest.h"
#include "trace/report/facts.h"
#include "trace/report/launches.h"
#include "trace/report/output.h"
#include "trace/report/report.h"
#include "trace/report/report_json.h"
#include "trace/report/slow.h"

static void put_processes(struct report_json *w)
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
		if (p->descendant_of)
			json_int(&w->j, "descendant_of", p->descendant_of);
		else
			json_nothing(&w->j, "descendant_of");
		json_uint(&w->j, "n_spans", w->digest->processes[i].n_spans);
		report_json_put_busy(w, &w->digest->processes[i].busy);
		json_end_object(&w->j);
	}
	json_end_list(&w->j);
}

/* --- the whole ----------------------------------------------------------------------------- */

static void put_session(struct report_json *w)
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

static void put_names(struct report_json *w, const char *key, const struct names *names)
{
	json_texts(&w->j, key, names->texts, names->n_texts);
}

static int put_head(struct report_json *w)
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

static void put_tail(struct report_json *w)
{
	const struct digest *g = w->digest;

	json_int(&w->j, "begin_ns", g->begin_ns);
	json_int(&w->j, "end_ns", g->end_ns);
	put_processes(w);
	report_json_put_spans(w, "names", &g->lists[LIST_SPANS]);
	report_json_put_spans(w, "kernels", &g->lists[LIST_KERNELS]);
	json_uint(&w->j, "derived_spans", g->rest.n_derived);
	put_names(w, "notes", &g->view->notes);
	report_json_put_complete(&w->j, g);
}

int report_write_json(struct digest *g, const struct report_options *options, FILE *out)
{
	struct report_json w = {.digest = g, .options = options};
	_cleanup_(slow_freep) struct slow *slow = NULL;
	_cleanup_(launches_deinit) struct launches launches = {.v = NULL};
	int rc = slow_make(g, options->slow, &slow, NULL);

	if (rc == 0)
		rc = launches_make(g, &launches, NULL);
	if (rc)
		return rc;
	w.slow = slow;
	digest_sort(g, options->sort);
	json_begin(&w.j, out);
	rc = put_head(&w);
	if (rc == 0)
		rc = report_json_put_planes(&w);
	if (rc == 0)
		rc = death_write_json(g, &w.j);
	put_tail(&w);
	report_json_put_slow(&w);
	report_json_put_launches(&w, &launches);
	json_end(&w.j);
	if (rc)
		return rc;
	return output_finish(out);
}
