/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQLite: a database with a row for every event with all its properties. proftap-sqlite(7)
 * describes its tables.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "trace/codec/codec.h"
#include "trace/codec/sqlite_rows.h"
#include "trace/codec/thread_samples.h"
#include "trace/read/archive.h"
#include "trace/read/cursor.h"
#include "trace/read/lanes.h"
#include "trace/read/view.h"

/* The spans of the track that is being read. */
struct track_spans {
	struct lanes lanes;
	struct lane_stacks open;
	int64_t first; /* the id of the track's first event - 1 */
};

struct database {
	const struct view *view;
	struct codec_result *result;
	struct sqlite_rows rows;
	struct names keys; /* keys of arguments; their index is the id */
	int64_t n_events; /* also the id of the last event */
	int64_t n_samples; /* of counters */
	int64_t n_cpu_samples;
	int64_t n_states;
	int64_t n_waits;
	size_t track; /* index of the track that is being read; the id of its row */
	struct track_spans spans;
};

/* --- facts --------------------------------------------------------------------------------- */

static void put_fact(struct sqlite_rows *r, const char *key, int64_t value)
{
	sqlite_row_begin(r, TABLE_TRACE);
	sqlite_row_text(r, key);
	sqlite_row_int(r, value);
	sqlite_row_end(r);
}

static void put_loss(struct sqlite_rows *r, uint32_t host, const char *what, uint64_t n)
{
	if (n == 0)
		return;
	sqlite_row_begin(r, TABLE_LOSS);
	sqlite_row_int(r, host);
	sqlite_row_text(r, what);
	sqlite_row_int(r, (int64_t)n);
	sqlite_row_end(r);
}

#define NO_HOST UINT32_MAX

static void put_warnings(
	struct sqlite_rows *r, uint32_t host, const char *severity, const struct names *texts)
{
	for (uint32_t i = 0; i < texts->n_texts; i++) {
		sqlite_row_begin(r, TABLE_WARNINGS);
		sqlite_row_known(r, host, NO_HOST);
		sqlite_row_text(r, severity);
		sqlite_row_text(r, texts->texts[i]);
		sqlite_row_end(r);
	}
}

static void put_host(struct sqlite_rows *r, const struct view_host *h, uint32_t id)
{
	sqlite_row_begin(r, TABLE_HOSTS);
	sqlite_row_int(r, id);
	sqlite_row_text(r, h->name);
	sqlite_row_text(r, h->stem);
	sqlite_row_known(r, h->epoch_ns, 0);
	sqlite_row_int(r, h->clock_offset_ns);
	sqlite_row_end(r);
	put_loss(r, id, "annotations", h->n_dropped);
	put_loss(r, id, "events without a time", h->archive->n_aggregated);
	put_warnings(r, id, "error", &h->archive->errors);
	put_warnings(r, id, "warning", &h->archive->warnings);
}

static void put_process(struct sqlite_rows *r, const struct view_process *p, size_t id)
{
	sqlite_row_begin(r, TABLE_PROCESSES);
	sqlite_row_int(r, (int64_t)id);
	sqlite_row_int(r, p->host);
	sqlite_row_int(r, p->pid);
	sqlite_row_int(r, p->is_real);
	sqlite_row_known(r, p->device, -1);
	sqlite_row_known(r, p->local_device, -1);
	sqlite_row_text(r, p->name);
	sqlite_row_end(r);
}

static void put_thread(struct sqlite_rows *r, const struct view_track *t, size_t id)
{
	static const char *const kinds[] = {
		[TRACK_THREAD] = "thread",
		[TRACK_STREAM] = "stream",
		[TRACK_ASYNC] = "async",
		[TRACK_COUNTERS] = "counters",
		[TRACK_SAMPLES] = "thread",
		[TRACK_STATES] = "thread",
	};

	sqlite_row_begin(r, TABLE_THREADS);
	sqlite_row_int(r, (int64_t)id);
	sqlite_row_int(r, t->process);
	sqlite_row_int(r, t->tid);
	sqlite_row_int(r, t->is_real);
	sqlite_row_text(r, kinds[t->kind]);
	sqlite_row_text(r, t->name);
	sqlite_row_end(r);
}

static void sqlite_put_names(
	struct sqlite_rows *r, enum sqlite_table table, const struct names *names)
{
	for (uint32_t i = 0; i < names->n_texts; i++) {
		sqlite_row_begin(r, table);
		sqlite_row_int(r, i);
		sqlite_row_text(r, names->texts[i]);
		sqlite_row_end(r);
	}
}

