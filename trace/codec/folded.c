/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folded stacks: a line for each distinct stack of spans, "process;thread;outer;inner NS", where NS
 * is the self time of inner. A stack of functions is below "process;thread_[cpu]" with the
 * processor time that its samples stand for, or below "process;thread_[waiting]" with the time of
 * waiting, so that no frame adds up times of different kinds. Readers split a line at ';' and at
 * its last space, and flamegraph.pl takes a number before that space for a second weight, so no
 * frame contains ';' or a space.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/utf8.h"
#include "trace/codec/codec.h"
#include "trace/codec/sink.h"
#include "trace/codec/stack_tree.h"
#include "trace/codec/thread_samples.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/saturate.h"

/* The samples of a thread that have one stack. */
struct folded_weights {
	int64_t cpu_ns;
	int64_t waiting_ns;
};

struct folded {
	const struct view *view;
	struct sink *sink;
	struct codec_result *result;
	struct stack_tree tree;
	/* By name id, and then by text of the view's stacks: written, and counted if changed */
	bool *is_used;
	struct folded_weights *weights; /* by stack; all zero between threads */
	uint32_t *sampled; /* stacks of the thread that is being read, each once */
	size_t n_sampled;
	const struct view_track *last; /* last track that had a stack */
	uint64_t n_without_time;
	uint64_t n_changed; /* names that are written with other characters */
};

/* --- frames -------------------------------------------------------------------------------- */

