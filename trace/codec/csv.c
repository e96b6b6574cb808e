/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CSV (RFC 4180): a row for every event and sample with all its properties, for spreadsheets and
 * data frames. The last four columns are those of samples.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trace/codec/arg_json.h"
#include "trace/codec/codec.h"
#include "trace/codec/sink.h"
#include "trace/codec/thread_samples.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/report/digest.h"
#include "trace/report/report.h"

struct csv {
	const struct view *view;
	const struct view_track *track; /* being read */
	struct sink *sink;
	struct codec_result *result;
	struct sink text; /* arguments as JSON, or a stack, before they are quoted */
};

/* --- fields, each with the comma behind it ------------------------------------------------- */

static void put_text(struct csv *w, const char *text)
{
	sink_csv(w->sink, text, strlen(text));
	sink_put(w->sink, ',');
}

static void put_number(struct csv *w, int64_t value, bool is_known)
{
	if (is_known)
		sink_int(w->sink, value);
	sink_put(w->sink, ',');
}

static void put_place(struct csv *w)
{
	const struct view_track *track = w->track;
	const struct view_process *p = view_get_process(w->view, track);

	put_text(w, w->view->hosts[p->host].name);
	put_text(w, p->name);
	put_number(w, p->pid, true);
	put_text(w, track->name);
	put_number(w, view_track_get_tid(track), true);
	put_number(w, p->device, p->device >= 0);
}

/* Writes the text in w->text as a field without a comma, and removes it. */
static void put_made_text(struct csv *w)
{
	size_t n;
	const uint8_t *text = sink_get_memory(&w->text, &n);

	if (text)
		sink_csv(w->sink, (const char *)text, n);
	else
		w->sink->error = w->text.error;
	sink_clear_memory(&w->text);
}

/* Writes the fields up to the duration. */
static void put_head(struct csv *w, const struct item *item)
{
	sink_text(w->sink, codec_get_item_type(w->track, item));
	sink_put(w->sink, ',');
	put_place(w);
	put_text(w, names_get(&w->view->names, item->name));
	put_number(w, item->start_ns, true);
	put_number(w, item->duration_ns, item->kind == ITEM_SPAN || item->duration_ns);
}

static int put_item(void *csv, const struct item *item)
{
	struct csv *w = csv;

	put_head(w, item);
	put_number(w, item->step_num, item->is_step);
	put_number(w, (int64_t)item->flow_in, item->flow_in != 0);
	put_number(w, (int64_t)item->flow_out, item->flow_out != 0);
	if (item->n_args) {
		arg_json_object(&w->text, item, arg_json_value);
		put_made_text(w);
	}
	sink_text(w->sink, ",,,,\r\n");
	w->result->n_items++;
	return w->sink->error;
}

/* --- samples ------------------------------------------------------------------------------- */

/* Writes the functions from the outermost, separated by semicolons, as the last field. */
static void put_stack(struct csv *w, uint32_t stack)
{
	const struct stacks *s = &w->view->stacks;
	uint32_t path[STACKS_MAX_DEPTH];
	size_t n = stacks_get_path(s, stack, path);

	for (size_t i = 0; i < n; i++) {
		if (i)
			sink_put(&w->text, ';');
		sink_text(&w->text, stacks_get_function(s, path[i]));
	}
	put_made_text(w);
}

static int put_sample(void *csv, const struct thread_sample *sample)
{
	struct csv *w = csv;
	int64_t cpu = thread_sample_find_cpu(sample->item);
	bool has_span = sample->span != NAMES_NONE;

	put_head(w, sample->item);
	put_number(w, sample->step_num, sample->has_step);
	sink_text(w->sink, ",,,"); /* no flows and no arguments */
	put_number(w, sample->weight_ns, true);
	put_number(w, cpu, cpu >= 0);
	put_text(w, has_span ? names_get(&w->view->names, sample->span) : "");
	put_stack(w, sample->item->stack);
	sink_text(w->sink, "\r\n");
	w->result->n_items++;
	return w->sink->error;
}

static int put_states(struct csv *w, const struct view_track *track, struct diag *d)
{
	w->track = thread_samples_find_row(w->view, track, w->result);
	return w->track ? cursor_read(w->view, track, put_item, w, d) : 0;
}

static int put_samples(struct csv *w, const struct view_track *track, struct diag *d)
{
	w->track = thread_samples_find_row(w->view, track, w->result);
	return w->track ? thread_samples_read(w->view, track, put_sample, w, d) : 0;
}

/* --- the file ------------------------------------------------------------------------------ */

static int write_csv(const struct view *v, const struct codec_options *options, struct sink *s,
	struct codec_result *result, struct diag *d)
{
	struct csv w = {.view = v, .sink = s, .result = result};
	int r = sink_init_memory(&w.text);

	(void)options;
	sink_text(s, "type,host,process,pid,thread,tid,device,name,start_ns,duration_ns,step,"
		     "flow_in,flow_out,args,weight_ns,cpu,span,stack\r\n");
	for (size_t i = 0; i < v->n_tracks && r == 0; i++) {
		w.track = &v->tracks[i];
		r = cursor_read(v, w.track, put_item, &w, d);
	}
	for (size_t i = 0; i < v->n_samples && r == 0; i++)
		r = put_samples(&w, &v->samples[i], d);
	for (size_t i = 0; i < v->n_states && r == 0; i++)
		r = put_states(&w, &v->states[i], d);
	sink_deinit(&w.text);
	return r;
}

const struct codec codec_csv = {
	.name = "csv",
	.suffix = ".csv",
	.help = "a row for each event and sample, for spreadsheets",
	.write = write_csv,
};

/* --- the table of names ----------------------------------------------------------------------- */

/*
 * CSV (RFC 4180): a row for every name with the sums of its spans, as proftap report --csv prints
 * it.
 */

static uint64_t count_items(const struct rows *rows)
{
	uint64_t n = 0;

	for (size_t i = 0; i < rows->n; i++)
		n += rows->v[i].count;
	return n;
}

static void count_summary(const struct digest *g, struct codec_result *result)
{
	for (int i = 0; i < DIGEST_LISTS; i++)
		result->n_items += count_items(&g->lists[i]);
	codec_lose(result, "counter samples", g->rest.n_samples);
	codec_lose(result, "ends of flows", g->rest.n_flow_ends);
	codec_lose(result, "arguments", g->rest.n_args);
	codec_lose(result, "spans on derived lines", g->rest.n_derived);
}

static int put_rows(struct digest *g, struct sink *s)
{
	static const struct report_options all = {.sort = ROW_SELF};
	FILE *stream = sink_open_stream(s);
	int r = stream ? report_write_csv(g, &all, stream) : -ENOMEM;

	if (stream && fclose(stream) && r == 0)
		r = -EIO;
	return s->error ? s->error : r;
}

static int write_summary(const struct view *v, const struct codec_options *options, struct sink *s,
	struct codec_result *result, struct diag *d)
{
	struct digest *g = NULL;
	int r = digest_make(v, &g, d);

	(void)options;
	if (r == 0) {
		count_summary(g, result);
		r = put_rows(g, s);
	}
	digest_free(g);
	return r;
}

const struct codec codec_csv_summary = {
	.name = "csv-summary",
	.suffix = "_summary.csv",
	.help = "a row for each name, as report --csv prints it",
	.write = write_summary,
};
