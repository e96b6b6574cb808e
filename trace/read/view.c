/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens views: hosts, their times, and notes on incomplete files. view_tracks.c makes processes and
 * tracks.
 */
#include "trace/read/view.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "trace/model/space.h"
#include "trace/read/archive.h"
#include "trace/read/grouping.h"
#include "trace/read/view_tracks.h"
#include "trace/saturate.h"
#include "trace/xspace/totals.h"

/* --- hosts --------------------------------------------------------------------------------- */

/* Copies the file's name without ".xplane.pb", and without the number of a part. */
static char *copy_stem(const struct archive *s)
{
	const char *slash = strrchr(s->path, '/');
	const char *stem = slash ? slash + 1 : s->path;
	const char *end = strstr(stem, ".xplane.pb");
	size_t n = end ? (size_t)(end - stem) : strlen(stem);
	char part[16];
	size_t n_part = (size_t)snprintf(part, sizeof part, "-p%u", s->part.number);

	if (s->part.n_parts && n > n_part && memcmp(stem + n - n_part, part, n_part) == 0)
		n -= n_part;
	return strndup(stem, n);
}

static int name_host(struct view_host *host)
{
	const struct archive *s = host->archive;

	host->stem = copy_stem(s);
	if (!host->stem)
		return -ENOMEM;
	host->name = s->hostnames.n_texts && s->hostnames.texts[0][0]
			     ? strdup(s->hostnames.texts[0])
			     : strdup(host->stem);
	return host->name ? 0 : -ENOMEM;
}

static uint32_t view_intern(struct view *v, const char *text)
{
	return names_intern(&v->names, text, strlen(text));
}

static int map_names(struct view *v, struct view_host *host)
{
	const struct names *names = &host->archive->names;

	host->names = calloc((size_t)names->n_texts + 1, sizeof *host->names);
	host->unknown = view_intern(v, "?");
	if (!host->names || host->unknown == NAMES_NONE)
		return -ENOMEM;
	for (uint32_t i = 0; i < names->n_texts; i++) {
		host->names[i] = view_intern(v, names->texts[i]);
		if (host->names[i] == NAMES_NONE)
			return -ENOMEM;
	}
	return 0;
}

/*
 * True if the offset of a server's clock is only known as a range, and the range contains 0. Then
 * its times are not shifted: most machines set their clocks by NTP, whose error is far smaller than
 * such a range.
 */
static bool offset_is_within_error(
	const struct view_host *host, const struct archive_plane *environment)
{
	int64_t error_ns = archive_plane_find_int(environment, "proftap_clock_uncertainty_ns");

	return error_ns > 0 && host->clock_offset_ns >= -error_ns &&
	       host->clock_offset_ns <= error_ns;
}

static int64_t find_host_length(const struct view_host *host)
{
	const struct archive *a = host->archive;
	struct report_length length = {.last_ns = 0};

	archive_read_length(a, &length);
	for (size_t i = 0; i < a->n_planes; i++)
		for (size_t k = 0; k < a->planes[i].n_lines; k++)
			if (a->planes[i].lines[k].end_ns > length.last_ns)
				length.last_ns = a->planes[i].lines[k].end_ns;
	return report_find_length(&length);
}

static int fill_host(struct view *v, struct view_host *host)
{
	const struct archive_plane *environment =
		archive_find_plane(host->archive, PLANE_ENVIRONMENT);

	host->epoch_ns = archive_plane_find_int(environment, "profile_start_time");
	host->clock_offset_ns = archive_plane_find_int(environment, "proftap_clock_offset_ns");
	host->is_ours = archive_is_ours(host->archive);
	if (!host->is_ours && offset_is_within_error(host, environment))
		host->clock_offset_ns = 0;
	host->length_ns = find_host_length(host);
	host->n_dropped = archive_count_dropped(host->archive);
	return name_host(host) || map_names(v, host) ? -ENOMEM : 0;
}

