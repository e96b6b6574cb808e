/* SPDX-License-Identifier: Apache-2.0 */
/* Finding trace files; see traces.h. */
#include "client/view/traces.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "trace/read/archive.h"

static const char suffix[] = ".xplane.pb";

bool traces_has_name(const char *path)
{
	size_t n = strlen(path);

	return n > sizeof suffix - 1 && strcmp(path + n - (sizeof suffix - 1), suffix) == 0;
}

static int keep_trace(const struct dirent *e)
{
	return e->d_name[0] != '.' && traces_has_name(e->d_name);
}

static int keep_cut_trace(const struct dirent *e)
{
	return e->d_name[0] != '.' && archive_is_cut(e->d_name);
}

/* Also accepts traces that were not received whole. */
static int keep_any_trace(const struct dirent *e)
{
	return keep_trace(e) || keep_cut_trace(e);
}

static int keep_visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static void free_entries(struct dirent **entries, int n)
{
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
}

static int add_path(struct traces *t, const char *dir, const char *name)
{
	char *path = NULL;

	if (dir ? asprintf(&path, "%s/%s", dir, name) < 0 : !(path = strdup(name)))
		return -ENOMEM;
	t->paths[t->n_paths++] = path;
	return 0;
}

/*
 * Adds the traces in |dir|; if there are none, those that were not received whole. 0 or a negative
 * errno.
 */
static int add_dir(struct traces *t, const char *dir)
{
	struct dirent **entries = NULL;
	int n = scandir(dir, &entries, keep_trace, alphasort);
	int r;

	if (n == 0) {
		free(entries);
		n = scandir(dir, &entries, keep_cut_trace, alphasort);
	}
	r = n < 0 ? -errno : 0;
	if (n > 0)
		t->paths = calloc((size_t)n, sizeof *t->paths);
	if (n > 0 && !t->paths)
		r = -ENOMEM;
	for (int i = 0; r == 0 && i < n; i++)
		r = add_path(t, dir, entries[i]->d_name);
	free_entries(entries, n);
	return r;
}

/* Finds the time of the newest trace in |dir|; false: there is none. */
static bool find_newest_time(const char *dir, struct timespec *newest)
{
	struct dirent **entries = NULL;
	int n = scandir(dir, &entries, keep_any_trace, alphasort);
	bool has_any = false;

	for (int i = 0; i < n; i++) {
		_cleanup_free_ char *path = NULL;
		struct stat st;

		if (asprintf(&path, "%s/%s", dir, entries[i]->d_name) < 0 || stat(path, &st) < 0)
			continue;
		if (!has_any || st.st_mtim.tv_sec > newest->tv_sec ||
			(st.st_mtim.tv_sec == newest->tv_sec &&
				st.st_mtim.tv_nsec > newest->tv_nsec))
			*newest = st.st_mtim;
		has_any = true;
	}
	free_entries(entries, n);
	return has_any;
}

static bool is_older(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec <= b->tv_nsec;
}

/* Finds the run below |log_dir| with the newest trace, or NULL; the caller frees it. */
static char *find_newest_run(const char *log_dir)
{
	_cleanup_free_ char *runs = NULL;
	struct dirent **entries = NULL;
	struct timespec newest = {0, 0};
	char *best = NULL;
	int n;

	if (asprintf(&runs, "%s/plugins/profile", log_dir) < 0)
		return NULL;
	n = scandir(runs, &entries, keep_visible, alphasort);
	for (int i = 0; i < n; i++) {
		struct timespec time = {0, 0};
		char *path;

		if (asprintf(&path, "%s/%s", runs, entries[i]->d_name) < 0)
			break;
		if (find_newest_time(path, &time) && (!best || is_older(&newest, &time))) {
			free(best);
			best = path;
			newest = time;
		} else {
			free(path);
		}
	}
	free_entries(entries, n);
	return best;
}

static char *copy_place(const char *place)
{
	char *copy = strdup(place);
	size_t n = copy ? strlen(copy) : 0;

	while (n > 1 && copy[n - 1] == '/')
		copy[--n] = '\0';
	return copy;
}

static int find_in_dir(const char *place, struct traces *t)
{
	_cleanup_free_ char *dir = copy_place(place);
	_cleanup_free_ char *run = NULL;
	int r = dir ? add_dir(t, dir) : -ENOMEM;

	if (r < 0 || t->n_paths > 0)
		return r;
	run = find_newest_run(dir);
	return run ? add_dir(t, run) : -ENOENT;
}

static int find_file(const char *place, struct traces *t)
{
	t->paths = calloc(1, sizeof *t->paths);
	return t->paths ? add_path(t, NULL, place) : -ENOMEM;
}

int traces_find(const char *place, struct traces *out, struct diag *d)
{
	struct stat st;
	int r;

	*out = (struct traces){NULL, 0};
	if (stat(place, &st) < 0)
		return diag_set(d, -errno, "%s: cannot open: %s", place, errno_words(errno));
	r = S_ISDIR(st.st_mode) ? find_in_dir(place, out) : find_file(place, out);
	if (r == -ENOENT)
		return diag_set(d, r,
			"%s: no trace there: neither *.xplane.pb nor plugins/profile/*/*.xplane.pb",
			place);
	return r < 0 ? diag_set(d, r, "%s: cannot read: %s", place, errno_words(r)) : 0;
}

void traces_deinit(struct traces *t)
{
	for (size_t i = 0; i < t->n_paths; i++)
		free(t->paths[i]);
	free(t->paths);
	*t = (struct traces){NULL, 0};
}
