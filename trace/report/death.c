/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes the open spans of programs that ended, or whose flight recorder was read. */
#include "trace/report/death.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/grow.h"
#include "base/printable.h"
#include "trace/json.h"
#include "trace/read/archive.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/report/digest.h"
#include "trace/report/facts.h"
#include "trace/report/page.h"

/* The library records no deeper stacks. */
#define MAX_SPANS 128
#define MAX_TEXT 4096
/*
 * The text shows at most this many threads of a program that went on, namely those with the oldest
 * innermost spans, and at most as many of its async spans.
 */
#define MAX_ALIVE_THREADS 8
#define MAX_GOOD_ENDS 4 /* the most programs that put_good_ends() names */

struct death_arg {
	char *key;
	char *text; /* the value as text */
	enum stat_type type;
	int64_t i64;
	uint64_t u64;
	double f64;
};

struct death_span {
	uint32_t name;
	int64_t age_ns; /* time from its start to the program's end, or to the snapshot */
	bool is_step;
	int64_t step_num;
	struct death_arg *args;
	size_t n_args;
};

struct death_thread {
	const struct view_track *track;
	struct death_span *spans; /* outermost first */
	size_t n_spans;
	size_t n_allocated;
};

/* The end of one program, or the snapshot of a running one. */
struct death {
	const struct digest *digest;
	const struct digest_plane *plane;
	char *ending; /* "killed by SIGSEGV"; NULL: the program went on after the snapshot */
	char *name; /* name of the program; NULL: not known */
	char *signal_thread; /* why |signal_tid| is not known; NULL: no reason */
	int64_t signal_tid; /* -1: not known */
	/* The thread that received the signal, then the others, the oldest innermost span first */
	struct death_thread *threads;
	size_t n_threads;
	size_t n_allocated;
	struct death_thread asyncs; /* async spans, which any thread may end; oldest first */
};

static void death_thread_deinit(struct death_thread *t)
{
	for (size_t k = 0; k < t->n_spans; k++) {
		struct death_span *s = &t->spans[k];

		for (size_t a = 0; a < s->n_args; a++) {
			free(s->args[a].key);
			free(s->args[a].text);
		}
		free(s->args);
	}
	free(t->spans);
}

static void death_deinit(struct death *d)
{
	for (size_t i = 0; i < d->n_threads; i++)
		death_thread_deinit(&d->threads[i]);
	death_thread_deinit(&d->asyncs);
	free(d->threads);
	free(d->ending);
	free(d->name);
	free(d->signal_thread);
}

/* --- reading ------------------------------------------------------------------------------- */

static int copy_arg(const struct item_arg *from, struct death_arg *to)
{
	*to = (struct death_arg){.type = from->type, .key = strdup(from->key)};
	switch (from->type) {
	case STAT_INT64:
		to->i64 = from->value.i64;
		break;
	case STAT_UINT64:
		to->u64 = from->value.u64;
		break;
	case STAT_DOUBLE:
		to->f64 = from->value.f64;
		break;
	default:
		to->text = strndup(from->text ? from->text : "",
			from->n_bytes < MAX_TEXT ? from->n_bytes : MAX_TEXT);
		if (!to->text)
			return -ENOMEM;
		printable_clean(to->text);
		break;
	}
	if (!to->key)
		return -ENOMEM;
	printable_clean(to->key);
	return 0;
}

/* True if the output has it elsewhere (step_num), or implies it (unfinished). */
static bool arg_is_shown(const struct item_arg *arg)
{
	return strcmp(arg->key, "unfinished") == 0 || strcmp(arg->key, "step_num") == 0;
}

static int copy_args(const struct item *item, struct death_span *span)
{
	int r = 0;

	span->args = item->n_args ? calloc(item->n_args, sizeof *span->args) : NULL;
	if (item->n_args && !span->args)
		return -ENOMEM;
	for (size_t i = 0; i < item->n_args && !r; i++)
		if (!arg_is_shown(&item->args[i]))
			r = copy_arg(&item->args[i], &span->args[span->n_args++]);
	return r;
}

static int take_item(void *context, const struct item *item)
{
	struct death_thread *t = context;
	struct death_span *span;

	if (item->kind != ITEM_SPAN || !item->is_unfinished || t->n_spans == MAX_SPANS)
		return 0;
	if (grow(&t->spans, &t->n_allocated, t->n_spans + 1))
		return -ENOMEM;
	span = &t->spans[t->n_spans++];
	*span = (struct death_span){.name = item->name,
		.age_ns = item->duration_ns,
		.is_step = item->is_step,
		.step_num = item->step_num};
	return copy_args(item, span);
}