static int add_hosts(struct view *v)
{
	v->hosts = calloc(v->n_archives, sizeof *v->hosts);
	if (!v->hosts)
		return -ENOMEM;
	for (size_t i = 0; i < v->n_archives; i++) {
		v->hosts[i].archive = v->archives[i];
		if (fill_host(v, &v->hosts[i]))
			return -ENOMEM;
	}
	return 0;
}

/* --- times --------------------------------------------------------------------------------- */

int view_note(struct view *v, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0)
		text = NULL;
	return !text || names_intern(&v->notes, text, (size_t)n) == NAMES_NONE ? -ENOMEM : 0;
}

/* Returns the start of the recording by the clock of the client. */
static int64_t host_find_begin(const struct view_host *host)
{
	return sub_saturated(host->epoch_ns, host->clock_offset_ns);
}

/* Returns the earliest known start; 0: none is known. */
static int64_t view_find_epoch(const struct view *v)
{
	int64_t epoch_ns = 0;

	for (size_t i = 0; i < v->n_archives; i++) {
		const struct view_host *host = &v->hosts[i];

		if (host->epoch_ns > 0 && (epoch_ns == 0 || host_find_begin(host) < epoch_ns))
			epoch_ns = host_find_begin(host);
	}
	return epoch_ns;
}

/* Returns the start of the first event. */
static int64_t archive_find_first(const struct archive *a)
{
	int64_t first_ns = INT64_MAX;

	for (size_t i = 0; i < a->n_planes; i++)
		for (size_t k = 0; k < a->planes[i].n_lines; k++)
			if (a->planes[i].lines[k].first_ns < first_ns)
				first_ns = a->planes[i].lines[k].first_ns;
	return first_ns == INT64_MAX ? 0 : first_ns;
}

/* If there are several archives, one without a start time is shown from its first event on. */
static void align_to_start(struct view *v)
{
	for (size_t i = 0; i < v->n_archives; i++)
		if (v->n_archives > 1 && v->hosts[i].epoch_ns <= 0)
			v->hosts[i].shift_ns = sub_saturated(0, archive_find_first(v->archives[i]));
}

static int align_to_epoch(struct view *v)
{
	for (size_t i = 0; i < v->n_archives; i++) {
		struct view_host *host = &v->hosts[i];

		if (host->epoch_ns > 0)
			host->shift_ns = sub_saturated(host_find_begin(host), v->epoch_ns);
		else if (v->epoch_ns && v->n_archives > 1 &&
			 view_note(v, "%s: it has no start time; shown from time 0 on",
				 host->archive->path))
			return -ENOMEM;
	}
	return 0;
}

static int align_hosts(struct view *v, const struct view_options *o)
{
	int r = 0;

	v->epoch_ns = view_find_epoch(v);
	align_to_start(v);
	if (o->align == VIEW_ALIGN_EPOCH)
		r = align_to_epoch(v);
	for (size_t i = 0; i < o->n_shifts && i < v->n_archives; i++)
		v->hosts[i].shift_ns = add_saturated(v->hosts[i].shift_ns, o->shifts_ns[i]);
	return r;
}

/* --- notes on incomplete files ------------------------------------------------------------- */

static int note_count(struct view *v, const struct archive *a, uint64_t n, const char *what)
{
	return n ? view_note(v, "%s: %llu %s", a->path, (unsigned long long)n, what) : 0;
}

/*
 * Finds the line in which the file was cut; NULL: it was cut between two lines, or before the
 * line's first event.
 */
static const struct archive_line *find_cut_line(const struct archive *a)
{
	const struct archive_plane *plane = a->n_planes ? &a->planes[a->n_planes - 1] : NULL;
	const struct archive_line *line =
		plane && plane->n_lines ? &plane->lines[plane->n_lines - 1] : NULL;

	return a->is_line_cut && line && line->position + 1 == plane->n_lines_read ? line : NULL;
}

