/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folded stacks: a line for each distinct stack of spans, "process;thread;outer;inner NS", where NS
 * is the self time of inner. Readers split a line at ';' and at its last space, and flamegraph.pl
 * takes a number before that space for a second weight, so no frame contains ';' or a space.
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
#include "trace/read/view.h"

struct folded {
	const struct view *view;
	struct sink *sink;
	struct codec_result *result;
	struct stack_tree tree;
	bool *is_used; /* by name id: written, and counted if changed */
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
static void put_name_frame(struct folded *f, uint32_t name)
{
	const char *text = names_get(&f->view->names, name);

	if (!f->is_used[name])
		f->n_changed += name_is_changed(text);
	f->is_used[name] = true;
	put_frame(f->sink, text);
}

static void put_stack(struct folded *f, const struct view_track *track, size_t node)
{
	const struct view *v = f->view;
	uint32_t path[STACK_MAX_DEPTH];
	size_t n = stack_tree_get_path(&f->tree, node, path);

	if (view_names_hosts(v)) {
		put_frame(f->sink, v->hosts[view_get_origin(v, track)->host].name);
		sink_put(f->sink, ';');
	}
	put_frame(f->sink, view_get_process(v, track)->name);
	sink_put(f->sink, ';');
	put_frame(f->sink, track->name);
	for (size_t i = 0; i < n; i++) {
		sink_put(f->sink, ';');
		put_name_frame(f, f->tree.nodes[path[i]].name);
	}
	sink_put(f->sink, ' ');
	sink_int(f->sink, f->tree.nodes[node].self_ns);
	sink_put(f->sink, '\n');
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

static int folded_write_all(struct folded *f, struct diag *d)
{
	const struct view *v = f->view;
	int r = 0;

	for (size_t i = 0; i < v->n_tracks && r == 0; i++)
		r = put_track(f, &v->tracks[i], d);
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
	int r;

	(void)options;
	f.is_used = calloc((size_t)v->names.n_texts + 1, sizeof *f.is_used);
	r = f.is_used ? folded_write_all(&f, d) : -ENOMEM;
	stack_tree_deinit(&f.tree);
	free(f.is_used);
	return r;
}

static const char *const aliases[] = {"collapsed", NULL};

const struct codec codec_folded = {
	.name = "folded",
	.aliases = aliases,
	.suffix = ".folded",
	.help = "stacks of spans with self times in ns, for flamegraph.pl and speedscope.app",
	.write = write_folded,
};
