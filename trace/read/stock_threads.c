/* SPDX-License-Identifier: Apache-2.0 */
/* Joins the processes of which both proftap and JAX's profiler server recorded threads. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "trace/read/archive.h"
#include "trace/read/view.h"
#include "trace/read/view_tracks.h"

/* A thread that proftap recorded, and the id that JAX's server gives it. */
struct known_thread {
	uint32_t host;
	int64_t pid;
	int64_t line; /* id of the thread's line in proftap's archive */
	int64_t stock_id; /* id that JAX's server gives the thread */
	size_t track; /* SIZE_MAX: none */
};

struct known_threads {
	struct known_thread *v;
	size_t n;
	size_t n_allocated;
};

static int compare_int64(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare_known_lines(const void *left, const void *right)
{
	const struct known_thread *a = left;
	const struct known_thread *b = right;

	if (a->host != b->host)
		return a->host < b->host ? -1 : 1;
	return a->pid != b->pid ? compare_int64(a->pid, b->pid) : compare_int64(a->line, b->line);
}

static int compare_known_ids(const void *left, const void *right)
{
	const struct known_thread *a = left;
	const struct known_thread *b = right;

	return a->stock_id != b->stock_id ? compare_int64(a->stock_id, b->stock_id)
					  : compare_known_lines(a, b);
}

static bool plane_has_stock_ids(const struct archive_plane *plane)
{
	return archive_plane_find(plane, "ptap_stock_thread_ids");
}

static int add_threads_of_plane(
	struct known_threads *k, const struct archive_plane *plane, uint32_t host)
{
	_cleanup_free_ char *text = archive_plane_copy_text(plane, "ptap_stock_thread_ids");
	struct known_thread one = {
		.host = host, .pid = archive_plane_find_pid(plane), .track = SIZE_MAX};
	char *rest = text;
	char *end;

	while (rest && *rest) {
		one.line = strtoll(rest, &end, 10);
		one.stock_id = strtoll(end, &rest, 10);
		if (rest == end)
			return 0;
		rest += *rest == '\n';
		if (grow(&k->v, &k->n_allocated, k->n + 1))
			return -ENOMEM;
		k->v[k->n++] = one;
	}
	return 0;
}

/* Collects the threads of all files of a recording: each file knows the threads that it saw. */
static int add_threads_of_archive(struct known_threads *k, const struct archive *a, uint32_t host)
{
	int r = 0;

	for (size_t i = 0; i < a->n_planes && r == 0; i++)
		r = add_threads_of_plane(k, &a->planes[i], host);
	for (size_t i = 0; i < a->n_joined && r == 0; i++)
		r = add_threads_of_archive(k, a->joined[i], host);
	return r;
}

static void find_known_tracks(struct known_threads *k, const struct view *v)
{
	qsort(k->v, k->n, sizeof *k->v, compare_known_lines);
	for (size_t i = 0; i < v->n_tracks; i++) {
		const struct view_track *t = &v->tracks[i];
		const struct known_thread key = {.host = t->host,
			.pid = archive_plane_find_pid(t->plane),
			.line = t->line->id};
		struct known_thread *one = NULL;

		if (t->kind == TRACK_THREAD && key.pid && plane_has_stock_ids(t->plane))
			one = bsearch(&key, k->v, k->n, sizeof key, compare_known_lines);
		while (one && one > k->v && compare_known_lines(one - 1, &key) == 0)
			one--;
		for (; one && one < k->v + k->n && compare_known_lines(one, &key) == 0; one++)
			one->track = i;
	}
}

/*
 * Drops ids that several threads had one after the other, since such an id identifies none of them.
 * Several files may contain the same thread.
 */
static void drop_ambiguous(struct known_threads *k)
{
	size_t n = 0;
	size_t end;

	qsort(k->v, k->n, sizeof *k->v, compare_known_ids);
	for (size_t i = 0; i < k->n; i = end) {
		struct known_thread one = k->v[i];
		bool is_one = true;

		for (end = i + 1; end < k->n && k->v[end].stock_id == one.stock_id; end++) {
			is_one = is_one && compare_known_lines(&k->v[end], &one) == 0;
			if (k->v[end].track != SIZE_MAX)
				one.track = k->v[end].track;
		}
		if (is_one && one.track != SIZE_MAX)
			k->v[n++] = one;
	}
	k->n = n;
}

static bool archives_may_be_one_machine(const struct archive *a, const struct archive *b)
{
	return !a->hostnames.n_texts || !b->hostnames.n_texts ||
	       strcmp(a->hostnames.texts[0], b->hostnames.texts[0]) == 0;
}

static int compare_known_id(const void *left, const void *right)
{
	const struct known_thread *a = left;
	const struct known_thread *b = right;

	return compare_int64(a->stock_id, b->stock_id);
}

/*
 * Finds proftap's track for the thread of |t|, which is another server's track; NULL: none is
 * known.
 */
static const struct view_track *find_first_track(
	const struct known_threads *k, const struct view *v, const struct view_track *t)
{
	const struct known_thread key = {.stock_id = t->line->id};
	const struct known_thread *one = NULL;

	if (t->kind == TRACK_THREAD && !plane_has_stock_ids(t->plane))
		one = bsearch(&key, k->v, k->n, sizeof key, compare_known_id);
	return one && one->host != t->host && one->pid == v->processes[t->process].pid &&
			       archives_may_be_one_machine(
				       v->archives[one->host], v->archives[t->host])
		       ? &v->tracks[one->track]
		       : NULL;
}

/* Drops the processes that were joined to others; |becomes| gets the new numbers. */
static void drop_processes(struct view *v, uint32_t *becomes)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n_processes; i++) {
		if (becomes[i] != i) {
			free(v->processes[i].name);
			continue;
		}
		v->processes[n] = v->processes[i];
		becomes[i] = n++;
	}
	v->n_processes = n;
}