static int note_cut(struct view *v, const struct view_host *host)
{
	const struct archive *a = host->archive;
	const struct archive_line *line = find_cut_line(a);

	if (!a->is_cut)
		return 0;
	if (!line)
		return view_note(v,
			"%s: the file was cut: the rows in it are whole, and the rows behind them are "
			"missing",
			a->path);
	/* In a foreign file events may be in no order of time. */
	if (!line->is_ordered)
		return view_note(v,
			"%s: the row \"%s\" was cut, and the rows behind it are missing; those in front "
			"of it are whole",
			a->path, line->name);
	return view_note(v,
		"%s: the file is whole up to %.3f ms, where the row \"%s\" was cut: later events of that "
		"row and all rows behind it are missing",
		a->path, (double)add_saturated(line->last_ns, host->shift_ns) / 1e6, line->name);
}

static int note_left_out(struct view *v)
{
	for (size_t i = 0; i < v->n_archives; i++) {
		const struct archive *a = v->archives[i];

		if (note_cut(v, &v->hosts[i]) ||
			note_count(v, a, a->n_aggregated, "events have no time and are left out") ||
			note_count(
				v, a, a->n_keyless, "arguments have no names and are left out") ||
			note_count(v, a, a->n_cut, "names have a zero byte and end there"))
			return -ENOMEM;
	}
	return 0;
}

/* --- opening a view ------------------------------------------------------------------------ */

static int view_fill(struct view *v, const struct view_options *o, struct diag *d)
{
	int r;

	if (add_hosts(v) || align_hosts(v, o) || note_left_out(v) || view_add_tracks(v) ||
		view_add_stacks(v))
		return -ENOMEM;
	v->origins = v->processes;
	v->n_origins = v->n_processes;
	if (o->grouping && grouping_apply(o->grouping, v))
		return -ENOMEM;
	if ((r = flow_uses_make(v, d)))
		return r;
	return selection_prepare(v, d);
}

static void free_archives(struct archive **archives, size_t n)
{
	for (size_t i = 0; i < n; i++)
		archive_free(archives[i]);
}

static int take_archives(struct view *v, struct archive **archives, size_t n)
{
	v->archives = calloc(n, sizeof *v->archives);
	if (!v->archives) {
		free_archives(archives, n);
		return -ENOMEM;
	}
	memcpy(v->archives, archives, n * sizeof *archives);
	v->n_archives = n;
	return 0;
}

int view_open(struct archive **archives, size_t n_archives, const struct view_options *options,
	struct view **out, struct diag *d)
{
	struct view *v = calloc(1, sizeof *v);
	int r;

	if (!v) {
		free_archives(archives, n_archives);
		return diag_set(d, -ENOMEM, "trace: out of memory");
	}
	v->selection = options->selection;
	r = take_archives(v, archives, n_archives);
	if (r == 0)
		r = view_fill(v, options, d);
	if (r) {
		view_free(v);
		return d && d->text[0] ? r : diag_set(d, r, "trace: %s", errno_words(r));
	}
	*out = v;
	return 0;
}

static void free_tracks(struct view_track *tracks, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(tracks[i].name);
		free(tracks[i].origin_name);
	}
	free(tracks);
}

static void free_processes(struct view_process *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(p[i].name);
	free(p);
}

struct view *view_free(struct view *v)
{
	if (!v)
		return NULL;
	for (size_t i = 0; v->hosts && i < v->n_archives; i++) {
		free(v->hosts[i].name);
		free(v->hosts[i].stem);
		free(v->hosts[i].names);
	}
	free(v->hosts);
	free_processes(v->processes, v->n_processes);
	if (v->origins != v->processes)
		free_processes(v->origins, v->n_origins);
	selected_deinit(&v->selected);
	free_tracks(v->tracks, v->n_tracks);
	free_tracks(v->samples, v->n_samples);
	free_tracks(v->states, v->n_states);
	for (size_t i = 0; i < v->n_profiles; i++)
		free(v->profiles[i].numbers);
	free(v->profiles);
	stacks_deinit(&v->stacks);
	free(v->function_names);
	free_archives(v->archives, v->n_archives);
	free(v->archives);
	names_deinit(&v->names);
	names_deinit(&v->notes);
	flow_uses_deinit(&v->flow_uses);
	free(v);
	return NULL;
}
