/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the time in which at least one of several tracks is busy. All tracks of a process are read
 * once more at the same time, the earliest span first, so that no spans are kept in memory.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/heap.h"
#include "trace/read/archive.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/report/digest.h"
#include "trace/saturate.h"

/* --- busy time -------------------------------------------------------------------------------- */

/* Computes covered time and gaps. */

void busy_init(struct busy *b, int64_t begin_ns, int64_t end_ns)
{
	*b = (struct busy){
		.begin_ns = begin_ns, .end_ns = end_ns, .until_ns = begin_ns, .last = BUSY_NO_NAME};
}

int64_t gap_get_length(const struct idle_gap *gap)
{
	return sub_saturated(gap->end_ns, gap->start_ns);
}

void busy_deinit(struct busy *b)
{
	free(b->gaps);
	b->gaps = NULL;
	b->n_gaps = 0;
}

/* Grows by one gap at a time: most threads have few gaps, and there may be a million threads. */
static int busy_reserve_gap(struct busy *b)
{
	struct idle_gap *gaps;

	if (b->n_gaps == BUSY_GAPS)
		return 0;
	gaps = reallocarray(b->gaps, b->n_gaps + 1, sizeof *gaps);
	if (!gaps)
		return -ENOMEM;
	b->gaps = gaps;
	b->n_gaps++;
	return 0;
}

static int busy_add_gap(struct busy *b, struct idle_gap gap)
{
	size_t i = b->n_gaps;

	while (i > 0 && gap_get_length(&b->gaps[i - 1]) < gap_get_length(&gap))
		i--;
	if (i == BUSY_GAPS)
		return 0;
	if (busy_reserve_gap(b))
		return -ENOMEM;
	memmove(&b->gaps[i + 1], &b->gaps[i], (b->n_gaps - i - 1) * sizeof gap);
	b->gaps[i] = gap;
	return 0;
}

int busy_add(struct busy *b, int64_t start_ns, int64_t end_ns, uint32_t name)
{
	if (end_ns > b->end_ns)
		end_ns = b->end_ns;
	if (start_ns < b->begin_ns)
		start_ns = b->begin_ns;
	if (end_ns <= b->until_ns || end_ns <= start_ns)
		return 0;
	if (start_ns > b->until_ns) {
		if (busy_add_gap(b, (struct idle_gap){b->until_ns, start_ns, b->last, name}))
			return -ENOMEM;
		b->until_ns = start_ns;
	}
	b->busy_ns = add_saturated(b->busy_ns, sub_saturated(end_ns, b->until_ns));
	b->until_ns = end_ns;
	b->last = name;
	return 0;
}

int busy_finish(struct busy *b)
{
	struct idle_gap gap = {b->until_ns, b->end_ns, b->last, BUSY_NO_NAME};
	int r = b->until_ns < b->end_ns ? busy_add_gap(b, gap) : 0;

	b->until_ns = b->end_ns;
	return r;
}

/* Makes |b| a copy of |from|. 0 or -ENOMEM. */
static int busy_copy(struct busy *b, const struct busy *from)
{
	*b = *from;
	b->gaps = reallocarray(NULL, from->n_gaps + 1, sizeof *b->gaps);
	if (!b->gaps) {
		b->n_gaps = 0;
		return -ENOMEM;
	}
	if (from->n_gaps)
		memcpy(b->gaps, from->gaps, from->n_gaps * sizeof *b->gaps);
	return 0;
}

double busy_get_share(const struct busy *b)
{
	double length = (double)b->end_ns - (double)b->begin_ns;

	return length > 0 ? (double)b->busy_ns / length : 0;
}

/* --- the tracks of a process ------------------------------------------------------------------ */

struct head {
	struct cursor cursor;
	struct item item; /* its next item */
};

/* A heap of tracks; the track with the earliest item comes first. */
struct merge {
	struct head **v;
	size_t n;
};

static bool head_is_before(const void *a, const void *b)
{
	const struct head *const *left = a;
	const struct head *const *right = b;

	return (*left)->item.start_ns < (*right)->item.start_ns;
}

