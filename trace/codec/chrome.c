/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chrome's trace event format, for ui.perfetto.dev, chrome://tracing, and other readers of JSON:
 * names and order of processes and threads, then events in microseconds. It has the shape that
 * jax.collect_profile writes, without the empty event at its end, which importers take for an
 * error.
 *
 * Pids are those of the view. If processes of several hosts have the same pid, the first one keeps
 * it, and the others get made-up pids.
 *
 * Spans are "X". Importers drop an X that overlaps another X of its row and is not inside it, so
 * each span goes to the first row on which it nests. Flows are "s" and "f", which bind to the event
 * that was written last on their row at their time. "bind_id" would not suffice: an event can have
 * only one, and an instant cannot have any.
 *
 * Samples of threads are in the array "samples", behind the events, and refer to entries of
 * "stackFrames", each of which has its caller as "parent". Readers find the thread by the tid, and
 * Speedscope by the pid, too. The name of a sample is that of its kind, by which readers group
 * samples, so that weights of both kinds are not added up.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "trace/codec/arg_json.h"
#include "trace/codec/codec.h"
#include "trace/codec/sink.h"
#include "trace/codec/thread_samples.h"
#include "trace/model/idmap.h"
#include "trace/read/cursor.h"
#include "trace/read/enclosing_spans.h"
#include "trace/read/lanes.h"
#include "trace/read/view.h"
#include "trace/saturate.h"

struct chrome {
	const struct view *view;
	struct sink *sink;
	struct codec_result *result;
	int64_t *pids; /* written pids of the view's processes, each unique */
	int64_t shift_ns; /* added to all times: codec_choose_shift() */
	uint64_t n_events;
	int64_t next_tid; /* next made-up tid, for rows beyond a track's first */
	/* by counter name: index + 1 of its first track in the last process with it */
	uint32_t *series;
	const struct view_track *track; /* the track that is being written */
	struct lanes lanes;
	int64_t tid; /* tid of the track's first row */
	int64_t second_tid; /* tid of its second row; others follow */
	uint64_t n_samples;
	bool *is_stack_used; /* by stack: a sample has it, or was called from it */
};

/* --- events -------------------------------------------------------------------------------- */

/* Begins an event with the fields that every event has; chrome_end() closes it. */
static void chrome_begin(struct chrome *c, const char *phase, const char *name, int64_t tid)
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

static void chrome_end(struct chrome *c)
{
	sink_put(c->sink, '}');
}

static void put_sort_index(struct chrome *c, const char *name, int64_t tid, uint64_t index)
{
	chrome_begin(c, "M", name, tid);
	sink_printf(c->sink, ",\"args\":{\"sort_index\":%" PRIu64 "}", index);
	chrome_end(c);
}

/*
 * Names a row. If several servers recorded the thread, the rows of all but its first track also
 * have the name of the track's file.
 */
static void put_row_name(struct chrome *c, int64_t tid)
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
	put_sort_index(c, "thread_sort_index", tid, view_track_get_number(c->view, c->track));
}

/* Adds a row for the track, and returns its tid. */
static int64_t chrome_add_row(struct chrome *c)
{
	put_row_name(c, c->next_tid);
	return c->next_tid++;
}

/* --- processes ----------------------------------------------------------------------------- */

/* The first process with a pid keeps it. The others get made-up pids, all of them different. */
static int choose_pids(struct chrome *c)
{
	const struct view *v = c->view;
	struct idmap owners = {NULL};
	int r = 0;

	for (size_t i = v->n_processes; i > 0 && r == 0; i--)
		r = idmap_add(&owners, v->processes[i - 1].pid, (uint32_t)(i - 1));
	idmap_sort(&owners);
	for (size_t i = 0; i < v->n_processes && r == 0; i++) {
		int64_t pid = v->processes[i].pid;
		bool is_own = idmap_find(&owners, pid) == i;

		c->pids[i] = is_own ? pid : VIEW_MADE_UP + (int64_t)i;
		codec_lose(c->result, "processes of one pid on several hosts", !is_own);
	}
	idmap_deinit(&owners);
	return r;
}

/*
 * Writes "train"; for several hosts without a grouping "gpu7 train", and "gpu7 train [4242]" if the
 * process could not keep its pid.
 */
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

