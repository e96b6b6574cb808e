/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What several tracks cover together: they are read once more, all of a process at the same time, the earliest span first, so
 * that nothing has to be remembered.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/report/digest.h"
#include "trace/report/digest_parts.h"
#include "trace/report/groups.h"
#include "trace/saturate.h"

struct head {
	struct cursor cursor;
	struct item item; /* the next of it */
};

/* A heap: the earliest item first. */
struct merge {
	struct head **v;
	size_t n;
};

static int64_t get_start(const struct merge *m, size_t i)
{
	return m->v[i]->item.start_ns;
}

static void swap(struct merge *m, size_t i, size_t k)
{
	struct head *head = m->v[i];

	m->v[i] = m->v[k];
	m->v[k] = head;
}

static void sift_down(struct merge *m)
{
	for (size_t i = 0, child = 1; child < m->n; i = child, child = 2 * i + 1) {
		child += child + 1 < m->n && get_start(m, child + 1) < get_start(m, child);
		if (get_start(m, i) <= get_start(m, child))
			return;
		swap(m, i, child);
	}
}

static void sift_up(struct merge *m)
{
	for (size_t i = m->n - 1; i && get_start(m, i) < get_start(m, (i - 1) / 2); i = (i - 1) / 2)
		swap(m, i, (i - 1) / 2);
}

static void drop_first(struct merge *m)
{
	cursor_close(&m->v[0]->cursor);
	free(m->v[0]);
	m->v[0] = m->v[--m->n];
	sift_down(m);
}

static int next(struct merge *m)
{
	int rc = cursor_next(&m->v[0]->cursor, &m->v[0]->item);

	if (rc > 0)
		sift_down(m);
	else if (rc == 0)
		drop_first(m);
	return rc < 0 ? rc : 0;
}

static int add(
	struct merge *m, const struct view *view, const struct view_track *track, struct diag *d)
{
	struct head *head = malloc(sizeof *head);
	int rc = head ? cursor_open(&head->cursor, view, track, d) : -ENOMEM;

	if (rc == 0)
		rc = cursor_next(&head->cursor, &head->item);
	if (rc > 0) {
		m->v[m->n++] = head;
		sift_up(m);
		return 0;
	}
	if (head)
		cursor_close(&head->cursor);
	free(head);
	return rc;
}

static int read_all(struct merge *m, struct busy *busy)
{
	int rc = 0;

	while (m->n && rc == 0) {
		const struct item *item = &m->v[0]->item;

		busy_add(busy, item->start_ns, add_saturated(item->start_ns, item->duration_ns),
			item->name);
		rc = next(m);
	}
	return rc;
}

static int merge_tracks(
	struct digest *g, const struct groups *tracks, size_t process, struct diag *d)
{
	struct digest_process *p = &g->processes[process];
	struct merge m = {calloc(p->n_tracks, sizeof *m.v), 0};
	int rc = m.v ? 0 : -ENOMEM;

	for (size_t i = tracks->first[process]; i != GROUPS_END && rc == 0; i = tracks->next[i])
		if (g->tracks[i].n_of_kind[DIGEST_SPAN])
			rc = add(&m, g->view, g->tracks[i].track, d);
	if (rc == 0)
		rc = read_all(&m, &p->busy);
	busy_finish(&p->busy);
	while (m.n)
		drop_first(&m);
	free(m.v);
	return rc;
}

/* That of a process with one track is known. */
static int cover(struct digest *g, const struct groups *tracks, size_t process, struct diag *d)
{
	struct digest_process *p = &g->processes[process];
	size_t last = GROUPS_END;

	for (size_t i = tracks->first[process]; i != GROUPS_END; i = tracks->next[i]) {
		const struct digest_track *t = &g->tracks[i];

		if (!t->n_of_kind[DIGEST_SPAN])
			continue;
		p->n_tracks++;
		p->n_spans += t->n_of_kind[DIGEST_SPAN];
		last = i;
	}
	if (p->n_tracks > 1)
		return merge_tracks(g, tracks, process, d);
	if (p->n_tracks == 1)
		p->busy = g->tracks[last].busy;
	else
		busy_finish(&p->busy);
	return 0;
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
	int rc = groups_make(&tracks, n, g->n_tracks, get_process_of, g);

	for (size_t i = 0; i < n && rc == 0; i++) {
		busy_init(&g->processes[i].busy, g->begin_ns, g->end_ns);
		rc = cover(g, &tracks, i, d);
	}
	groups_deinit(&tracks);
	return rc;
}
