/* SPDX-License-Identifier: Apache-2.0 */
/* Sums device time by launcher. Threads are read first, for the calls, then devices' streams. */
#include "trace/report/launches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/grow.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/report/digest.h"
#include "trace/saturate.h"

/* A flow that leaves a thread. */
struct call {
	uint64_t flow;
	uint32_t span; /* the view's name of the span around it */
	uint32_t is_counted;
};

struct open_span_name {
	int64_t end_ns;
	uint32_t name;
};

struct launch_reading {
	const struct digest *digest;
	struct launcher_list *launches;
	struct call *calls; /* sorted by flow after threads were read */
	size_t n_calls;
	size_t n_calls_allocated;
	struct open_span_name *stack;
	size_t n_stack;
	size_t n_stack_allocated;
};

/* --- calls --------------------------------------------------------------------------------- */

static int add_call(struct launch_reading *reading, const struct item *item)
{
	uint32_t span = reading->n_stack ? reading->stack[reading->n_stack - 1].name : item->name;

	if (grow(&reading->calls, &reading->n_calls_allocated, reading->n_calls + 1))
		return -ENOMEM;
	reading->calls[reading->n_calls++] = (struct call){item->flow_out, span, 0};
	return 0;
}

static int read_thread_item(void *reading, const struct item *item)
{
	struct launch_reading *r = reading;

	while (r->n_stack && r->stack[r->n_stack - 1].end_ns <= item->start_ns)
		r->n_stack--;
	if (item->flow_out && add_call(r, item))
		return -ENOMEM;
	if (!item->duration_ns)
		return 0;
	if (grow(&r->stack, &r->n_stack_allocated, r->n_stack + 1))
		return -ENOMEM;
	r->stack[r->n_stack++] = (struct open_span_name){
		add_saturated(item->start_ns, item->duration_ns), item->name};
	return 0;
}

static int compare_calls(const void *left, const void *right)
{
	const struct call *a = left;
	const struct call *b = right;

	return a->flow < b->flow ? -1 : a->flow > b->flow;
}

/* Returns NULL if the call is not in the trace. */
static struct call *find_call(const struct launch_reading *reading, uint64_t flow)
{
	const struct call key = {.flow = flow};

	if (!flow || !reading->n_calls)
		return NULL;
	return bsearch(&key, reading->calls, reading->n_calls, sizeof key, compare_calls);
}

/* --- kernels ------------------------------------------------------------------------------- */

static const struct item_arg *find_operator(const struct item *item)
{
	static const char *const keys[] = {"tf_op", "hlo_op"};

	for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
		for (size_t i = 0; i < item->n_args; i++)
			if (item->args[i].type == STAT_STRING && item->args[i].n_bytes &&
				strcmp(item->args[i].key, keys[k]) == 0)
				return &item->args[i];
	return NULL;
}

static struct launcher *get_launcher(struct launcher_list *l, const char *text, size_t n)
{
	uint32_t n_known = l->names.n_texts;
	uint32_t name;

	if (grow(&l->v, &l->n_allocated, (size_t)n_known + 1))
		return NULL;
	name = names_intern(&l->names, text, n);
	if (name == NAMES_NONE)
		return NULL;
	if (name == n_known)
		l->v[name] = (struct launcher){.name = name};
	return &l->v[name];
}

static int read_kernel(void *reading, const struct item *item)
{
	struct launch_reading *r = reading;
	const struct digest *g = r->digest;
	const struct item_arg *op = find_operator(item);
	struct call *call = find_call(r, item->flow_in);
	const char *span = call ? names_get(&g->view->names, call->span) : LAUNCHES_UNKNOWN;
	struct launcher *launcher;

	if (!item->duration_ns || (g->wanted && !g->wanted[item->name]))
		return 0;
	launcher = op ? get_launcher(r->launches, op->text, op->n_bytes)
		      : get_launcher(r->launches, span, strlen(span));
	if (!launcher)
		return -ENOMEM;
	launcher->n_kernels++;
	launcher->device_ns = add_saturated(launcher->device_ns, item->duration_ns);
	r->launches->device_ns = add_saturated(r->launches->device_ns, item->duration_ns);
	if (call && !call->is_counted) {
		call->is_counted = 1;
		launcher->n_launches++;
	}
	return 0;
}

/* --- all launchers ------------------------------------------------------------------------- */

static int read_tracks_of_kind(
	struct launch_reading *reading, enum track_kind kind, cursor_reader *reader, struct diag *d)
{
	const struct view *view = reading->digest->view;
	int r = 0;

	for (size_t i = 0; i < view->n_tracks && r == 0; i++) {
		const struct view_track *track = &view->tracks[i];

		reading->n_stack = 0;
		if (track->kind == kind && !track->is_derived)
			r = cursor_read(view, track, reader, reading, d);
	}
	return r;
}

static int compare_launchers(const void *left, const void *right)
{
	const struct launcher *a = left;
	const struct launcher *b = right;

	if (a->device_ns != b->device_ns)
		return a->device_ns > b->device_ns ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

static bool has_kernels(const struct digest *g)
{
	return g->lists[LIST_KERNELS].n > 0;
}

int launcher_list_make(const struct digest *g, struct launcher_list *out, struct diag *d)
{
	struct launch_reading reading = {.digest = g, .launches = out};
	int r = 0;

	*out = (struct launcher_list){.v = NULL};
	if (has_kernels(g))
		r = read_tracks_of_kind(&reading, TRACK_THREAD, read_thread_item, d);
	if (reading.n_calls)
		qsort(reading.calls, reading.n_calls, sizeof *reading.calls, compare_calls);
	if (r == 0 && has_kernels(g))
		r = read_tracks_of_kind(&reading, TRACK_STREAM, read_kernel, d);
	if (out->names.n_texts)
		qsort(out->v, out->names.n_texts, sizeof *out->v, compare_launchers);
	free(reading.calls);
	free(reading.stack);
	return r;
}

void launcher_list_deinit(struct launcher_list *l)
{
	names_deinit(&l->names);
	free(l->v);
	*l = (struct launcher_list){.v = NULL};
}