static int take_track(
	struct death *d, const struct view *view, const struct view_track *track, struct diag *diag)
{
	struct death_thread *t;
	int r;

	if (grow(&d->threads, &d->n_allocated, d->n_threads + 1))
		return -ENOMEM;
	t = &d->threads[d->n_threads++];
	*t = (struct death_thread){.track = track};
	r = cursor_read(view, track, take_item, t, diag);
	if (!r && !t->n_spans && track->tid != d->signal_tid)
		d->n_threads--;
	return r;
}

static int compare_threads(const void *left, const void *right)
{
	const struct death_thread *a = left, *b = right;
	int64_t age_a = a->n_spans ? a->spans[a->n_spans - 1].age_ns : -1;
	int64_t age_b = b->n_spans ? b->spans[b->n_spans - 1].age_ns : -1;

	if (age_a != age_b)
		return age_a < age_b ? 1 : -1;
	return (a->track->tid > b->track->tid) - (a->track->tid < b->track->tid);
}

static int compare_ages(const void *left, const void *right)
{
	const struct death_span *a = left, *b = right;

	return (a->age_ns < b->age_ns) - (a->age_ns > b->age_ns);
}

/* Sorts the threads: first the one that received the signal. Sorts the async spans by age. */
static void sort_threads(struct death *d)
{
	if (d->asyncs.n_spans)
		qsort(d->asyncs.spans, d->asyncs.n_spans, sizeof *d->asyncs.spans, compare_ages);
	if (d->n_threads)
		qsort(d->threads, d->n_threads, sizeof *d->threads, compare_threads);
	for (size_t i = 1; i < d->n_threads; i++)
		if (d->threads[i].track->tid == d->signal_tid) {
			struct death_thread first = d->threads[i];

			memmove(&d->threads[1], &d->threads[0], i * sizeof first);
			d->threads[0] = first;
		}
}

/*
 * Reads the plane |i|. Returns 1 if its program ended; with |is_alive|, returns 1 if it did not
 * end, and spans were open when its flight recorder was read. The caller then frees |d| with
 * death_deinit(). Returns 0 otherwise, or a negative errno.
 */
static int read_death(const struct digest *g, size_t i, bool is_alive, struct death *d)
{
	const struct archive_plane *plane = g->planes[i].plane;
	struct diag diag = DIAG_INIT;
	struct view whole = *g->view;
	int r = 0;

	*d = (struct death){.digest = g, .plane = &g->planes[i], .signal_tid = -1};
	/* An age counts from the start of its span, even if that is before the digest's time. */
	whole.clips_spans = false;
	if (is_alive == (archive_plane_find(plane, "ptap_ended") != NULL) ||
		(is_alive && !archive_plane_find(plane, "ptap_recorder_windows")))
		return 0;
	d->ending = archive_plane_copy_text(plane, "ptap_ended");
	d->name = archive_plane_copy_text(plane, "ptap_process_name");
	d->signal_thread = archive_plane_copy_text(plane, "ptap_signal_thread");
	if (archive_plane_find(plane, "ptap_signal_tid"))
		d->signal_tid = archive_plane_find_int(plane, "ptap_signal_tid");
	for (size_t k = 0; k < g->view->n_tracks && !r; k++) {
		const struct view_track *track = &g->view->tracks[k];

		if (track->is_derived || track->plane != plane)
			continue;
		if (track->kind == TRACK_THREAD)
			r = take_track(d, &whole, track, &diag);
		else if (track->kind == TRACK_ASYNC)
			r = cursor_read(&whole, track, take_item, &d->asyncs, &diag);
	}
	sort_threads(d);
	if (!r && (d->n_threads || d->asyncs.n_spans || !is_alive))
		return 1;
	death_deinit(d);
	return r;
}

/* --- text ---------------------------------------------------------------------------------- */

static void put_clean(const char *text, FILE *out)
{
	_cleanup_free_ char *copy = strdup(text);

	if (!copy)
		return;
	printable_clean(copy);
	fputs(copy, out);
}

static void put_arg(const struct death_arg *a, FILE *out)
{
	fprintf(out, " %s=", a->key);
	if (a->type == STAT_INT64)
		fprintf(out, "%" PRId64, a->i64);
	else if (a->type == STAT_UINT64)
		fprintf(out, "%" PRIu64, a->u64);
	else if (a->type == STAT_DOUBLE)
		fprintf(out, "%.6g", a->f64);
	else
		fputs(a->text, out);
}

