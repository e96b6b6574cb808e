/* SPDX-License-Identifier: Apache-2.0 */
/* Views for commands; see open_view.h. */
#include "client/view/open_view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/grow.h"
#include "client/view/traces.h"
#include "trace/model/names.h"
#include "trace/read/archive.h"
#include "trace/read/archive_join.h"

struct file_id {
	dev_t device;
	ino_t inode;
};

struct opening {
	struct file_id *ids; /* of the archives' files */
	size_t n_ids_allocated;
	struct names twice; /* paths of what was given already */
	struct archive **archives;
	size_t n_archives;
	size_t n_allocated;
	struct names *unreadable; /* NULL: there may be none */
	struct diag *diag;
};

static bool is_known(const struct opening *o, const struct stat *st)
{
	for (size_t i = 0; i < o->n_archives; i++)
		if (o->ids[i].device == st->st_dev && o->ids[i].inode == st->st_ino)
			return true;
	return false;
}

static int open_file(struct opening *o, const char *path, const struct stat *st)
{
	int r;

	if (grow(&o->archives, &o->n_allocated, o->n_archives + 1) ||
		grow(&o->ids, &o->n_ids_allocated, o->n_archives + 1))
		return diag_set(o->diag, -ENOMEM, "%.300s: out of memory", path);
	r = archive_open(path, &o->archives[o->n_archives], o->diag);
	o->ids[o->n_archives] = (struct file_id){st->st_dev, st->st_ino};
	o->n_archives += r == 0;
	return r;
}

/* One that is given twice is read once: its events would stand there twice, and its flows cross. */
static int add_file(struct opening *o, const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return diag_set(
			o->diag, -errno, "%.300s: cannot open: %s", path, errno_words(errno));
	if (!is_known(o, &st))
		return open_file(o, path, &st);
	if (names_intern(&o->twice, path, strlen(path)) == NAMES_NONE)
		return diag_set(o->diag, -ENOMEM, "%.300s: out of memory", path);
	return 0;
}

/* Adds the file, or the sentence about it to what cannot be read. */
static int try_file(struct opening *o, const char *path)
{
	int r = add_file(o, path);
	const char *text = o->diag->text;

	if (r == 0 || r == -ENOMEM || !o->unreadable)
		return r;
	if (names_intern(o->unreadable, text, strlen(text)) == NAMES_NONE)
		return -ENOMEM;
	*o->diag = (struct diag)DIAG_INIT;
	return 0;
}

static int add_place(struct opening *o, const char *place)
{
	struct traces traces;
	int r = traces_find(place, &traces, o->diag);

	for (size_t i = 0; i < traces.n_paths && r == 0; i++)
		r = try_file(o, traces.paths[i]);
	traces_deinit(&traces);
	return r;
}

/* The file, or the directory that the files of the run lie in: of those that could be read. */
static char *copy_path(const struct opening *o)
{
	const char *path = o->archives[0]->path;
	const char *slash = strrchr(path, '/');

	if (o->n_archives == 1)
		return strdup(path);
	if (!slash)
		return strdup(".");
	return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

/*
 * Files of one recording, or of one process, are read as one. Who moves files in time, or lays their begins over each other, wants
 * them apart, but parts of one capture have one begin.
 */
static int join(struct opening *o, const struct view_settings *settings)
{
	bool is_moved = settings->align != VIEW_ALIGN_EPOCH || settings->n_shifts;
	int r = archives_join(o->archives, &o->n_archives, is_moved ? JOIN_PARTS : JOIN_PROCESSES);

	return r ? diag_set(o->diag, r, "trace: out of memory") : 0;
}

static int check_shifts(const struct opening *o, const struct view_settings *settings)
{
	if (!settings->n_shifts || settings->n_shifts == o->n_archives)
		return 0;
	return diag_set(o->diag, -EINVAL, "--align: a time for each file is needed: %zu, not %zu",
		o->n_archives, settings->n_shifts);
}

static int note_twice(const struct opening *o, struct view *view)
{
	for (uint32_t i = 0; i < o->twice.n_texts; i++)
		if (view_note(view, "%s: was given twice, is read once", o->twice.texts[i]))
			return diag_set(o->diag, -ENOMEM, "trace: out of memory");
	return 0;
}

/* --- whom --pid means ---------------------------------------------------------------------- */

static bool is_there(const struct view *view, const char *word, size_t n)
{
	for (size_t i = 0; i < view->n_origins; i++)
		if (selection_is_word(word, n, view->origins[i].name, view->origins[i].pid))
			return true;
	return false;
}

/* "train (pid 4242), /device:GPU:0": as many as there is room for. */
static void list_processes(const struct view *view, char *out, size_t size)
{
	size_t n = 0;

	snprintf(out, size, "none");
	for (size_t i = 0; i < view->n_origins && n < size; i++) {
		const struct view_process *p = &view->origins[i];

		n += (size_t)snprintf(out + n, size - n, "%s%s", i ? ", " : "", p->name);
		if (p->is_real && n < size)
			n += (size_t)snprintf(out + n, size - n, " (pid %lld)", (long long)p->pid);
	}
}

/* A word that means nobody is a mistake; beside others that mean somebody it may be of another trace. */
static int check_pids(
	const struct view_settings *settings, struct view *view, const char *path, struct diag *d)
{
	const struct selection *s = &settings->selection;
	const char *word = s->pids;
	size_t n_there = 0;
	char known[200];

	while (word) {
		size_t n = selection_get_word_length(word);

		if (is_there(view, word, n))
			n_there++;
		else if (view_note(view, "--pid: no program or device is %.*s", (int)n, word))
			return diag_set(d, -ENOMEM, "trace: out of memory");
		word = word[n] ? word + n + 1 : NULL;
	}
	if (!s->pids || n_there || settings->may_mean_nobody)
		return 0;
	list_processes(view, known, sizeof known);
	return diag_set(d, -ESRCH,
		"--pid %.64s: no such program or device in %.150s, which has: %.190s", s->pids,
		path, known);
}

static int make(
	struct opening *o, const struct view_settings *settings, struct view **out, char **path)
{
	const struct view_options options = {
		.align = settings->align,
		.shifts_ns = settings->shifts_ns,
		.n_shifts = settings->n_shifts,
		.selection = selection_is_all(&settings->selection) ? NULL : &settings->selection,
		.grouping = &settings->grouping,
	};
	int r;

	*path = copy_path(o);
	if (!*path)
		return diag_set(o->diag, -ENOMEM, "trace: out of memory");
	r = view_open(o->archives, o->n_archives, &options, out, o->diag);
	o->n_archives = 0;
	if (r == 0 &&
		((r = note_twice(o, *out)) || (r = check_pids(settings, *out, *path, o->diag))))
		*out = view_free(*out);
	if (r) {
		free(*path);
		*path = NULL;
	}
	return r;
}

int open_view(char *const *places, size_t n_places, const struct view_settings *settings,
	struct view **out, char **path, struct diag *d)
{
	struct opening o = {.unreadable = settings->unreadable, .diag = d};
	int r = 0;

	for (size_t i = 0; i < n_places && r == 0; i++)
		r = add_place(&o, places[i]);
	if (r == 0)
		r = join(&o, settings);
	if (r == 0)
		r = check_shifts(&o, settings);
	if (r == 0)
		r = o.n_archives ? make(&o, settings, out, path) : -EBADMSG;
	for (size_t i = 0; i < o.n_archives; i++)
		archive_free(o.archives[i]);
	free(o.archives);
	free(o.ids);
	names_deinit(&o.twice);
	return r;
}
