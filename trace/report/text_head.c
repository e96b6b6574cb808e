/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the head of the report: time, hosts, programs, totals, and losses. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
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

void report_put_complete(const struct digest *g, const char *indent, FILE *out)
{
	char since[PAGE_CELL_BYTES];

	if (g->complete_ns == INT64_MIN)
		return;
	page_format_duration(since, g->complete_ns);
	if (g->view->selection == &g->selection)
		fprintf(out,
			"%sall threads are complete from %s on; --whole covers all of the time\n",
			indent, since);
	else if (g->complete_ns > g->begin_ns && g->complete_ns < g->end_ns)
		fprintf(out, "%sbefore %s some threads are incomplete: their numbers are too low\n",
			indent, since);
	else if (g->complete_ns >= g->end_ns)
		fprintf(out,
			"%sthe threads are never complete all at the same time: numbers are too low\n",
			indent);
}

/* Writes the time that the digest covers, unless it covers the recordings as a whole. */
static void put_time(struct text *t)
{
	const struct digest *g = t->digest;
	const struct selection *s = g->view->selection;
	char begin[PAGE_CELL_BYTES];
	char end[PAGE_CELL_BYTES];
	uint64_t start_unix_ns;
	uint64_t duration_ns;
	bool is_known = digest_get_session(g->view, &start_unix_ns, &duration_ns);

	if (!is_known || (s && (s->from_ns != INT64_MIN || s->to_ns != INT64_MAX)))
		fprintf(t->page.out, "looked at: %s to %s\n",
			page_format_duration(begin, g->begin_ns),
			page_format_duration(end, g->end_ns));
	report_put_complete(g, "  ", t->page.out);
}

/* Writes the host's name. Begins a new line if the name may not fit on the current one. */
static void put_host(struct page *p, const char *name)
{
	if (p->column + 2 + strlen(name) > p->width) {
		page_end_line(p);
		page_put(p, " ");
	}
	page_put(p, " ");
	page_put_text(p, name, p->width - p->column);
}

static void put_hosts(struct text *t, const struct names *hosts)
{
	uint32_t n_shown = hosts->n_texts < MAX_HOSTS ? hosts->n_texts : MAX_HOSTS;
	char rest[32];

	if (!n_shown)
		return;
	page_put(&t->page, "host%s", hosts->n_texts > 1 ? "s" : "");
	for (uint32_t i = 0; i < n_shown; i++) {
		page_put(&t->page, "%s", i ? "," : "");
		put_host(&t->page, hosts->texts[i]);
	}
	snprintf(rest, sizeof rest, "and %u more", hosts->n_texts - n_shown);
	if (hosts->n_texts > n_shown)
		put_host(&t->page, rest);
	page_end_line(&t->page);
}

static void put_processes(struct text *t)
{
	const struct view *view = t->digest->view;
	char label[TEXT_LABEL_BYTES];
	size_t n_devices = 0;
	size_t n_descendants = 0;
	size_t n_recorded;

	for (size_t i = 0; i < view->n_origins; i++) {
		n_devices += view->origins[i].is_device;
		n_descendants += view->origins[i].descendant_of != 0;
	}
	n_recorded = view->n_origins - n_devices - n_descendants;
	/* origins[0] is the program; its descendants follow. */
	if (n_recorded == 1 && !n_devices && view->origins[0].is_real) {
		page_put(&t->page, "process ");
		page_put_text(&t->page, text_label_process(view, 0, label),
			t->page.width - t->page.column);
		page_end_line(&t->page);
	} else if (view->n_origins > 1) {
		page_put_part(&t->page, "processes %zu", n_recorded);
		if (n_devices)
			page_put_part(&t->page, "devices %zu", n_devices);
		page_end_line(&t->page);
	}
	if (n_descendants) {
		page_put_part(&t->page,
			"descendants %zu (not recorded; only their usage counters are here)",
			n_descendants);
		page_end_line(&t->page);
	}
}

static void put_total(struct page *p, const char *what, uint64_t n)
{
	if (n)
		page_put_part(p, "%s %s", what, quantity_count(n).text);
}

static void put_totals(struct text *t)
{
	const struct report_totals *n = &t->digest->totals;
	struct page *p = &t->page;

	page_put_part(p, "spans %s on %s thread%s", quantity_count(n->n_spans).text,
		quantity_count(n->n_threads).text, n->n_threads == 1 ? "" : "s");
	put_total(p, "of devices", n->n_device_spans);
	put_total(p, "async spans", n->n_asyncs);
	put_total(p, "instants", n->n_instants);
	put_total(p, "flow marks", n->n_flow_marks);
	page_put_part(p, "counters %s (%s samples)", quantity_count(n->n_counters).text,
		quantity_count(n->n_counter_samples).text);
	put_total(p, "CPU samples", n->n_cpu_samples);
	page_put_part(p, "steps %s", quantity_count(n->n_steps).text);
	page_put_part(p, "dropped %s", quantity_count(n->n_dropped).text);
	put_total(p, "unfinished", n->n_unfinished);
	put_total(p, "derived", t->digest->rest.n_derived);
	page_end_line(p);
}

static void put_messages(struct text *t, const char *kind, const struct names *texts)
{
	for (uint32_t i = 0; i < texts->n_texts; i++)
		page_put_message(&t->page, kind, texts->texts[i]);
}

/*
 * True if the plane has losses by reason. Their sum, "dropped_traces", is then left out: it would
 * look like a further loss.
 */
static bool has_reasons(const struct archive_plane *plane)
{
	const char *name;
	uint64_t count;

	for (size_t i = 0; i < plane->own.n; i++)
		if (facts_get_loss(plane, i, &name, &count) && count &&
			strncmp(name, "ptap_lost_", 10) == 0)
			return true;
	return false;
}

static void put_loss(struct text *t, size_t plane)
{
	const struct archive_plane *p = t->digest->planes[plane].plane;
	char label[TEXT_LABEL_BYTES];
	const char *name;
	uint64_t count;

	for (size_t i = 0; i < p->own.n; i++) {
		_cleanup_free_ char *text = NULL;

		if (!facts_get_loss(p, i, &name, &count) || !count ||
			(strcmp(name, "dropped_traces") == 0 && has_reasons(p)))
			continue;
		if (asprintf(&text, "%s %s%s%s", name, quantity_count(count).text,
			    t->digest->view->n_origins > 1 ? " of " : "",
			    t->digest->view->n_origins > 1 ? text_label_plane(t, plane, label)
							   : "") < 0)
			text = NULL;
		page_put_message(&t->page, "lost", text ? text : name);
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
	int r = 0;

	put_hosts(t, &f->hostnames);
	put_processes(t);
	if (f->reason)
		page_put_message(&t->page, "reason", f->reason);
	put_totals(t);
	put_messages(t, "error", &f->errors);
	put_messages(t, "warning", &f->warnings);
	put_messages(t, "note", &t->digest->view->notes);
	for (size_t i = 0; i < t->digest->n_planes && r == 0; i++) {
		put_loss(t, i);
		r = put_windows(t, t->digest->planes[i].plane);
	}
	return r;
}

int text_put_head(struct text *t)
{
	struct facts facts;
	int r = facts_read(t->digest->view, &facts);

	if (t->options->title)
		page_put_text(&t->page, t->options->title, 4096);
	page_end_line(&t->page);
	put_session(t);
	put_time(t);
	if (r == 0)
		r = put_facts(t, &facts);
	facts_deinit(&facts);
	return r;
}
