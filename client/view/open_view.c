/* SPDX-License-Identifier: Apache-2.0 */
/* Opening views; see open_view.h. */
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

void view_settings_deinit(struct view_settings *s)
{
	free(s->shifts_ns);
	selection_deinit(&s->selection);
	*s = (struct view_settings)VIEW_SETTINGS_INIT;
}

/* --- alignment of several files ------------------------------------------------------------ */

static int add_shift(struct view_settings *s, size_t *n_allocated, const char *word, struct diag *d)
{
	int64_t shift_ns;
	int r = selection_parse_time("--align", word, &shift_ns, NULL);

	if (r)
		return diag_set(d, r,
			"--align: bad value \"%.64s\": must be epoch, start, or a time for each file, as in "
			"0,-5ms",
			word);
	if (grow(&s->shifts_ns, n_allocated, s->n_shifts + 1))
		return diag_set(d, -ENOMEM, "--align: out of memory");
	s->shifts_ns[s->n_shifts++] = shift_ns;
	return 0;
}

static int set_shifts(struct view_settings *s, const char *value, struct diag *d)
{
	_cleanup_free_ char *copy = strdup(value);
	size_t n_allocated = 0;
	char *rest = copy;
	char *word;
	int r = copy ? 0 : diag_set(d, -ENOMEM, "--align: out of memory");

	while (r == 0 && (word = strsep(&rest, ",")))
		r = add_shift(s, &n_allocated, word, d);
	return r;
}

int view_settings_set_align(void *settings, const char *value, struct diag *d)
{
	struct view_settings *s = settings;

	free(s->shifts_ns);
	s->shifts_ns = NULL;
	s->n_shifts = 0;
	s->align = VIEW_ALIGN_EPOCH;
	if (strcmp(value, "epoch") == 0)
		return 0;
	if (strcmp(value, "start") != 0)
		return set_shifts(s, value, d);
	s->align = VIEW_ALIGN_START;
	return 0;
}

/* --- the selection ------------------------------------------------------------------------- */

static struct selection *selection_of(void *settings)
{
	return &((struct view_settings *)settings)->selection;
}

/* --from and --to may be equal: then the events that are open at that instant are selected. */
static int check_range(const struct selection *s, struct diag *d)
{
	if (s->from_ns <= s->to_ns)
		return 0;
	return diag_set(d, -EINVAL, "--to: is earlier than --from");
}

int view_settings_set_from(void *settings, const char *value, struct diag *d)
{
	struct selection *s = selection_of(settings);
	int r = selection_parse_time("--from", value, &s->from_ns, d);

	return r ? r : check_range(s, d);
}

int view_settings_set_to(void *settings, const char *value, struct diag *d)
{
	struct selection *s = selection_of(settings);
	int r = selection_parse_time("--to", value, &s->to_ns, d);

	return r ? r : check_range(s, d);
}

int view_settings_set_min_duration(void *settings, const char *value, struct diag *d)
{
	struct selection *s = selection_of(settings);
	int r = selection_parse_time("--min_duration", value, &s->min_duration_ns, d);

	if (r == 0 && s->min_duration_ns < 0)
		return diag_set(d, -EINVAL,
			"--min_duration: bad value \"%.64s\": must not be negative", value);
	return r;
}

int view_settings_set_name(void *settings, const char *value, struct diag *d)
{
	return selection_set_name(selection_of(settings), "--name", value, d);
}

int view_settings_set_exclude(void *settings, const char *value, struct diag *d)
{
	return selection_set_exclude(selection_of(settings), "--exclude", value, d);
}

int view_settings_set_thread(void *settings, const char *value, struct diag *d)
{
	return selection_set_threads(selection_of(settings), "--thread", value, d);
}

int view_settings_set_pid(void *settings, const char *value, struct diag *d)
{
	return selection_set_pids(selection_of(settings), "--pid", value, d);
}