static void sqlite_put_facts(struct sqlite_rows *r, const struct view *v)
{
	put_fact(r, "epoch_ns", v->epoch_ns);
	put_fact(r, "first_ns", v->first_ns);
	put_fact(r, "end_ns", v->end_ns);
	for (uint32_t i = 0; i < v->n_archives; i++)
		put_host(r, &v->hosts[i], i);
	for (size_t i = 0; i < v->n_processes; i++)
		put_process(r, &v->processes[i], i);
	for (size_t i = 0; i < v->n_tracks; i++)
		put_thread(r, &v->tracks[i], i);
	sqlite_put_names(r, TABLE_NAMES, &v->names);
	put_warnings(r, NO_HOST, "note", &v->notes);
}

/* --- events -------------------------------------------------------------------------------- */

static void put_key(struct database *b, const struct item_arg *arg)
{
	uint32_t key = names_intern(&b->keys, arg->key, strlen(arg->key));

	if (key == NAMES_NONE && b->rows.error == 0)
		b->rows.error = -ENOMEM;
	sqlite_row_int(&b->rows, key);
}

static void put_args(struct database *b, const struct item *item)
{
	for (size_t i = 0; i < item->n_args; i++) {
		sqlite_row_begin(&b->rows, TABLE_ARGS);
		sqlite_row_int(&b->rows, b->n_events);
		put_key(b, &item->args[i]);
		sqlite_row_arg(&b->rows, &item->args[i]);
		sqlite_row_end(&b->rows);
	}
}

static void put_flow(struct database *b, uint64_t flow, bool is_end)
{
	if (flow == 0)
		return;
	sqlite_row_begin(&b->rows, TABLE_FLOWS);
	sqlite_row_int(&b->rows, (int64_t)flow);
	sqlite_row_int(&b->rows, b->n_events);
	sqlite_row_int(&b->rows, is_end);
	sqlite_row_end(&b->rows);
}

static void put_step(struct database *b, const struct item *item)
{
	if (!item->is_step)
		return;
	sqlite_row_begin(&b->rows, TABLE_STEPS);
	sqlite_row_int(&b->rows, b->n_events);
	sqlite_row_int(&b->rows, item->step_num);
	sqlite_row_end(&b->rows);
}

/*
 * Returns the open spans around the item: those on its own lane if it is a span, else those on
 * lane 0. NULL: out of memory.
 */
static struct lane_stack *find_enclosing_spans(struct track_spans *t, const struct item *item)
{
	int64_t lane = 0;
	struct lane_stack *open;
	struct lane_span closed;

	if (item->kind == ITEM_SPAN)
		lane = lanes_place(&t->lanes, item->start_ns, item->duration_ns);
	open = lane < 0 ? NULL : lane_stacks_get(&t->open, lane);
	while (open && lane_stack_close(open, item->start_ns, &closed))
		;
	return open;
}

static void put_parent(struct database *b, const struct lane_stack *open)
{
	const struct lane_span *parent = lane_stack_get(open);

	if (parent)
		sqlite_row_int(&b->rows, b->spans.first + parent->id);
	else
		sqlite_row_null(&b->rows);
	sqlite_row_int(&b->rows, (int64_t)open->n);
}

static int put_event(struct database *b, const struct item *item)
{
	struct sqlite_rows *r = &b->rows;
	struct lane_stack *open = find_enclosing_spans(&b->spans, item);

	if (!open)
		return -ENOMEM;
	sqlite_row_begin(r, TABLE_EVENTS);
	sqlite_row_int(r, ++b->n_events);
	sqlite_row_int(r, (int64_t)b->track);
	sqlite_row_text(r, codec_get_item_type(&b->view->tracks[b->track], item));
	sqlite_row_int(r, item->name);
	sqlite_row_int(r, item->start_ns);
	sqlite_row_known(r, item->kind == ITEM_SPAN ? item->duration_ns : -1, -1);
	put_parent(b, open);
	sqlite_row_int(r, item->is_unfinished);
	sqlite_row_end(r);
	put_step(b, item);
	put_flow(b, item->flow_in, true);
	put_flow(b, item->flow_out, false);
	put_args(b, item);
	return item->kind != ITEM_SPAN
		       ? 0
		       : lane_stack_push(open, (uint32_t)(b->n_events - b->spans.first),
				 item->start_ns, item->duration_ns);
}