static void put_span(const struct death *d, const struct death_span *s, size_t depth, FILE *out)
{
	char age[PAGE_CELL_BYTES];

	fprintf(out, "  %10s  %*s", page_format_duration(age, s->age_ns), (int)(2 * depth), "");
	put_clean(names_get(&d->digest->view->names, s->name), out);
	if (s->is_step)
		fprintf(out, " %" PRId64, s->step_num);
	for (size_t i = 0; i < s->n_args; i++)
		put_arg(&s->args[i], out);
	fputc('\n', out);
}

static void put_thread_name(const struct view_track *track, FILE *out)
{
	put_clean(track->name, out);
	if (track->is_real)
		fprintf(out, " (%" PRId64 ")", track->tid);
}

static const struct view_track *find_signal_thread(const struct death *d)
{
	for (size_t i = 0; i < d->n_threads; i++)
		if (d->threads[i].track->tid == d->signal_tid)
			return d->threads[i].track;
	return NULL;
}

static void put_head(const struct death *d, FILE *out)
{
	const struct view_track *by = find_signal_thread(d);

	fputs(d->ending ? "at death: " : "at the snapshot: ", out);
	put_clean(d->name ? d->name : d->plane->plane->name, out);
	if (archive_plane_find(d->plane->plane, "process_id"))
		fprintf(out, " (%" PRId64 ")",
			archive_plane_find_int(d->plane->plane, "process_id"));
	if (!d->ending)
		fputs(" went on", out);
	else
		fputs(strncmp(d->ending, "with", 4) == 0 ? " ended " : " was ", out);
	put_clean(d->ending ? d->ending : "", out);
	if (by) {
		fputs(" in the thread ", out);
		put_thread_name(by, out);
	} else if (d->signal_tid >= 0) {
		fprintf(out, " in the thread %" PRId64, d->signal_tid);
	}
	fputc('\n', out);
	if (d->signal_thread && d->signal_tid < 0) {
		fputs("  the thread that received it is not known: ", out);
		put_clean(d->signal_thread, out);
		fputc('\n', out);
	}
}

static void put_asyncs(const struct death *d, FILE *out)
{
	size_t n = d->asyncs.n_spans;

	if (!d->ending && n > MAX_ALIVE_THREADS)
		n = MAX_ALIVE_THREADS;
	if (n)
		fputs("  async spans\n", out);
	for (size_t i = 0; i < n; i++)
		put_span(d, &d->asyncs.spans[i], 0, out);
	if (n < d->asyncs.n_spans)
		fprintf(out, "  %zu more async spans: --json has them\n", d->asyncs.n_spans - n);
}

static void put_death(const struct death *d, FILE *out)
{
	size_t n = d->ending || d->n_threads < MAX_ALIVE_THREADS ? d->n_threads : MAX_ALIVE_THREADS;

	put_head(d, out);
	for (size_t i = 0; i < n; i++) {
		const struct death_thread *t = &d->threads[i];

		fputs("  ", out);
		put_thread_name(t->track, out);
		fputs(t->n_spans ? "\n" : ": no open span\n", out);
		for (size_t k = 0; k < t->n_spans; k++)
			put_span(d, &t->spans[k], k, out);
	}
	if (!d->n_threads && !d->asyncs.n_spans)
		fputs("  no span was open\n", out);
	if (n < d->n_threads)
		fprintf(out, "  %zu more threads with open spans: --json has them\n",
			d->n_threads - n);
	put_asyncs(d, out);
	fputc('\n', out);
}

/* True if the plane's program ended with exit status 0, as programs should. */
static bool is_good_end(const struct archive_plane *plane)
{
	_cleanup_free_ char *ending = archive_plane_copy_text(plane, "ptap_ended");

	return ending && strcmp(ending, "with exit status 0") == 0;
}

/*
 * Writes one line for all programs that ended with exit status 0: "ended with exit status 0: worker
 * (3868), worker (3869) and 62 more".
 */