int view_settings_set_iterations(void *settings, const char *value, struct diag *d)
{
	return selection_set_iterations(selection_of(settings), "--iterations", value, d);
}

/* --- grouping ------------------------------------------------------------------------------ */

static struct grouping *grouping_of(void *settings)
{
	return &((struct view_settings *)settings)->grouping;
}

int view_settings_set_primary(void *settings, const char *value, struct diag *d)
{
	return grouping_list_parse(&grouping_of(settings)->primary, "--primary_group", value, d);
}

int view_settings_set_secondary(void *settings, const char *value, struct diag *d)
{
	return grouping_list_parse(
		&grouping_of(settings)->secondary, "--secondary_group", value, d);
}

int view_settings_set_system_primary(void *settings, const char *value, struct diag *d)
{
	return grouping_list_parse(
		&grouping_of(settings)->primary, "--system_trace_primary_group", value, d);
}

int view_settings_set_system_secondary(void *settings, const char *value, struct diag *d)
{
	return grouping_list_parse(
		&grouping_of(settings)->secondary, "--system_trace_secondary_group", value, d);
}

struct file_id {
	dev_t device;
	ino_t inode;
};

struct opening {
	struct file_id *ids; /* the ids of the archives' files */
	size_t n_ids_allocated;
	struct names twice; /* the paths of files that were given again */
	struct archive **archives;
	size_t n_archives;
	size_t n_allocated;
	struct names *unreadable; /* NULL: a file that cannot be read is an error */
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

/*
 * A file that is given twice is read once: otherwise its events would appear twice, and its flows
 * would cross.
 */
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

/* Adds the file. On failure, adds the reason to |unreadable|. */
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

/* Returns the path of the only archive, or the directory of the first one, malloc'ed. */
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
 * Joins the files of one recording, or of one process, into one archive. If the user shifts files
 * in time or aligns their starts, processes stay apart, and only the parts of one capture are
 * joined, because they have one start.
 */
static int join_archives(struct opening *o, const struct view_settings *settings)
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
		if (view_note(view, "%s: was given twice, and is read once", o->twice.texts[i]))
			return diag_set(o->diag, -ENOMEM, "trace: out of memory");
	return 0;
}

/* --- checking --pid ------------------------------------------------------------------------ */

static bool is_process(const struct view *view, const char *word, size_t n)
{
	for (size_t i = 0; i < view->n_origins; i++)
		if (selection_is_word(word, n, view->origins[i].name, view->origins[i].pid))
			return true;
	return false;
}

/* Writes "train (pid 4242), /device:GPU:0" and so on, as far as |out| has room. */
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

/*
 * If no word of --pid matches, that is an error. If some words match, each of the
 * others is only noted.
 */
static int check_pids(
	const struct view_settings *settings, struct view *view, const char *path, struct diag *d)
{
	const struct selection *s = &settings->selection;
	const char *word = s->pids;
	size_t n_there = 0;
	char known[200];

	while (word) {
		size_t n = selection_get_word_length(word);

		if (is_process(view, word, n))
			n_there++;
		else if (view_note(view, "--pid: no program or device is %.*s", (int)n, word))
			return diag_set(d, -ENOMEM, "trace: out of memory");
		word = word[n] ? word + n + 1 : NULL;
	}
	if (!s->pids || n_there || settings->may_match_nothing)
		return 0;
	list_processes(view, known, sizeof known);
	return diag_set(d, -ESRCH,
		"--pid %.64s: no such program or device in %.150s, which has: %.190s", s->pids,
		path, known);
}

static int make_view(
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
		r = join_archives(&o, settings);
	if (r == 0)
		r = check_shifts(&o, settings);
	if (r == 0)
		r = o.n_archives ? make_view(&o, settings, out, path) : -EBADMSG;
	for (size_t i = 0; i < o.n_archives; i++)
		archive_free(o.archives[i]);
	free(o.archives);
	free(o.ids);
	names_deinit(&o.twice);
	return r;
}