/* Characters that regular expressions treat as a space. */
static bool is_wide_space(uint32_t c)
{
	return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
	       c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

static size_t put_wide(struct sink *s, const char *text, size_t n)
{
	size_t length = utf8_length(text, n);

	if (length && is_wide_space(utf8_decode(text, length)))
		sink_put(s, '_');
	else
		sink_character(s, text, n);
	return length ? length : 1;
}

static void put_narrow(struct sink *s, char c)
{
	if (c == ' ')
		sink_put(s, '_');
	else if (c == ';')
		sink_put(s, ':');
	else
		sink_put(s, (unsigned char)c < 0x20 || c == 0x7f ? '?' : c);
}

static void put_frame(struct sink *s, const char *text)
{
	size_t n = strlen(text);

	if (n == 0)
		sink_text(s, "(unnamed)");
	for (size_t i = 0; i < n;) {
		if ((unsigned char)text[i] >= 0x80)
			i += put_wide(s, text + i, n - i);
		else
			put_narrow(s, text[i++]);
	}
}

static bool name_is_changed(const char *text)
{
	for (; *text; text++)
		if (*text == ';' || (unsigned char)*text < 0x20 || *text == 0x7f)
			return true;
	return false;
}

/* --- stacks -------------------------------------------------------------------------------- */

/*
 * Counts changed names of the track, its process and its host, each once: tracks of one process and
 * processes of one host lie next to each other.
 */
static void count_changed_row(struct folded *f, const struct view_track *track)
{
	const struct view *v = f->view;
	uint32_t host = view_get_origin(v, track)->host;

	f->n_changed += name_is_changed(track->name);
	if (!f->last || f->last->process != track->process)
		f->n_changed += name_is_changed(view_get_process(v, track)->name);
	if (view_names_hosts(v) && (!f->last || view_get_origin(v, f->last)->host != host))
		f->n_changed += name_is_changed(v->hosts[host].name);
	f->last = track;
}

/* A space that becomes an underscore does not count as a change. */
static void put_name_frame(struct folded *f, const char *text, size_t use)
{
	if (!f->is_used[use])
		f->n_changed += name_is_changed(text);
	f->is_used[use] = true;
	sink_put(f->sink, ';');
	put_frame(f->sink, text);
}

/* Writes the frames of the host, if there are several, the process and the thread. */
static void put_row(struct folded *f, const struct view_track *track)
{
	const struct view *v = f->view;

	if (view_names_hosts(v)) {
		put_frame(f->sink, v->hosts[view_get_origin(v, track)->host].name);
		sink_put(f->sink, ';');
	}
	put_frame(f->sink, view_get_process(v, track)->name);
	sink_put(f->sink, ';');
	put_frame(f->sink, track->name);
}

static void put_weight(struct folded *f, int64_t ns)
{
	sink_put(f->sink, ' ');
	sink_int(f->sink, ns);
	sink_put(f->sink, '\n');
}

static void put_stack(struct folded *f, const struct view_track *track, size_t node)
{
	uint32_t path[STACK_MAX_DEPTH];
	size_t n = stack_tree_get_path(&f->tree, node, path);

	put_row(f, track);
	for (size_t i = 0; i < n; i++) {
		uint32_t name = f->tree.nodes[path[i]].name;

		put_name_frame(f, names_get(&f->view->names, name), name);
	}
	put_weight(f, f->tree.nodes[node].self_ns);
}

/* Spans without self time are not lost if a stack inside of them has self time and shows them. */
static int count_without_time(struct folded *f)
{
	const struct stack_tree *t = &f->tree;
	_cleanup_free_ bool *is_seen = calloc(t->n_nodes, sizeof *is_seen);

	if (!is_seen)
		return -ENOMEM;
	for (size_t i = t->n_nodes - 1; i > 0; i--) {
		if (is_seen[i] || t->nodes[i].self_ns)
			is_seen[t->nodes[i].parent] = true;
		else
			f->n_without_time += t->nodes[i].n_spans;
	}
	return 0;
}

static int put_stacks(struct folded *f, const struct view_track *track)
{
	uint64_t n_stacks = 0;

	for (size_t i = 1; i < f->tree.n_nodes && f->sink->error == 0; i++) {
		f->result->n_items += f->tree.nodes[i].n_spans;
		if (f->tree.nodes[i].self_ns) {
			put_stack(f, track, i);
			n_stacks++;
		}
	}
	if (n_stacks)
		count_changed_row(f, track);
	return f->sink->error ? f->sink->error : count_without_time(f);
}

static int put_track(struct folded *f, const struct view_track *track, struct diag *d)
{
	int r = stack_tree_read(&f->tree, f->view, track, d);

	return r ? r : put_stacks(f, track);
}

/* --- samples ------------------------------------------------------------------------------- */

static int add_sample(void *folded, const struct thread_sample *sample)
{
	struct folded *f = folded;
	struct folded_weights *w;

	if (!thread_sample_has_weight(sample, f->result))
		return 0;
	w = &f->weights[sample->item->stack];
	if (!w->cpu_ns && !w->waiting_ns)
		f->sampled[f->n_sampled++] = sample->item->stack;
	if (sample->is_waiting)
		w->waiting_ns = add_saturated(w->waiting_ns, sample->weight_ns);
	else
		w->cpu_ns = add_saturated(w->cpu_ns, sample->weight_ns);
	f->result->n_items++;
	return 0;
}

/* |kind| tells the times of running from those of waiting, and both from those of spans. */
static void put_sampled_stack(struct folded *f, const struct view_track *row, uint32_t stack,
	const char *kind, int64_t ns)
{
	const struct stacks *s = &f->view->stacks;
	uint32_t path[STACKS_MAX_DEPTH];
	size_t n = stacks_get_path(s, stack, path);

	if (!ns)
		return;
	put_row(f, row);
	sink_text(f->sink, kind);
	for (size_t i = 0; i < n; i++)
		put_name_frame(f, stacks_get_function(s, path[i]),
			f->view->names.n_texts + s->frames[s->v[path[i]].frame].function);
	put_weight(f, ns);
}

static int put_samples(struct folded *f, const struct view_track *track, struct diag *d)
{
	const struct view_track *row = thread_samples_find_row(f->view, track, f->result);
	int r = row ? thread_samples_read(f->view, track, add_sample, f, d) : 0;

	for (size_t i = 0; i < f->n_sampled; i++) {
		struct folded_weights *w = &f->weights[f->sampled[i]];

		put_sampled_stack(f, row, f->sampled[i], "_[cpu]", w->cpu_ns);
		put_sampled_stack(f, row, f->sampled[i], "_[waiting]", w->waiting_ns);
		*w = (struct folded_weights){0};
	}
	if (f->n_sampled)
		count_changed_row(f, row);
	f->n_sampled = 0;
	return r ? r : f->sink->error;
}

/* --- the file ------------------------------------------------------------------------------ */

static int folded_write_all(struct folded *f, struct diag *d)
{
	const struct view *v = f->view;
	int r = 0;

	for (size_t i = 0; i < v->n_tracks && r == 0; i++)
		r = put_track(f, &v->tracks[i], d);
	for (size_t i = 0; i < v->n_samples && r == 0; i++)
		r = put_samples(f, &v->samples[i], d);
	stack_tree_lose(&f->tree, f->result);
	codec_lose(f->result, "spans that took no time", f->n_without_time);
	codec_lose(f->result, "names whose ';' or control characters were replaced", f->n_changed);
	f->result->n_items -= f->n_without_time;
	return r;
}

static int write_folded(const struct view *v, const struct codec_options *options, struct sink *s,
	struct codec_result *result, struct diag *d)
{
	struct folded f = {.view = v, .sink = s, .result = result};
	int r = -ENOMEM;

	(void)options;
	f.is_used =
		calloc((size_t)v->names.n_texts + v->stacks.texts.n_texts + 1, sizeof *f.is_used);
	f.weights = calloc(v->stacks.n + 1, sizeof *f.weights);
	f.sampled = calloc(v->stacks.n + 1, sizeof *f.sampled);
	if (f.is_used && f.weights && f.sampled)
		r = folded_write_all(&f, d);
	stack_tree_deinit(&f.tree);
	free(f.is_used);
	free(f.weights);
	free(f.sampled);
	return r;
}

static const char *const aliases[] = {"collapsed", NULL};

const struct codec codec_folded = {
	.name = "folded",
	.aliases = aliases,
	.suffix = ".folded",
	.help = "stacks of spans and samples in ns, for flamegraph.pl and speedscope.app",
	.write = write_folded,
};