static void merge_sift_down(struct merge *m)
{
	heap_sift_down(m->v, m->n, sizeof *m->v, head_is_before);
}

static void merge_drop_first(struct merge *m)
{
	cursor_close(&m->v[0]->cursor);
	free(m->v[0]);
	m->v[0] = m->v[--m->n];
	merge_sift_down(m);
}

static int merge_next(struct merge *m)
{
	int r = cursor_next(&m->v[0]->cursor, &m->v[0]->item);

	if (r > 0)
		merge_sift_down(m);
	else if (r == 0)
		merge_drop_first(m);
	return r < 0 ? r : 0;
}

static int merge_add_track(
	struct merge *m, const struct view *view, const struct view_track *track, struct diag *d)
{
	struct head *head = malloc(sizeof *head);
	int r = head ? cursor_open(&head->cursor, view, track, d) : -ENOMEM;

	if (r == 0) {
		head->cursor.skips_stats = true;
		r = cursor_next(&head->cursor, &head->item);
	}
	if (r > 0) {
		m->v[m->n++] = head;
		heap_sift_up(m->v, m->n, sizeof *m->v, head_is_before);
		return 0;
	}
	if (head)
		cursor_close(&head->cursor);
	free(head);
	return r;
}

/* A track without a cursor yet; none of its items begins before |first_ns|. */
struct waiting {
	int64_t first_ns;
	const struct view_track *track;
};

static int compare_waiting(const void *left, const void *right)
{
	const struct waiting *a = left;
	const struct waiting *b = right;

	if (a->first_ns != b->first_ns)
		return a->first_ns < b->first_ns ? -1 : 1;
	return a->track < b->track ? -1 : a->track > b->track;
}

static struct waiting wait_for(const struct digest *g, const struct view_track *track)
{
	return (struct waiting){
		add_saturated(track->line->first_ns, g->view->hosts[track->host].shift_ns), track};
}

/*
 * Returns the tracks of the process that have spans, sorted by first event; NULL when memory ran
 * out.
 */
static struct waiting *list_tracks(
	const struct digest *g, const struct groups *tracks, size_t process)
{
	struct waiting *list = calloc(g->processes[process].n_tracks, sizeof *list);
	size_t n = 0;

	if (!list)
		return NULL;
	for (size_t i = tracks->first[process]; i != GROUPS_END; i = tracks->next[i]) {
		if (g->tracks[i].n_of_kind[DIGEST_SPAN])
			list[n++] = wait_for(g, g->tracks[i].track);
	}
	qsort(list, n, sizeof *list, compare_waiting);
	return list;
}

/*
 * A track has a cursor from its first span to its last only: there may be a million tracks, of
 * which few are open at a time.
 */
static int merge_list(struct merge *m, const struct digest *g, const struct waiting *list,
	size_t n_list, struct busy *busy, struct diag *d)
{
	size_t n = 0;
	int r = 0;

	while ((m->n || n < n_list) && r == 0) {
		const struct item *item;

		if (n < n_list && (!m->n || list[n].first_ns < m->v[0]->item.start_ns)) {
			r = merge_add_track(m, g->view, list[n++].track, d);
			continue;
		}
		item = &m->v[0]->item;
		if (busy_add(busy, item->start_ns, add_saturated(item->start_ns, item->duration_ns),
			    item->name))
			return -ENOMEM;
		r = merge_next(m);
	}
	return r;
}

static int merge_tracks(
	struct digest *g, const struct groups *tracks, size_t process, struct diag *d)
{
	struct digest_process *p = &g->processes[process];
	_cleanup_free_ struct waiting *list = list_tracks(g, tracks, process);
	struct merge m = {calloc(p->n_tracks, sizeof *m.v), 0};
	int r = list && m.v ? 0 : -ENOMEM;

	if (r == 0)
		r = merge_list(&m, g, list, p->n_tracks, &p->busy, d);
	while (m.n)
		merge_drop_first(&m);
	free(m.v);
	return r ? r : busy_finish(&p->busy);
}

