/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the busy and the idle times of threads, processes and devices, and states of threads. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "trace/read/archive.h"
#include "trace/read/view.h"
#include "trace/report/digest.h"
#include "trace/report/states.h"
#include "trace/report/text.h"

#define BAR_COLUMNS 10
#define MAX_GAPS 5

static void put_heads(struct text *t, const char *what, const char *name)
{
	page_put_head(&t->page, "busy");
	page_put(&t->page, "%*s", BAR_COLUMNS + 1, "");
	page_put_head(&t->page, what);
	page_put_head(&t->page, "idle");
	page_end_row(&t->page, name, NULL);
}

/* Writes the busy share, the number of spans, and the longest gap. */
static void put_busy(struct text *t, const struct busy *busy, uint64_t n)
{
	page_put_share(&t->page, busy_get_share(busy));
	page_put_bar(&t->page, busy_get_share(busy), BAR_COLUMNS);
	page_put_count(&t->page, n);
	page_put_duration(&t->page, busy->n_gaps ? gap_get_length(&busy->gaps[0]) : 0);
}

/* --- threads ------------------------------------------------------------------------------- */

static int compare_tracks(const void *left, const void *right)
{
	const struct digest_track *a = *(struct digest_track *const *)left;
	const struct digest_track *b = *(struct digest_track *const *)right;

	if (a->busy.busy_ns != b->busy.busy_ns)
		return a->busy.busy_ns > b->busy.busy_ns ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Counts the programs: if there are several, each thread is shown with its own. */
static size_t count_programs(const struct view *view)
{
	size_t n = 0;

	for (size_t i = 0; i < view->n_origins; i++)
		n += !view->origins[i].is_device;
	return n;
}

/*
 * Returns the files of a thread that several servers recorded: "vm_4242 and vm_9012". NULL: it is
 * in one file, or memory ran out.
 */
static char *list_sources(const struct view *view, const struct digest_track *track, size_t n)
{
	char *text = NULL;
	size_t n_bytes;
	FILE *out = n ? open_memstream(&text, &n_bytes) : NULL;

	for (size_t i = 0; out && i <= n; i++)
		fprintf(out, "%s%s", i ? " and " : "", view_track_get_source(view, track[i].track));
	if (out && fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static void put_thread(struct text *t, const struct digest_track *track)
{
	const struct view *view = t->digest->view;
	size_t n_seconds = digest_count_seconds(t->digest, track);
	_cleanup_free_ char *sources = list_sources(view, track, n_seconds);
	char process[TEXT_LABEL_BYTES];
	_cleanup_free_ char *name = NULL;
	uint64_t n = 0;

	if (asprintf(&name, "%s (%" PRId64 ")%s%s", track->track->name, text_get_tid(track->track),
		    sources ? ", " : "", sources ? sources : "") < 0)
		name = NULL;
	for (size_t i = 0; i <= n_seconds; i++)
		n += track[i].n_of_kind[DIGEST_SPAN];
	put_busy(t, &track->busy, n);
	page_end_row(&t->page, name ? name : track->track->name,
		count_programs(view) > 1 ? text_label_process(view, track->track->origin, process)
					 : NULL);
}

/*
 * Returns the tracks of a kind, the busiest first; NULL when memory ran out, and then their table
 * is left out.
 */
static const struct digest_track **sort_tracks(
	const struct digest *g, enum track_kind kind, size_t *n)
{
	const struct digest_track **list = calloc(g->n_tracks + 1, sizeof *list);

	*n = 0;
	for (size_t i = 0; i < g->n_tracks && list; i++)
		if (g->tracks[i].track->kind == kind && !digest_track_is_second(g, &g->tracks[i]))
			list[(*n)++] = &g->tracks[i];
	if (*n)
		qsort(list, *n, sizeof *list, compare_tracks);
	return list;
}

static void put_tracks(struct text *t, const char *title, enum track_kind kind)
{
	size_t n;
	_cleanup_free_ const struct digest_track **list = sort_tracks(t->digest, kind, &n);
	size_t n_shown = text_count_shown(t, n);

	if (!n)
		return;
	page_put_title(&t->page, title);
	put_heads(t, "spans", "name");
	for (size_t i = 0; i < n_shown; i++)
		put_thread(t, list[i]);
	text_put_rest(t, n - n_shown, "thread");
}

void text_put_threads(struct text *t)
{
	put_tracks(t, "threads; idle is the longest time without an open span", TRACK_THREAD);
	if (digest_has_unknown_ends(t->digest))
		page_put_message(&t->page, "note",
			"servers of JAX and TensorFlow leave out spans that are open when a "
			"recording begins or ends: the time before a thread's first event and "
			"after its last one counts neither as busy nor as idle");
}

/* --- states of threads --------------------------------------------------------------------- */

#define SHOWN_REASONS 3

static double get_state_share(const struct state_times *t, int64_t ns)
{
	double all_ns = (double)t->running_ns + (double)t->preempted_ns + (double)t->blocked_ns;

	return all_ns > 0 ? (double)ns / all_ns : 0;
}

/* Returns "loader (4243): 61 % futex, 22 % read"; NULL: memory ran out. */
static char *name_state_row(const struct text *t, const struct state_times *times)
{
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);
	const char *separator = ": ";

	if (!out)
		return NULL;
	fprintf(out, "%s (%" PRId64 ")", times->track->name, text_get_tid(times->track));
	for (size_t i = 0; i < times->n && i < SHOWN_REASONS; i++) {
		const char *reason = names_get(&t->states->reasons, times->v[i].reason);
		double share = get_state_share(times, times->v[i].ns);

		if (!reason[0] || share < 0.005)
			continue;
		fprintf(out, "%s%.0f %% %s", separator, 100 * share, reason);
		separator = ", ";
	}
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static void put_state_row(struct text *t, const struct state_times *times)
{
	_cleanup_free_ char *name = name_state_row(t, times);
	char process[TEXT_LABEL_BYTES];

	page_put_share(&t->page, get_state_share(times, times->running_ns));
	page_put_share(&t->page, get_state_share(times, times->preempted_ns));
	page_put_share(&t->page, get_state_share(times, times->blocked_ns));
	page_end_row(&t->page, name ? name : times->track->name,
		count_programs(t->digest->view) > 1
			? text_label_process(t->digest->view, times->track->origin, process)
			: NULL);
}

void text_put_states(struct text *t)
{
	const struct state_list *l = t->states;
	size_t n_shown = text_count_shown(t, l->n);

	if (!l->n)
		return;
	page_put_title(&t->page,
		"what threads did: run, wait for a processor (ready), wait for something else");
	page_put_head(&t->page, "running");
	page_put_head(&t->page, "ready");
	page_put_head(&t->page, "blocked");
	page_end_row(&t->page, "thread: blocked in", NULL);
	for (size_t i = 0; i < n_shown; i++)
		put_state_row(t, &l->v[i]);
	text_put_rest(t, l->n - n_shown, "thread");
}

/* --- devices ------------------------------------------------------------------------------- */

void text_put_devices(struct text *t)
{
	const struct digest *g = t->digest;
	char label[TEXT_LABEL_BYTES];
	size_t n = 0;

	for (size_t i = 0; i < g->view->n_origins; i++) {
		const struct digest_process *p = &g->processes[i];

		if (!g->view->origins[i].is_device || !p->n_spans)
			continue;
		if (n == 0) {
			page_put_title(
				&t->page, "devices; idle is the longest time without a kernel");
			put_heads(t, "kernels", "name");
		}
		if (n++ >= text_get_most(t))
			continue;
		put_busy(t, &p->busy, p->n_spans);
		page_end_row(&t->page, text_label_process(g->view, i, label), NULL);
	}
	text_put_rest(t, n - text_count_shown(t, n), "device");
}

/* --- gaps ---------------------------------------------------------------------------------- */

struct idle {
	const struct idle_gap *gap;
	size_t process;
};

static int64_t get_length(const struct idle *idle)
{
	return gap_get_length(idle->gap);
}

/* Keeps the longest gaps. */
static void keep_longest_gap(struct idle list[MAX_GAPS], size_t *n, struct idle idle)
{
	size_t i = *n;

	while (i > 0 && get_length(&list[i - 1]) < get_length(&idle))
		i--;
	if (i == MAX_GAPS)
		return;
	*n += *n < MAX_GAPS;
	for (size_t k = *n - 1; k > i; k--)
		list[k] = list[k - 1];
	list[i] = idle;
}

static void put_name(struct text *t, const char *word, uint32_t name, size_t n_columns)
{
	page_put(&t->page, "%s", word);
	page_put_text(&t->page, names_get(&t->digest->view->names, name), n_columns);
}

/* Writes "after load, before train"; each name gets half of the rest of the line. */
static void put_neighbours(struct text *t, const struct idle_gap *gap, size_t n_reserved)
{
	size_t n_taken = t->page.column + 2 + sizeof "after , before " - 1 + n_reserved;
	size_t n_columns = t->page.width > n_taken + 8 ? (t->page.width - n_taken) / 2 : 4;

	page_put(&t->page, "  ");
	if (gap->after == BUSY_NO_NAME)
		page_put(&t->page, "at the start");
	else
		put_name(t, "after ", gap->after, n_columns);
	if (gap->before == BUSY_NO_NAME)
		page_put(&t->page, ", to the end");
	else
		put_name(t, ", before ", gap->before, n_columns);
}

static void put_gap(struct text *t, const struct idle *idle, bool is_one)
{
	const struct digest *g = t->digest;
	const struct busy *busy = &g->processes[idle->process].busy;
	double length = (double)busy->end_ns - (double)busy->begin_ns;
	char label[TEXT_LABEL_BYTES];
	size_t n_label;

	page_put_duration(&t->page, get_length(idle));
	page_put_share(&t->page, (double)get_length(idle) / length);
	page_put_duration(&t->page, idle->gap->start_ns);
	n_label = t->page.width / 5;
	put_neighbours(t, idle->gap, is_one ? 0 : n_label + 2);
	if (!is_one) {
		page_put(&t->page, "  ");
		page_put_text(&t->page, text_label_process(g->view, idle->process, label), n_label);
	}
	page_end_line(&t->page);
}

void text_put_idle(struct text *t)
{
	const struct digest *g = t->digest;
	struct idle list[MAX_GAPS];
	size_t n_processes = 0;
	size_t n = 0;

	for (size_t i = 0; i < g->view->n_origins; i++) {
		const struct digest_process *p = &g->processes[i];

		if (g->view->origins[i].is_device || !p->n_spans)
			continue;
		n_processes++;
		for (size_t k = 0; k < p->busy.n_gaps; k++)
			keep_longest_gap(list, &n, (struct idle){&p->busy.gaps[k], i});
	}
	if (!n)
		return;
	page_put_title(&t->page, "idle: the longest times in which no thread had a span open");
	page_put_head(&t->page, "length");
	page_put_head(&t->page, "of all");
	page_put_head(&t->page, "from");
	page_end_line(&t->page);
	for (size_t i = 0; i < n; i++)
		put_gap(t, &list[i], n_processes == 1);
}