/*
 * Joins processes that have threads in common. For each process, |becomes| has the process that
 * gets its tracks; |is_kept| is true for a process that got tracks.
 */
static void join_threads(
	struct view *v, const struct known_threads *k, uint32_t *becomes, bool *is_kept)
{
	for (size_t i = 0; i < v->n_tracks; i++) {
		struct view_track *t = &v->tracks[i];
		const struct view_track *first = find_first_track(k, v, t);

		if (!first || first->process == t->process ||
			becomes[first->process] != first->process || is_kept[t->process] ||
			(becomes[t->process] != t->process &&
				becomes[t->process] != first->process))
			continue;
		becomes[t->process] = first->process;
		is_kept[first->process] = true;
		t->row_plane = first->plane;
		t->row_line = first->line;
	}
}

static int move_tracks(struct view *v, uint32_t *becomes)
{
	_cleanup_free_ uint32_t *numbers = calloc(v->n_processes + 1, sizeof *numbers);

	if (!numbers)
		return -ENOMEM;
	memcpy(numbers, becomes, v->n_processes * sizeof *numbers);
	drop_processes(v, numbers);
	for (size_t i = 0; i < v->n_tracks; i++) {
		struct view_track *t = &v->tracks[i];

		t->process = t->origin = numbers[becomes[t->process]];
	}
	return 0;
}

static int join_known_threads(struct view *v, struct known_threads *k)
{
	_cleanup_free_ uint32_t *becomes = calloc(v->n_processes + 1, sizeof *becomes);
	_cleanup_free_ bool *is_kept = calloc(v->n_processes + 1, sizeof *is_kept);

	if (!becomes || !is_kept)
		return -ENOMEM;
	for (uint32_t i = 0; i < v->n_processes; i++)
		becomes[i] = i;
	find_known_tracks(k, v);
	drop_ambiguous(k);
	join_threads(v, k, becomes, is_kept);
	return move_tracks(v, becomes);
}

int stock_threads_join(struct view *v)
{
	struct known_threads known = {NULL};
	int r = 0;

	for (uint32_t i = 0; i < v->n_archives && v->n_archives > 1 && r == 0; i++)
		r = add_threads_of_archive(&known, v->archives[i], i);
	if (r == 0 && known.n)
		r = join_known_threads(v, &known);
	free(known.v);
	return r;
}
