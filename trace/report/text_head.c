/* SPDX-License-Identifier: Apache-2.0 */
/* The head of the report: when and where, how much, and what went wrong; see text.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "base/cleanup.h"
#include "trace/quantity.h"
#include "trace/read/archive.h"
#include "trace/read/view.h"
#include "trace/report/digest.h"
#include "trace/report/facts.h"
#include "trace/report/report.h"
#include "trace/report/text.h"

#define MAX_HOSTS 16

static void put_session(struct text *t)
{
	char cell[PAGE_CELL_BYTES];
	char when[64];
	uint64_t start_unix_ns;
	uint64_t duration_ns;
	struct tm tm;
	time_t start_s;

	if (!digest_get_session(t->digest->view, &start_unix_ns, &duration_ns))
		return;
	start_s = (time_t)(start_unix_ns / 1000000000);
	if (!gmtime_r(&start_s, &tm) || !strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S UTC", &tm))
		return;
	fprintf(t->page.out, "recorded %s for %s\n", when,
		page_format_duration(cell, (int64_t)duration_ns));
}

/* Where that is not what was recorded. */
static void put_time(struct text *t)
{
	const struct digest *g = t->digest;
	const struct selection *s = g->view->selection;
	char begin[PAGE_CELL_BYTES];
	char end[PAGE_CELL_BYTES];
	uint64_t start_unix_ns;
	uint64_t duration_ns;
	bool is_known = digest_get_session(g->view, &start_unix_ns, &duration_ns);

	if (is_known && !(s && (s->from_ns != INT64_MIN || s->to_ns != INT64_MAX)))
		return;
	fprintf(t->page.out, "looked at: %s to %s\n", page_format_duration(begin, g->begin_ns),
		page_format_duration(end, g->end_ns));
}

static void put_hosts(struct text *t, const struct names *hosts)
{
	for (uint32_t i = 0; i < hosts->n_texts && i < MAX_HOSTS; i++) {
		page_put(&t->page, "%s", i ? ", " : hosts->n_texts > 1 ? "hosts " : "host ");
		page_put_text(&t->page, hosts->texts[i], 64);
	}
	if (hosts->n_texts > MAX_HOSTS)
		fprintf(t->page.out, " and %u more", hosts->n_texts - MAX_HOSTS);
	if (hosts->n_texts)
		page_end_line(&t->page);
}

static void put_processes(struct text *t)
{
	const struct view *view = t->digest->view;
	char label[TEXT_LABEL_BYTES];
	size_t n_devices = 0;

	for (size_t i = 0; i < view->n_origins; i++)
		n_devices += view->origins[i].is_device;
	if (view->n_origins == 1 && view->origins[0].is_real) {
		page_put(&t->page, "process ");
		page_put_text(&t->page, text_label_process(view, 0, label), 200);
		page_end_line(&t->page);
	} else if (view->n_origins > 1) {
		page_put(&t->page, "processes %zu", view->n_origins - n_devices);
		if (n_devices)
			fprintf(t->page.out, " · devices %zu", n_devices);
		page_end_line(&t->page);
	}
}

static void put_totals(struct text *t)
{
	const struct report_totals *n = &t->digest->totals;
	FILE *out = t->page.out;

	fprintf(out, "spans %s", quantity_count(n->n_spans).text);
	fprintf(out, " on %s %s", quantity_count(n->n_threads).text,
		n->n_threads == 1 ? "thread" : "threads");
	if (n->n_asyncs)
		fprintf(out, " · async spans %s", quantity_count(n->n_asyncs).text);
	if (n->n_instants)
		fprintf(out, " · instants %s", quantity_count(n->n_instants).text);
	if (n->n_flow_marks)
		fprintf(out, " · flow marks %s", quantity_count(n->n_flow_marks).text);
	fprintf(out, " · counters %s", quantity_count(n->n_counters).text);
	fprintf(out, " (%s samples)", quantity_count(n->n_counter_samples).text);
	fprintf(out, " · steps %s", quantity_count(n->n_steps).text);
	fprintf(out, " · dropped %s", quantity_count(n->n_dropped).text);
	if (n->n_unfinished)
		fprintf(out, " · unfinished %s", quantity_count(n->n_unfinished).text);
	page_end_line(&t->page);
}

static void put_messages(struct text *t, const char *kind, const struct names *texts)
{
	for (uint32_t i = 0; i < texts->n_texts; i++)
		page_put_message(&t->page, kind, texts->texts[i]);
}

static void put_loss(struct text *t, size_t plane)
{
	const struct archive_plane *p = t->digest->planes[plane].plane;
	char label[TEXT_LABEL_BYTES];
	char text[TEXT_LABEL_BYTES + 64];
	const char *name;
	uint64_t count;

	for (size_t i = 0; i < p->own.n; i++) {
		if (!facts_get_loss(p, i, &name, &count) || !count)
			continue;
		snprintf(text, sizeof text, "%.64s %s%s%s", name, quantity_count(count).text,
			t->digest->view->n_origins > 1 ? " of " : "",
			t->digest->view->n_origins > 1 ? text_label_plane(t, plane, label) : "");
		page_put_message(&t->page, "lost", text);
	}
}

static int put_windows(struct text *t, const struct archive_plane *plane)
{
	_cleanup_free_ char *text = facts_copy_windows(plane);
	const char *rest = text;
	char line[FACTS_WINDOW_BYTES];

	while (rest && facts_next_window(&rest, line))
		page_put_message(&t->page, "window", line);
	return text ? 0 : -ENOMEM;
}

static int put_facts(struct text *t, const struct facts *f)
{
	int rc = 0;

	put_hosts(t, &f->hostnames);
	put_processes(t);
	if (f->reason)
		page_put_message(&t->page, "reason", f->reason);
	put_totals(t);
	put_messages(t, "error", &f->errors);
	put_messages(t, "warning", &f->warnings);
	put_messages(t, "note", &t->digest->view->notes);
	for (size_t i = 0; i < t->digest->n_planes && rc == 0; i++) {
		put_loss(t, i);
		rc = put_windows(t, t->digest->planes[i].plane);
	}
	return rc;
}

int text_put_head(struct text *t)
{
	struct facts facts;
	int rc = facts_read(t->digest->view, &facts);

	if (t->options->title)
		page_put_text(&t->page, t->options->title, 4096);
	page_end_line(&t->page);
	put_session(t);
	put_time(t);
	if (rc == 0)
		rc = put_facts(t, &facts);
	facts_deinit(&facts);
	return rc;
}