/* Extends |b| to the window of another track. */
static void widen_busy(struct busy *b, const struct busy *track, bool is_first)
{
	int64_t begin_ns =
		is_first || track->begin_ns < b->begin_ns ? track->begin_ns : b->begin_ns;
	int64_t end_ns = is_first || track->end_ns > b->end_ns ? track->end_ns : b->end_ns;

	busy_init(b, begin_ns, end_ns);
}

/* Merges the busy time of a thread that several servers recorded. */
static int cover_thread(struct digest *g, size_t first, size_t n, struct diag *d)
{
	struct waiting *list = calloc(n, sizeof *list);
	struct merge m = {calloc(n, sizeof *m.v), 0};
	struct busy *busy = &g->tracks[first].busy;
	struct busy window = {.gaps = NULL};
	int r = list && m.v ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && r == 0; i++) {
		list[i] = wait_for(g, g->tracks[first + i].track);
		widen_busy(&window, &g->tracks[first + i].busy, i == 0);
	}
	if (r == 0) {
		qsort(list, n, sizeof *list, compare_waiting);
		busy_deinit(busy);
		*busy = window;
		r = merge_list(&m, g, list, n, busy, d);
	}
	while (m.n)
		merge_drop_first(&m);
	free(m.v);
	free(list);
	return r ? r : busy_finish(busy);
}

/* Finds the busy time of a process. If only one track has spans, its busy time is copied. */
static int cover_process(
	struct digest *g, const struct groups *tracks, size_t process, struct diag *d)
{
	struct digest_process *p = &g->processes[process];
	size_t last = GROUPS_END;

	for (size_t i = tracks->first[process]; i != GROUPS_END; i = tracks->next[i]) {
		const struct digest_track *t = &g->tracks[i];

		if (!t->n_of_kind[DIGEST_SPAN])
			continue;
		widen_busy(&p->busy, &t->busy, !p->n_tracks++);
		p->n_spans += t->n_of_kind[DIGEST_SPAN];
		last = i;
	}
	if (p->n_tracks > 1)
		return merge_tracks(g, tracks, process, d);
	return p->n_tracks ? busy_copy(&p->busy, &g->tracks[last].busy) : busy_finish(&p->busy);
}

static size_t get_process_of(const void *digest, size_t track)
{
	const struct digest *g = digest;

	return g->tracks[track].track->origin;
}

int digest_cover(struct digest *g, struct diag *d)
{
	size_t n = g->view->n_origins;
	struct groups tracks;
	int r = groups_make(&tracks, n, g->n_tracks, get_process_of, g);

	for (size_t i = 0; i < n && r == 0; i++) {
		struct digest_window w = digest_find_process_window(g, i);

		busy_init(&g->processes[i].busy, w.begin_ns, w.end_ns);
		r = cover_process(g, &tracks, i, d);
	}
	groups_deinit(&tracks);
	for (size_t i = 0; i < g->n_tracks && r == 0; i++) {
		size_t n_seconds = digest_count_seconds(g, &g->tracks[i]);

		if (n_seconds)
			r = cover_thread(g, i, n_seconds + 1, d);
	}
	return r;
}

/* --- members in groups ------------------------------------------------------------------------ */

/* Sorts members into groups: linked lists of indices. */

int groups_make(struct groups *groups, size_t n_groups, size_t n_members,
	size_t (*get_group)(const void *context, size_t i), const void *context)
{
	groups->first = calloc(n_groups + 1, sizeof *groups->first);
	groups->next = calloc(n_members + 1, sizeof *groups->next);
	if (!groups->first || !groups->next)
		return -ENOMEM;
	for (size_t i = 0; i < n_groups; i++)
		groups->first[i] = GROUPS_END;
	for (size_t i = n_members; i-- > 0;) {
		size_t group = get_group(context, i);

		groups->next[i] = groups->first[group];
		groups->first[group] = i;
	}
	return 0;
}

void groups_deinit(struct groups *groups)
{
	free(groups->first);
	free(groups->next);
	*groups = (struct groups){.first = NULL};
}