/*
 * False if a grouping gives the track the tid of the track before it. Their spans would cross on
 * one row, so this track then gets a new row.
 */
static bool has_own_row(const struct chrome *c)
{
	const struct view_track *t = c->track;

	return t == c->view->tracks || t[-1].process != t->process || t[-1].tid != t->tid;
}

static bool process_has_track(const struct view *v, uint32_t process)
{
	for (size_t i = 0; i < v->n_tracks; i++)
		if (v->tracks[i].process == process)
			return true;
	return false;
}

/* Names the threads that have samples and no spans, and their processes. */
static void put_sampled_names(struct chrome *c)
{
	const struct view *v = c->view;

	for (size_t i = 0; i < v->n_samples && !view_is_grouped(v); i++) {
		c->track = &v->samples[i];
		if (view_find_sampled_thread(v, c->track))
			continue;
		if (!process_has_track(v, c->track->process))
			put_process(c);
		put_row_name(c, c->track->tid);
	}
}

static void put_track_names(struct chrome *c)
{
	const struct view *v = c->view;

	for (size_t i = 0; i < v->n_tracks; i++) {
		c->track = &v->tracks[i];
		if (i == 0 || c->track->process != c->track[-1].process)
			put_process(c);
		if (has_own_row(c))
			put_row_name(c, c->track->tid);
	}
	put_sampled_names(c);
}

/* --- items --------------------------------------------------------------------------------- */

static void put_time_member(struct chrome *c, const char *member, int64_t ns)
{
	sink_text(c->sink, member);
	sink_micros(c->sink, ns);
}

static void put_start(struct chrome *c, const struct item *item)
{
	put_time_member(c, ",\"ts\":", add_saturated(item->start_ns, c->shift_ns));
}

static void put_args(struct chrome *c, const struct item *item)
{
	if (item->n_args == 0)
		return;
	sink_text(c->sink, ",\"args\":");
	arg_json_object(c->sink, item, arg_json_viewer_value);
}

static const char *chrome_get_name(const struct chrome *c, const struct item *item)
{
	return names_get(&c->view->names, item->name);
}

/* --- flows --------------------------------------------------------------------------------- */

/* Importers read ids as hexadecimal texts. A number of JavaScript cannot hold an id of 64 bits. */
static void put_flow_end(
	struct chrome *c, const struct item *item, const char *phase, uint64_t id, int64_t tid)
{
	/*
	 * Importers join ends of one name only. Both ends of proftap's flows have one name; in
	 * foreign traces a call and its kernel have different ones.
	 */
	bool has_name = item->kind == ITEM_INSTANT && c->view->hosts[c->track->host].is_ours;

	if (id == 0)
		return;
	chrome_begin(c, phase, has_name ? chrome_get_name(c, item) : "flow", tid);
	put_start(c, item);
	sink_printf(c->sink, ",\"cat\":\"flow\",\"id\":\"0x%" PRIx64 "\"", id);
	if (phase[0] == 'f')
		sink_text(c->sink, ",\"bp\":\"e\"");
	chrome_end(c);
}

static void put_flows(struct chrome *c, const struct item *item, int64_t tid)
{
	put_flow_end(c, item, "f", item->flow_in, tid);
	put_flow_end(c, item, "s", item->flow_out, tid);
}

/* --- spans and instants -------------------------------------------------------------------- */

/* Plain spans of threads have no category. */
static void put_category(struct chrome *c, const struct item *item)
{
	if (c->track->kind == TRACK_THREAD && !item->is_step)
		return;
	sink_text(c->sink, ",\"cat\":\"");
	sink_text(c->sink, codec_get_item_type(c->track, item));
	sink_put(c->sink, '"');
}

/* Returns the tid of the span's row, which is added if need be, or -ENOMEM. */
static int64_t take_span_row(struct chrome *c, const struct item *item)
{
	int64_t lane = lanes_place(&c->lanes, item->start_ns, item->duration_ns);
	int64_t tid = c->second_tid + lane - 1;

	if (lane <= 0)
		return lane < 0 ? -ENOMEM : c->tid;
	return tid == c->next_tid ? chrome_add_row(c) : tid;
}

