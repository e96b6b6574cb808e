/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the report for a terminal: the order of its parts, and their helpers. */
#include "trace/report/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "trace/read/archive.h"
#include "trace/read/view.h"
#include "trace/report/death.h"
#include "trace/report/digest.h"
#include "trace/report/facts.h"
#include "trace/report/functions.h"
#include "trace/report/launches.h"
#include "trace/report/output.h"
#include "trace/report/report.h"
#include "trace/report/slow.h"
#include "trace/report/states.h"

size_t text_get_most(const struct text *t)
{
	return t->options->n_top ? t->options->n_top : TEXT_TOP;
}

size_t text_count_shown(const struct text *t, size_t n)
{
	size_t n_most = text_get_most(t);

	return n < n_most ? n : n_most;
}

void text_put_rest(struct text *t, size_t n_left, const char *what)
{
	if (n_left)
		fprintf(t->page.out, "  … and %zu more %s%s; --top %zu shows all\n", n_left, what,
			n_left == 1 ? "" : "s", text_get_most(t) + n_left);
}

void text_format_cuts(const struct row *row, char out[TEXT_CUTS_BYTES])
{
	out[0] = '\0';
	if (row->n_unfinished && row->n_began_before)
		snprintf(out, TEXT_CUTS_BYTES, "[%" PRIu64 " unfinished, %" PRIu64 " began before]",
			row->n_unfinished, row->n_began_before);
	else if (row->n_unfinished)
		snprintf(out, TEXT_CUTS_BYTES, "[%" PRIu64 " unfinished]", row->n_unfinished);
	else if (row->n_began_before)
		snprintf(out, TEXT_CUTS_BYTES, "[%" PRIu64 " began before]", row->n_began_before);
}

int64_t text_get_tid(const struct view_track *track)
{
	return view_track_is_second(track) ? track->tid : track->line->id;
}

#define MAX_LABEL_NAME 400

static size_t find_label_length(const char *name)
{
	size_t n = strlen(name);

	if (n <= MAX_LABEL_NAME)
		return n;
	/* The label must not end in the middle of a character. */
	for (n = MAX_LABEL_NAME; n && ((unsigned char)name[n] & 0xc0) == 0x80;)
		n--;
	return n;
}

static const char *format_label(const struct view *view, size_t host, const char *name, int64_t pid,
	char text[TEXT_LABEL_BYTES])
{
	const char *at = view->n_archives > 1 ? view->hosts[host].name : "";
	char id[32] = "";
	size_t n_name = find_label_length(name);
	size_t n_at = find_label_length(at);

	if (pid > 0)
		snprintf(id, sizeof id, " (%" PRId64 ")", pid);
	snprintf(text, TEXT_LABEL_BYTES, "%.*s%s%s%s%.*s%s", (int)n_name, name,
		name[n_name] ? "…" : "", id, *at ? " at " : "", (int)n_at, at, at[n_at] ? "…" : "");
	return text;
}

const char *text_label_process(const struct view *view, size_t origin, char text[TEXT_LABEL_BYTES])
{
	const struct view_process *p = &view->origins[origin];

	return format_label(view, p->host, p->name, p->is_real ? p->pid : 0, text);
}

const char *text_label_plane(const struct text *t, size_t plane, char text[TEXT_LABEL_BYTES])
{
	const struct digest_plane *p = &t->digest->planes[plane];
	_cleanup_free_ char *name = archive_plane_copy_text(p->plane, "ptap_process_name");

	return format_label(t->digest->view, p->host, name ? name : p->plane->name,
		facts_get_pid(p->plane), text);
}

int report_write_text(struct digest *g, const struct report_options *options, FILE *out)
{
	static void (*const parts[])(struct text * t) = {
		text_put_slow,
		text_put_steps,
		text_put_names,
		text_put_span_functions,
		text_put_functions,
		text_put_waiting_functions,
		text_put_kernels,
		text_put_launches,
		text_put_devices,
		text_put_threads,
		text_put_states,
		text_put_idle,
		text_put_asyncs,
		text_put_flows,
		text_put_counters,
		text_put_each_thread,
	};
	_cleanup_(slow_freep) struct slow *slow = NULL;
	_cleanup_(launcher_list_deinit) struct launcher_list launches = {.v = NULL};
	_cleanup_(functions_deinit) struct functions functions = {.n_spans = 0};
	_cleanup_(state_list_deinit) struct state_list states = {.n = 0};
	struct text t = {.digest = g,
		.options = options,
		.launches = &launches,
		.functions = &functions,
		.states = &states};
	int r = slow_make(g, options->slow, &slow, NULL);

	if (r == 0)
		r = launcher_list_make(g, &launches, NULL);
	if (r == 0)
		r = functions_make(g, &functions, NULL);
	if (r == 0)
		r = state_list_make(g, &states, NULL);
	if (r)
		return r;
	g->totals.n_cpu_samples = functions.ran.n_samples;
	t.slow = slow;
	digest_sort(g, options->sort);
	page_init(&t.page, out, options->width, options->has_color);
	r = death_write_text(g, out);
	if (r == 0)
		r = text_put_head(&t);
	for (size_t i = 0; i < sizeof parts / sizeof parts[0] && r == 0; i++)
		parts[i](&t);
	page_deinit(&t.page);
	if (r)
		return r;
	return output_finish(out);
}
