/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chrome's trace event format, in the shape that jax.collect_profile leaves (but for the empty event at its end, which
 * importers take for an error): names and order of processes and threads, then events in microseconds. For
 * ui.perfetto.dev, chrome://tracing, and whatever else reads JSON.
 *
 * Pids are the view's. Where several hosts have the same, all but the first get one that is made up.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "trace/codec/chrome.h"
#include "trace/codec/codec.h"
#include "trace/codec/formats.h"
#include "trace/codec/sink.h"
#include "trace/model/idmap.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"

/* --- events -------------------------------------------------------------------------------- */

void chrome_begin(struct chrome *c, const char *phase, const char *name, int64_t tid)
{
	struct sink *s = c->sink;

	sink_text(s, c->n_events++ ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	sink_text(s, phase);
	sink_text(s, "\",\"pid\":");
	sink_int(s, c->pids[c->track->process]);
	sink_text(s, ",\"tid\":");
	sink_int(s, tid);
	sink_text(s, ",\"name\":");
	sink_json(s, name, strlen(name));
}

void chrome_end(struct chrome *c)
{
	sink_put(c->sink, '}');
}

static void put_sort_index(struct chrome *c, const char *name, int64_t tid, uint64_t index)
{
	chrome_begin(c, "M", name, tid);
	sink_printf(c->sink, ",\"args\":{\"sort_index\":%" PRIu64 "}", index);
	chrome_end(c);
}

/* The row of what another server saw of a thread also has the name of that server's file. */
static void name_row(struct chrome *c, int64_t tid)
{
	_cleanup_free_ char *name = NULL;

	if (view_track_is_second(c->track) && asprintf(&name, "%s %s", c->track->name,
						      view_track_get_source(c->view, c->track)) < 0)
		name = NULL;
	chrome_begin(c, "M", "thread_name", tid);
	sink_text(c->sink, ",\"args\":{\"name\":");
	sink_json(c->sink, name ? name : c->track->name, strlen(name ? name : c->track->name));
	sink_put(c->sink, '}');
	chrome_end(c);
	put_sort_index(c, "thread_sort_index", tid, (uint64_t)(c->track - c->view->tracks));
}

int64_t chrome_add_row(struct chrome *c)
{
	name_row(c, c->next_tid);
	return c->next_tid++;
}

/* --- processes ----------------------------------------------------------------------------- */

/* The first process of each pid keeps it; the made-up ones of different processes differ as it is. */
static int choose_pids(struct chrome *c)
{
	const struct view *v = c->view;
	struct idmap owners = {NULL};
	int rc = 0;

	for (size_t i = v->n_processes; i > 0 && rc == 0; i--)
		rc = idmap_add(&owners, v->processes[i - 1].pid, (uint32_t)(i - 1));
	idmap_sort(&owners);
	for (size_t i = 0; i < v->n_processes && rc == 0; i++) {
		int64_t pid = v->processes[i].pid;
		bool is_own = idmap_find(&owners, pid) == i;

		c->pids[i] = is_own ? pid : VIEW_MADE_UP + (int64_t)i;
		codec_lose(c->result, "processes of one pid on several hosts", !is_own);
	}
	idmap_deinit(&owners);
	return rc;
}

/* "train"; of several hosts, where no grouping says how they are called, "gpu7 train", and "gpu7 train [4242]" where the pid itself had to give way. */
static void put_process_name(struct chrome *c, const struct view_process *p)
{
	const char *host = c->view->hosts[p->host].name;
	char text[32] = "";
	_cleanup_free_ char *name = NULL;

	if (p->pid != c->pids[c->track->process])
		snprintf(text, sizeof text, " [%" PRId64 "]", p->pid);
	if (view_names_hosts(c->view) && asprintf(&name, "%s %s%s", host, p->name, text) < 0)
		name = NULL;
	sink_json(c->sink, name ? name : p->name, strlen(name ? name : p->name));
}

static void put_process(struct chrome *c)
{
	chrome_begin(c, "M", "process_name", c->track->tid);
	sink_text(c->sink, ",\"args\":{\"name\":");
	put_process_name(c, view_get_process(c->view, c->track));
	sink_put(c->sink, '}');
	chrome_end(c);
	put_sort_index(c, "process_sort_index", c->track->tid, c->track->process);
}

/* Of several tracks that a grouping draws as one row, the first: what others have would cross its spans. */
static bool has_own_row(const struct chrome *c)
{
	const struct view_track *t = c->track;

	return t == c->view->tracks || t[-1].process != t->process || t[-1].tid != t->tid;
}

static void put_names(struct chrome *c)
{
	const struct view *v = c->view;

	for (size_t i = 0; i < v->n_tracks; i++) {
		c->track = &v->tracks[i];
		if (i == 0 || c->track->process != c->track[-1].process)
			put_process(c);
		if (has_own_row(c))
			name_row(c, c->track->tid);
	}
}

/* --- the whole ----------------------------------------------------------------------------- */

/* Numbers that may be beyond what JavaScript holds are texts. */
static void put_member(struct sink *s, const char *name, int64_t value)
{
	sink_printf(s, ",\"%s\":\"%" PRId64 "\"", name, value);
}

static void put_head(struct chrome *c)
{
	uint64_t n_dropped = 0;

	for (size_t i = 0; i < c->view->n_archives; i++)
		n_dropped += c->view->hosts[i].n_dropped;
	sink_text(c->sink, "{\"displayTimeUnit\":\"ns\",\"metadata\":{\"highres-ticks\":true,"
			   "\"producer\":\"proftap " PACKAGE_VERSION "\"");
	if (c->view->epoch_ns)
		put_member(c->sink, "start-unix-ns", c->view->epoch_ns);
	if (c->shift_ns)
		put_member(c->sink, "shift-ns", c->shift_ns);
	if (n_dropped)
		put_member(c->sink, "dropped", (int64_t)n_dropped);
	sink_text(c->sink, "},\"traceEvents\":[");
}

static int put_item(void *chrome, const struct item *item)
{
	struct chrome *c = chrome;
	int rc = chrome_put_item(c, item);

	c->result->n_items += rc > 0;
	return rc < 0 ? rc : c->sink->error;
}

static int put_track(struct chrome *c, const struct view_track *track, struct diag *d)
{
	int rc;

	c->track = track;
	c->lanes = (struct lanes){.v = NULL};
	c->tid = has_own_row(c) ? track->tid : chrome_add_row(c);
	c->second_tid = c->next_tid;
	rc = cursor_read(c->view, track, put_item, c, d);
	lanes_deinit(&c->lanes);
	return rc;
}

static int write_all(struct chrome *c, struct diag *d)
{
	const struct view *v = c->view;
	int rc = choose_pids(c);

	if (rc)
		return rc;
	put_head(c);
	put_names(c);
	for (size_t i = 0; i < v->n_tracks && rc == 0; i++)
		rc = put_track(c, &v->tracks[i], d);
	sink_text(c->sink, "\n]}\n");
	return rc;
}

static int write_chrome(const struct view *v, const struct codec_options *options, struct sink *s,
	struct codec_result *result, struct diag *d)
{
	struct chrome c = {.view = v, .sink = s, .result = result};
	int rc = -ENOMEM;

	(void)options;
	c.shift_ns = codec_choose_shift(v);
	c.next_tid = VIEW_MADE_UP + (int64_t)v->n_tracks;
	c.pids = calloc(v->n_processes + 1, sizeof *c.pids);
	c.series = calloc((size_t)v->names.n_texts + 1, sizeof *c.series);
	if (c.pids && c.series)
		rc = write_all(&c, d);
	free(c.pids);
	free(c.series);
	return rc;
}

static const char *const aliases[] = {"json", NULL};

const struct codec codec_chrome = {
	.name = "chrome",
	.aliases = aliases,
	.suffix = ".trace.json.gz",
	.plain_suffix = ".json",
	.help = "Chrome's trace events in JSON, for ui.perfetto.dev and chrome://tracing",
	.write = write_chrome,
};
