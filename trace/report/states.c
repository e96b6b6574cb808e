/* SPDX-License-Identifier: Apache-2.0 */
/* States of threads; see states.h. */
#include "trace/report/states.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "trace/model/space.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/report/digest.h"
#include "trace/saturate.h"

struct state_reading {
	const struct view *view;
	struct state_list *list;
	struct state_times *times; /* of the thread that is being read */
};

static int add_blocked(struct state_times *t, uint32_t reason, int64_t ns)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->v[i].reason != reason)
			continue;
		t->v[i].ns = add_saturated(t->v[i].ns, ns);
		return 0;
	}
	if (grow(&t->v, &t->n_allocated, t->n + 1))
		return -ENOMEM;
	t->v[t->n++] = (struct blocked_time){reason, ns};
	return 0;
}

/* Returns the index of what a blocked thread waits for; NAMES_NONE: out of memory. */
static uint32_t intern_reason(struct state_list *list, const struct item *item)
{
	const struct item_arg *arg = item_find_arg(item, "in");

	return arg && arg->type == STAT_STRING
		       ? names_intern(&list->reasons, arg->text, arg->n_bytes)
		       : names_intern(&list->reasons, "", 0);
}

static int read_state(void *context, const struct item *item)
{
	struct state_reading *reading = context;
	struct state_times *t = reading->times;
	const char *state = names_get(&reading->view->names, item->name);
	uint32_t reason;

	if (strcmp(state, STATE_RUNNING) == 0)
		t->running_ns = add_saturated(t->running_ns, item->duration_ns);
	else if (strcmp(state, STATE_PREEMPTED) == 0)
		t->preempted_ns = add_saturated(t->preempted_ns, item->duration_ns);
	if (strcmp(state, STATE_BLOCKED) != 0)
		return 0;
	t->blocked_ns = add_saturated(t->blocked_ns, item->duration_ns);
	reason = intern_reason(reading->list, item);
	return reason == NAMES_NONE ? -ENOMEM : add_blocked(t, reason, item->duration_ns);
}

static int compare_blocked(const void *left, const void *right)
{
	const struct blocked_time *a = left;
	const struct blocked_time *b = right;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return (a->reason > b->reason) - (a->reason < b->reason);
}

static int compare_times(const void *left, const void *right)
{
	const struct state_times *a = left;
	const struct state_times *b = right;

	if (a->running_ns != b->running_ns)
		return a->running_ns > b->running_ns ? -1 : 1;
	return (a->track > b->track) - (a->track < b->track);
}

int state_list_make(const struct digest *g, struct state_list *out, struct diag *d)
{
	struct state_reading reading = {.view = g->view, .list = out};
	int r = 0;

	*out = (struct state_list){.v = calloc(g->view->n_states + 1, sizeof *out->v)};
	if (!out->v)
		return -ENOMEM;
	for (size_t i = 0; i < g->view->n_states && !r; i++) {
		reading.times = &out->v[out->n++];
		reading.times->track = &g->view->states[i];
		r = cursor_read(g->view, &g->view->states[i], read_state, &reading, d);
		if (reading.times->n)
			qsort(reading.times->v, reading.times->n, sizeof *reading.times->v,
				compare_blocked);
	}
	qsort(out->v, out->n, sizeof *out->v, compare_times);
	if (r)
		state_list_deinit(out);
	return r;
}

void state_list_deinit(struct state_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].v);
	free(l->v);
	names_deinit(&l->reasons);
	*l = (struct state_list){.n = 0};
}