static void put_good_ends(const struct digest *g, FILE *out)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n_planes; i++) {
		const struct archive_plane *plane = g->planes[i].plane;
		_cleanup_free_ char *name = NULL;

		if (!is_good_end(plane) || n++ >= MAX_GOOD_ENDS)
			continue;
		name = archive_plane_copy_text(plane, "ptap_process_name");
		fputs(n == 1 ? "ended with exit status 0: " : ", ", out);
		put_clean(name ? name : plane->name, out);
		if (facts_get_pid(plane) >= 0)
			fprintf(out, " (%" PRId64 ")", facts_get_pid(plane));
	}
	if (n > MAX_GOOD_ENDS)
		fprintf(out, " and %zu more", n - MAX_GOOD_ENDS);
	fputs(n ? "\n\n" : "", out);
}

static int put_deaths(const struct digest *g, bool is_alive, FILE *out)
{
	for (size_t i = 0; i < g->n_planes; i++) {
		struct death d;
		int r = is_good_end(g->planes[i].plane) ? 0 : read_death(g, i, is_alive, &d);

		if (r < 0)
			return r;
		if (r) {
			put_death(&d, out);
			death_deinit(&d);
		}
	}
	return 0;
}

int death_write_text(const struct digest *g, FILE *out)
{
	int r = put_deaths(g, false, out);

	if (!r)
		put_good_ends(g, out);
	return r ? r : put_deaths(g, true, out);
}

/* --- JSON ---------------------------------------------------------------------------------- */

static void write_span(
	const struct death *d, const struct death_span *s, size_t depth, struct json *j)
{
	json_begin_object(j, NULL);
	json_text(j, "name", names_get(&d->digest->view->names, s->name));
	json_uint(j, "depth", depth);
	json_int(j, "age_ns", s->age_ns);
	if (s->is_step)
		json_int(j, "step", s->step_num);
	else
		json_nothing(j, "step");
	json_begin_list(j, "arguments");
	for (size_t i = 0; i < s->n_args; i++) {
		const struct death_arg *a = &s->args[i];

		json_begin_object(j, NULL);
		json_text(j, "name", a->key);
		if (a->type == STAT_INT64)
			json_int(j, "value", a->i64);
		else if (a->type == STAT_UINT64)
			json_uint(j, "value", a->u64);
		else if (a->type == STAT_DOUBLE)
			json_double(j, "value", a->f64);
		else
			json_text(j, "value", a->text);
		json_end_object(j);
	}
	json_end_list(j);
	json_end_object(j);
}

static void write_thread(const struct death *d, const struct death_thread *t, struct json *j)
{
	json_begin_object(j, NULL);
	json_text(j, "name", t->track->name);
	if (t->track->is_real)
		json_int(j, "tid", t->track->tid);
	else
		json_nothing(j, "tid");
	json_begin_list(j, "spans");
	for (size_t i = 0; i < t->n_spans; i++)
		write_span(d, &t->spans[i], i, j);
	json_end_list(j);
	json_end_object(j);
}

static void write_death(const struct death *d, struct json *j)
{
	json_begin_object(j, NULL);
	json_text(j, "host", d->digest->view->hosts[d->plane->host].name);
	json_text(j, "name", d->name);
	if (archive_plane_find(d->plane->plane, "process_id"))
		json_int(j, "pid", archive_plane_find_int(d->plane->plane, "process_id"));
	else
		json_nothing(j, "pid");
	json_text(j, "ending", d->ending);
	if (d->signal_tid >= 0)
		json_int(j, "signal_tid", d->signal_tid);
	else
		json_nothing(j, "signal_tid");
	json_text(j, "signal_thread", d->signal_thread);
	json_begin_list(j, "threads");
	for (size_t i = 0; i < d->n_threads; i++)
		write_thread(d, &d->threads[i], j);
	json_end_list(j);
	json_begin_list(j, "async_spans");
	for (size_t i = 0; i < d->asyncs.n_spans; i++)
		write_span(d, &d->asyncs.spans[i], 0, j);
	json_end_list(j);
	json_end_object(j);
}

static int write_deaths(const struct digest *g, const char *key, bool is_alive, struct json *j)
{
	int r = 0;

	json_begin_list(j, key);
	for (size_t i = 0; i < g->n_planes && r >= 0; i++) {
		struct death d;

		r = read_death(g, i, is_alive, &d);
		if (r == 1) {
			write_death(&d, j);
			death_deinit(&d);
		}
	}
	json_end_list(j);
	return r < 0 ? r : 0;
}

int death_write_json(const struct digest *g, struct json *j)
{
	int r = write_deaths(g, "deaths", false, j);

	return r ? r : write_deaths(g, "open_at_snapshot", true, j);
}