static int put_span(struct chrome *c, const struct item *item)
{
	int64_t tid = take_span_row(c, item);

	if (tid < 0)
		return -ENOMEM;
	chrome_begin(c, "X", chrome_get_name(c, item), tid);
	put_category(c, item);
	put_start(c, item);
	put_time_member(c, ",\"dur\":", item->duration_ns);
	put_args(c, item);
	chrome_end(c);
	put_flows(c, item, tid);
	return 1;
}

static int put_instant(struct chrome *c, const struct item *item)
{
	chrome_begin(c, "i", chrome_get_name(c, item), c->tid);
	put_start(c, item);
	sink_text(c->sink, ",\"s\":\"t\"");
	put_args(c, item);
	chrome_end(c);
	put_flows(c, item, c->tid);
	return 1;
}

/* --- samples of counters ------------------------------------------------------------------- */

/*
 * True if an earlier track of the process has samples of that name; then an id tells this one
 * apart.
 */
static bool is_second_series(struct chrome *c, const struct item *item)
{
	uint32_t *last = &c->series[item->name];
	uint32_t at = (uint32_t)(c->track - c->view->tracks) + 1;
	const struct view_track *other = *last ? &c->view->tracks[*last - 1] : c->track;

	if (other != c->track && other->process == c->track->process)
		return true;
	*last = at;
	return false;
}

static bool sample_is_number(const struct item *item)
{
	double value;

	return item->n_args && item_arg_to_double(&item->args[0], &value) && isfinite(value);
}

static int put_sample(struct chrome *c, const struct item *item)
{
	if (!sample_is_number(item)) {
		codec_lose(c->result, "counter samples that are no number", 1);
		return 0;
	}
	codec_lose(c->result, "further values of counter samples", item->n_args - 1);
	chrome_begin(c, "C", chrome_get_name(c, item), c->track->tid);
	put_start(c, item);
	if (is_second_series(c, item))
		sink_printf(c->sink, ",\"id\":\"%" PRId64 "\"", c->track->tid);
	sink_text(c->sink, ",\"args\":{");
	sink_json(c->sink, item->args[0].key, strlen(item->args[0].key));
	sink_put(c->sink, ':');
	arg_json_value(c->sink, &item->args[0]);
	sink_put(c->sink, '}');
	chrome_end(c);
	return 1;
}

/* Returns 1, 0 if the format cannot express the item (which is counted), or -ENOMEM. */
static int chrome_put_item(struct chrome *c, const struct item *item)
{
	switch (item->kind) {
	case ITEM_SPAN:
		return put_span(c, item);
	case ITEM_INSTANT:
		return put_instant(c, item);
	case ITEM_SAMPLE:
		return put_sample(c, item);
	case ITEM_CPU_SAMPLE: /* no track of view->tracks has one of these two */
	case ITEM_STATE:
		break;
	}
	return 0;
}

/* --- the file ------------------------------------------------------------------------------ */

/* Numbers that may be too large for JavaScript are texts. */
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
	int r = chrome_put_item(c, item);

	c->result->n_items += r > 0;
	return r < 0 ? r : c->sink->error;
}

static int put_track(struct chrome *c, const struct view_track *track, struct diag *d)
{
	int r;

	c->track = track;
	c->lanes = (struct lanes){.v = NULL};
	c->tid = has_own_row(c) ? track->tid : chrome_add_row(c);
	c->second_tid = c->next_tid;
	r = cursor_read(c->view, track, put_item, c, d);
	lanes_deinit(&c->lanes);
	return r;
}

/* --- samples of threads -------------------------------------------------------------------- */

/* Importers take the number 0 for no frame. */
static void put_stack_id(struct sink *s, const char *member, uint32_t stack)
{
	sink_text(s, member);
	sink_uint(s, (uint64_t)stack + 1);
}

static void note_stack(struct chrome *c, uint32_t stack)
{
	for (; stack != STACKS_NONE && !c->is_stack_used[stack];
		stack = c->view->stacks.v[stack].callers)
		c->is_stack_used[stack] = true;
}