/* --- samples of counters ------------------------------------------------------------------- */

static void put_value(struct database *b, const struct item *item, const struct item_arg *arg)
{
	sqlite_row_begin(&b->rows, TABLE_COUNTERS);
	sqlite_row_int(&b->rows, b->n_samples);
	sqlite_row_int(&b->rows, (int64_t)b->track);
	sqlite_row_int(&b->rows, item->name);
	sqlite_row_int(&b->rows, item->start_ns);
	if (arg) {
		put_key(b, arg);
		sqlite_row_arg(&b->rows, arg);
	} else {
		sqlite_row_null(&b->rows);
		sqlite_row_null(&b->rows);
	}
	sqlite_row_end(&b->rows);
}

/* Writes a row for each value of the sample. */
static void put_sample(struct database *b, const struct item *item)
{
	b->n_samples++;
	if (item->n_args == 0)
		put_value(b, item, NULL);
	for (size_t i = 0; i < item->n_args; i++)
		put_value(b, item, &item->args[i]);
}

/* --- samples of threads -------------------------------------------------------------------- */

/* The functions from the outermost, separated by semicolons; NULL: memory ran out. */
static char *join_functions(const struct stacks *s, uint32_t stack)
{
	uint32_t path[STACKS_MAX_DEPTH];
	size_t n = stacks_get_path(s, stack, path);
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	for (size_t i = 0; out && i < n; i++) {
		if (i)
			fputc(';', out);
		fputs(stacks_get_function(s, path[i]), out);
	}
	if (out && fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static int put_thread_sample(void *database, const struct thread_sample *sample)
{
	struct database *b = database;
	_cleanup_free_ char *stack = join_functions(&b->view->stacks, sample->item->stack);

	if (!stack)
		return -ENOMEM;
	sqlite_row_begin(&b->rows, sample->is_waiting ? TABLE_WAITS : TABLE_SAMPLES);
	sqlite_row_int(&b->rows, sample->is_waiting ? ++b->n_waits : ++b->n_cpu_samples);
	sqlite_row_int(&b->rows, (int64_t)b->track);
	sqlite_row_int(&b->rows, sample->item->start_ns);
	if (sample->is_waiting)
		sqlite_row_int(&b->rows, sample->item->duration_ns);
	sqlite_row_int(&b->rows, sample->weight_ns);
	sqlite_row_text(&b->rows, stack);
	sqlite_row_known(&b->rows, sample->item->stack, STACKS_NONE);
	sqlite_row_end(&b->rows);
	b->result->n_items++;
	return b->rows.error;
}

/* A thread without spans gets a row of its own, behind those of the tracks. */
static int put_samples(struct database *b, size_t i, struct diag *d)
{
	const struct view_track *samples = &b->view->samples[i];
	const struct view_track *row = thread_samples_find_row(b->view, samples, b->result);

	if (!row)
		return 0;
	b->track = view_track_get_number(b->view, row);
	if (row == samples)
		put_thread(&b->rows, samples, b->track);
	return thread_samples_read(b->view, samples, put_thread_sample, b, d);
}

static void put_stacks(struct database *b)
{
	const struct stacks *s = &b->view->stacks;

	for (size_t i = 0; i < s->n; i++) {
		sqlite_row_begin(&b->rows, TABLE_STACKS);
		sqlite_row_int(&b->rows, (int64_t)i);
		sqlite_row_known(&b->rows, s->v[i].callers, STACKS_NONE);
		sqlite_row_int(&b->rows, s->v[i].frame);
		sqlite_row_end(&b->rows);
	}
}

/* Writes NULL if the text is empty. */
static void put_known_text(struct sqlite_rows *r, const char *text)
{
	if (text[0])
		sqlite_row_text(r, text);
	else
		sqlite_row_null(r);
}

static void put_frame(struct sqlite_rows *r, const struct stacks *s, size_t i)
{
	static const struct stack_mapping no_file = {NAMES_NONE, NAMES_NONE};
	const struct stack_frame *f = &s->frames[i];
	const struct stack_mapping *m =
		f->mapping == STACKS_NONE ? &no_file : &s->mappings[f->mapping];

	sqlite_row_begin(r, TABLE_FRAMES);
	sqlite_row_int(r, (int64_t)i);
	sqlite_row_text(r, names_get(&s->texts, f->function));
	sqlite_row_text(r, names_get(&s->texts, f->raw_function));
	put_known_text(r, names_get(&s->texts, f->file));
	sqlite_row_known(r, f->line, 0);
	sqlite_row_int(r, f->is_inlined);
	put_known_text(r, names_get(&s->texts, m->path));
	put_known_text(r, names_get(&s->texts, m->build_id));
	sqlite_row_int(r, (int64_t)f->address);
	sqlite_row_end(r);
}

/* --- states of threads --------------------------------------------------------------------- */

static void put_state_arg(struct database *b, const struct item *item, const char *key)
{
	const struct item_arg *arg = item_find_arg(item, key);

	if (arg)
		sqlite_row_arg(&b->rows, arg);
	else
		sqlite_row_null(&b->rows);
}

static int put_state(void *database, const struct item *item)
{
	struct database *b = database;

	sqlite_row_begin(&b->rows, TABLE_STATES);
	sqlite_row_int(&b->rows, ++b->n_states);
	sqlite_row_int(&b->rows, (int64_t)b->track);
	sqlite_row_int(&b->rows, item->start_ns);
	sqlite_row_int(&b->rows, item->duration_ns);
	sqlite_row_text(&b->rows, names_get(&b->view->names, item->name));
	put_state_arg(b, item, "cpu");
	put_state_arg(b, item, "in");
	sqlite_row_end(&b->rows);
	b->result->n_items++;
	return b->rows.error;
}

/* A thread that has neither spans nor samples gets a row of its own. */
static int put_states(struct database *b, const struct view_track *states, struct diag *d)
{
	const struct view_track *row = thread_samples_find_row(b->view, states, b->result);

	if (!row)
		return 0;
	b->track = view_track_get_number(b->view, row);
	if (row == states)
		put_thread(&b->rows, states, b->track);
	return cursor_read(b->view, states, put_state, b, d);
}

/* --- the database -------------------------------------------------------------------------- */

static int put_item(void *database, const struct item *item)
{
	struct database *b = database;
	int r = 0;

	if (item->kind == ITEM_SAMPLE)
		put_sample(b, item);
	else
		r = put_event(b, item);
	b->result->n_items++;
	return r ? r : b->rows.error;
}

static int put_track(struct database *b, size_t track, struct diag *d)
{
	int r;

	b->track = track;
	b->spans = (struct track_spans){.first = b->n_events};
	r = cursor_read(b->view, &b->view->tracks[track], put_item, b, d);
	lane_stacks_deinit(&b->spans.open);
	lanes_deinit(&b->spans.lanes);
	return r;
}

static int fill_database(struct database *b, struct diag *d)
{
	int r = 0;

	sqlite_put_facts(&b->rows, b->view);
	for (size_t i = 0; i < b->view->n_tracks && r == 0; i++)
		r = put_track(b, i, d);
	for (size_t i = 0; i < b->view->n_samples && r == 0; i++)
		r = put_samples(b, i, d);
	for (size_t i = 0; i < b->view->n_states && r == 0; i++)
		r = put_states(b, &b->view->states[i], d);
	put_stacks(b);
	for (size_t i = 0; i < b->view->stacks.n_frames; i++)
		put_frame(&b->rows, &b->view->stacks, i);
	sqlite_put_names(&b->rows, TABLE_KEYS, &b->keys);
	return r ? r : sqlite_rows_finish(&b->rows);
}

static int write_sqlite(const struct view *v, const struct codec_options *options, const char *path,
	struct codec_result *result, struct diag *d)
{
	struct database b = {.view = v, .result = result};
	struct stat st;
	int r = sqlite_rows_open(&b.rows, path, d);

	(void)options;
	sqlite_rows_watch(&b.rows, v);
	if (r == 0)
		r = fill_database(&b, d);
	sqlite_rows_close(&b.rows);
	names_deinit(&b.keys);
	if (r == 0 && stat(path, &st) == 0)
		result->n_bytes = (uint64_t)st.st_size;
	return r;
}

static const char *const aliases[] = {"sqlite3", NULL};

const struct codec codec_sqlite = {
	.name = "sqlite",
	.aliases = aliases,
	.suffix = ".sqlite",
	.help = "a database, for SQL: see proftap-sqlite(7)",
	.needs_file = true,
	.write_file = write_sqlite,
};