static int put_thread_sample(void *chrome, const struct thread_sample *sample)
{
	struct chrome *c = chrome;
	struct sink *s = c->sink;
	int64_t cpu = thread_sample_find_cpu(sample->item);

	sink_text(s, c->n_samples++ ? ",\n{\"name\":\"" : "\n{\"name\":\"");
	sink_text(s, sample->is_waiting ? "waiting\",\"pid\":" : "cpu\",\"pid\":");
	sink_int(s, c->pids[c->track->process]);
	sink_text(s, ",\"tid\":");
	sink_int(s, c->track->tid);
	put_start(c, sample->item);
	if (cpu >= 0)
		sink_printf(s, ",\"cpu\":%" PRId64, cpu);
	if (sample->item->stack != STACKS_NONE)
		put_stack_id(s, ",\"sf\":", sample->item->stack);
	note_stack(c, sample->item->stack);
	sink_text(s, ",\"weight\":");
	sink_int(s, sample->weight_ns);
	sink_put(s, '}');
	c->result->n_items++;
	return s->error;
}

static void put_stack_frame(struct chrome *c, uint32_t stack, bool is_first)
{
	const struct stacks *stacks = &c->view->stacks;
	const char *function = stacks_get_function(stacks, stack);
	const char *module = thread_sample_get_module(c->view, stack);

	put_stack_id(c->sink, is_first ? "\n\"" : ",\n\"", stack);
	sink_text(c->sink, "\":{\"name\":");
	sink_json(c->sink, function, strlen(function));
	sink_text(c->sink, ",\"category\":");
	sink_json(c->sink, module, strlen(module));
	if (stacks->v[stack].callers != STACKS_NONE)
		put_stack_id(c->sink, ",\"parent\":", stacks->v[stack].callers);
	sink_put(c->sink, '}');
}

static void put_stack_frames(struct chrome *c)
{
	bool is_first = true;

	sink_text(c->sink, "\n],\"stackFrames\":{");
	for (uint32_t i = 0; i < c->view->stacks.n && c->sink->error == 0; i++) {
		if (!c->is_stack_used[i])
			continue;
		put_stack_frame(c, i, is_first);
		is_first = false;
	}
	sink_text(c->sink, "\n}}\n");
}

static int put_samples(struct chrome *c, const struct view_track *track, struct diag *d)
{
	c->track = thread_samples_find_row(c->view, track, c->result);
	return c->track ? thread_samples_read(c->view, track, put_thread_sample, c, d) : 0;
}

/*
 * Writes the rest of the file behind the events. Speedscope shows no spans if there are samples, so
 * a trace without samples has neither of these lists.
 */
static int put_all_samples(struct chrome *c, struct diag *d)
{
	const struct view *v = c->view;
	int r = 0;

	for (size_t i = 0; i < v->n_states; i++)
		codec_lose(c->result, "states of threads", v->states[i].n_events);
	if (v->n_samples == 0) {
		sink_text(c->sink, "\n]}\n");
		return 0;
	}
	sink_text(c->sink, "\n],\"samples\":[");
	for (size_t i = 0; i < v->n_samples && r == 0; i++)
		r = put_samples(c, &v->samples[i], d);
	put_stack_frames(c);
	return r;
}

static int chrome_write_all(struct chrome *c, struct diag *d)
{
	const struct view *v = c->view;
	int r = choose_pids(c);

	if (r)
		return r;
	put_head(c);
	put_track_names(c);
	for (size_t i = 0; i < v->n_tracks && r == 0; i++)
		r = put_track(c, &v->tracks[i], d);
	return r ? r : put_all_samples(c, d);
}

static int write_chrome(const struct view *v, const struct codec_options *options, struct sink *s,
	struct codec_result *result, struct diag *d)
{
	struct chrome c = {.view = v, .sink = s, .result = result};
	int r = -ENOMEM;

	(void)options;
	c.shift_ns = codec_choose_shift(v);
	c.next_tid = VIEW_MADE_UP + (int64_t)(v->n_tracks + v->n_samples + v->n_states);
	c.pids = calloc(v->n_processes + 1, sizeof *c.pids);
	c.series = calloc((size_t)v->names.n_texts + 1, sizeof *c.series);
	c.is_stack_used = calloc(v->stacks.n + 1, sizeof *c.is_stack_used);
	if (c.pids && c.series && c.is_stack_used)
		r = chrome_write_all(&c, d);
	free(c.pids);
	free(c.series);
	free(c.is_stack_used);
	return r;
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
