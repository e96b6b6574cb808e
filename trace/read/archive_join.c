/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joins archives. The first archive of a recording keeps its planes and lines. A line of another
 * archive is linked behind the line that is the same thread. The ids of its events are valid only
 * in the plane that it comes from, so this plane becomes its dictionary. Afterwards the names of
 * events in all joined archives are indices into the names of the first one.
 */
#include "trace/read/archive_join.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "trace/model/space.h"
#include "trace/read/archive.h"
#include "trace/saturate.h"

struct joining {
	struct archive *to;
	struct archive *from;
	int64_t shift_ns; /* added to the times of |from| */
	/* |to| and |from| are parts of one capture: planes and lines have the same order */
	bool has_same_shape;
	bool adds_losses; /* |from| counted losses of its own */
};

/* --- lines --------------------------------------------------------------------------------- */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_positions(const void *left, const void *right)
{
	const struct archive_line *const *a = left;
	const struct archive_line *const *b = right;

	return compare_numbers((*a)->position, (*b)->position);
}

/*
 * Counter lines are compared by series, since each file gives them new ids; async lines are
 * compared by name.
 */
static int compare_threads(const void *left, const void *right)
{
	const struct archive_line *a = *(const struct archive_line *const *)left;
	const struct archive_line *b = *(const struct archive_line *const *)right;

	if (a->is_counters != b->is_counters)
		return a->is_counters ? 1 : -1;
	if (a->is_counters)
		return compare_numbers(a->series, b->series);
	if (a->is_async != b->is_async)
		return a->is_async ? 1 : -1;
	if (a->is_async)
		return strcmp(a->name, b->name);
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return strcmp(a->name, b->name);
}

typedef int (*line_order)(const void *left, const void *right);

static void link_line(struct archive_line *first, struct archive_line *line)
{
	line->next = first->next;
	first->next = line;
	first->n_events += line->n_events;
	first->is_async = first->is_async && line->is_async;
	if (line->first_ns < first->first_ns)
		first->first_ns = line->first_ns;
	if (line->end_ns > first->end_ns)
		first->end_ns = line->end_ns;
}

static void shift_line(const struct joining *j, struct archive_line *line)
{
	line->base_ns = add_saturated(line->base_ns, j->shift_ns);
	line->first_ns = add_saturated(line->first_ns, j->shift_ns);
	line->last_ns = add_saturated(line->last_ns, j->shift_ns);
	line->end_ns = add_saturated(line->end_ns, j->shift_ns);
}

/* Returns the sorted lines of |plane|; NULL when memory ran out. */
static struct archive_line **sort_lines(struct archive_plane *plane, line_order order)
{
	struct archive_line **lines = calloc(plane->n_lines + 1, sizeof *lines);

	if (!lines)
		return NULL;
	for (size_t i = 0; i < plane->n_lines; i++)
		lines[i] = &plane->lines[i];
	qsort(lines, plane->n_lines, sizeof *lines, order);
	return lines;
}

/* Links |line|, and the lines behind it, behind |first|. */
static void link_lines(struct archive_line *first, struct archive_line *line)
{
	struct archive_line *last = line;

	while (last->next)
		last = last->next;
	last->next = first->next;
	first->next = line->next;
	line->next = NULL;
	link_line(first, line);
}

/*
 * Makes one line of all async lines of one name, because the same span can lie on different lines
 * in different files. No line may be added to |plane| afterwards.
 */
static int join_async_lines(struct archive_plane *plane)
{
	_cleanup_free_ struct archive_line **sorted = sort_lines(plane, compare_threads);
	size_t first = 0;
	size_t n_behind = 0;
	size_t n = 0;

	plane->behind = calloc(plane->n_lines + 1, sizeof *plane->behind);
	if (!sorted || !plane->behind)
		return -ENOMEM;
	for (size_t i = 1; i < plane->n_lines; i++) {
		struct archive_line *line = sorted[i];

		if (!line->is_async || compare_threads(&sorted[first], &line) != 0) {
			first = i;
			continue;
		}
		free(line->name);
		line->name = NULL;
		plane->behind[n_behind] = *line;
		link_lines(sorted[first], &plane->behind[n_behind++]);
	}
	for (size_t i = 0; i < plane->n_lines; i++)
		if (plane->lines[i].name)
			plane->lines[n++] = plane->lines[i];
	plane->n_lines = n;
	return 0;
}

/* Moves the line of a thread that the first archive does not have. */
static int move_line(struct archive_plane *to, struct archive_line *line)
{
	if (grow(&to->lines, &to->n_lines_allocated, to->n_lines + 1))
		return -ENOMEM;
	to->lines[to->n_lines++] = *line;
	line->name = NULL;
	return 0;
}

static int compare_lines(const void *left, const void *right)
{
	const struct archive_line *a = left;
	const struct archive_line *b = right;

	return compare_numbers(a->position, b->position);
}

static int join_lines(const struct joining *j, struct archive_plane *to, struct archive_plane *from)
{
	line_order order = j->has_same_shape ? compare_positions : compare_threads;
	_cleanup_free_ struct archive_line **known = sort_lines(to, order);
	_cleanup_free_ struct archive_line **unknown = calloc(from->n_lines + 1, sizeof *unknown);
	size_t n_known = to->n_lines;
	size_t n_unknown = 0;
	int r = known && unknown ? 0 : -ENOMEM;

	for (size_t i = 0; i < from->n_lines && r == 0; i++) {
		struct archive_line *line = &from->lines[i];
		struct archive_line **same = bsearch(&line, known, n_known, sizeof *known, order);

		shift_line(j, line);
		line->dictionary = from;
		if (same)
			link_line(*same, line);
		else
			unknown[n_unknown++] = line;
	}
	for (size_t i = 0; i < n_unknown && r == 0; i++)
		r = move_line(to, unknown[i]);
	if (j->has_same_shape && n_unknown)
		qsort(to->lines, to->n_lines, sizeof *to->lines, compare_lines);
	return r;
}

/* --- stats of planes ----------------------------------------------------------------------- */

static bool stat_is_integer(const struct archive_stat *stat)
{
	return stat->type == STAT_INT64 || stat->type == STAT_UINT64;
}

static bool key_is_loss(const char *key)
{
	return strcmp(key, "dropped_traces") == 0 || strncmp(key, "ptap_lost_", 10) == 0;
}

/* A recorder counts losses since its start, a session since its last snapshot. */
static void add_loss(
	const struct archive_plane *from, struct archive_stat *to, const struct archive_stat *stat)
{
	if (!archive_plane_find(from, "ptap_recorder_windows"))
		to->value.u64 += stat->value.u64;
	else if (stat->value.u64 > to->value.u64)
		to->value = stat->value;
}

static void join_stat(const struct archive_plane *from, struct archive_stat *to,
	const struct archive_stat *stat, const char *key)
{
	if (key_is_loss(key) && stat_is_integer(to) && stat_is_integer(stat))
		add_loss(from, to, stat);
	else if (strcmp(key, "profile_stop_time") == 0 && stat_is_integer(to) &&
		 stat_is_integer(stat) && to->value.i64 < stat->value.i64)
		to->value = stat->value;
	else if (strcmp(key, "ptap_recorder_windows") == 0) /* the last snapshot reaches furthest */
		*to = (struct archive_stat){
			to->key, stat->type, stat->value, stat->text, stat->n_bytes};
}

static int plane_add_stat(
	struct archive_plane *to, const struct archive_plane *from, const struct archive_stat *stat)
{
	if (grow(&to->own.v, &to->own.n_allocated, to->own.n + 1))
		return -ENOMEM;
	to->own.v[to->own.n] = *stat;
	to->own.v[to->own.n++].key = from->keys[stat->key];
	return 0;
}

static int join_stats(struct archive_plane *to, const struct archive_plane *from)
{
	int r = 0;

	for (size_t i = 0; i < from->own.n && r == 0; i++) {
		const struct archive_stat *stat = &from->own.v[i];
		const char *key = names_get(&from->stat_names, stat->key);
		struct archive_stat *old = NULL;

		for (size_t k = 0; k < to->own.n && !old; k++)
			if (to->own.v[k].key == from->keys[stat->key])
				old = &to->own.v[k];
		if (old)
			join_stat(from, old, stat, key);
		else
			r = plane_add_stat(to, from, stat);
	}
	return r;
}

/* --- planes -------------------------------------------------------------------------------- */

/* Adds the stat names of |from| to |to|, with their roles, and fills in from->keys. */
static int map_keys(struct archive_plane *to, struct archive_plane *from)
{
	uint32_t n = from->stat_names.n_texts;
	uint8_t *roles = realloc(to->roles, (size_t)to->stat_names.n_texts + n + 1);

	if (!roles)
		return -ENOMEM;
	to->roles = roles;
	from->keys = calloc((size_t)n + 1, sizeof *from->keys);
	for (uint32_t i = 0; from->keys && i < n; i++) {
		const char *text = from->stat_names.texts[i];

		from->keys[i] = names_intern(&to->stat_names, text, strlen(text));
		if (from->keys[i] == NAMES_NONE)
			return -ENOMEM;
		to->roles[from->keys[i]] = from->roles[i];
	}
	return from->keys ? 0 : -ENOMEM;
}

static int join_plane(const struct joining *j, struct archive_plane *to, struct archive_plane *from)
{
	int r = map_keys(to, from);

	if (r == 0 && j->adds_losses)
		r = join_stats(to, from);
	return r ? r : join_lines(j, to, from);
}

/* Moves a plane that the first archive does not have. */
static int move_plane(const struct joining *j, struct archive_plane *plane)
{
	struct archive *to = j->to;

	if (grow(&to->planes, &to->n_planes_allocated, to->n_planes + 1))
		return -ENOMEM;
	for (size_t i = 0; i < plane->n_lines; i++)
		shift_line(j, &plane->lines[i]);
	to->planes[to->n_planes++] = *plane;
	*plane = (struct archive_plane){.id = plane->id};
	return 0;
}

static struct archive_plane *find_same_plane(const struct joining *j, size_t index)
{
	const struct archive_plane *plane = &j->from->planes[index];
	int64_t pid = archive_plane_find_int(plane, "process_id");

	if (j->has_same_shape && index < j->to->n_planes &&
		strcmp(j->to->planes[index].name, plane->name) == 0)
		return &j->to->planes[index];
	for (size_t i = 0; i < j->to->n_planes; i++) {
		struct archive_plane *other = &j->to->planes[i];

		if (strcmp(other->name, plane->name) == 0 &&
			archive_plane_find_int(other, "process_id") == pid)
			return other;
	}
	return NULL;
}

/* --- archives ------------------------------------------------------------------------------ */

static int join_names(const struct joining *j)
{
	struct names *from = &j->from->names;
	_cleanup_free_ uint32_t *numbers = calloc((size_t)from->n_texts + 1, sizeof *numbers);

	for (uint32_t i = 0; numbers && i < from->n_texts; i++) {
		numbers[i] = names_intern(&j->to->names, from->texts[i], strlen(from->texts[i]));
		if (numbers[i] == NAMES_NONE)
			return -ENOMEM;
	}
	for (size_t i = 0; numbers && i < j->from->n_planes; i++) {
		struct archive_plane *plane = &j->from->planes[i];

		for (size_t k = 0; k < plane->n_event_names; k++)
			plane->event_names[k].name = numbers[plane->event_names[k].name];
		for (size_t k = 0; k < plane->n_lines; k++)
			if (plane->lines[k].series < from->n_texts)
				plane->lines[k].series = numbers[plane->lines[k].series];
	}
	if (!numbers)
		return -ENOMEM;
	names_deinit(from);
	return 0;
}

static int join_archive(const struct joining *j)
{
	struct archive *to = j->to;
	struct archive *from = j->from;
	int r;

	r = join_names(j) || names_add_all(&to->warnings, &from->warnings) ||
			    names_add_all(&to->errors, &from->errors) ||
			    names_add_all(&to->hostnames, &from->hostnames)
		    ? -ENOMEM
		    : 0;
	to->n_aggregated += from->n_aggregated;
	to->n_keyless += from->n_keyless;
	to->n_cut += from->n_cut;
	for (size_t i = 0; i < from->n_planes && r == 0; i++) {
		struct archive_plane *same = find_same_plane(j, i);

		r = same ? join_plane(j, same, &from->planes[i]) : move_plane(j, &from->planes[i]);
	}
	return r;
}

/* --- members of recordings ----------------------------------------------------------------- */

struct member {
	struct archive *archive;
	size_t index; /* in the array of archives_join() */
	char *key; /* identifies the recording; NULL: the archive stays alone */
	int64_t begin_ns; /* CLOCK_MONOTONIC of the machine; 0 if the capture does not have it */
	int64_t end_ns;
};

/* The start time is a part of the key because pids are used again. */
static int make_process_key(const struct archive *a, char **key)
{
	const struct archive_plane *host = archive_find_plane(a, PLANE_HOST);
	int64_t pid = archive_plane_find_int(host, "process_id");
	uint64_t start = (uint64_t)archive_plane_find_int(host, "ptap_process_start");

	if (pid <= 0 || !start || !a->hostnames.n_texts)
		return 0;
	return asprintf(key, "process %s %lld %llu", a->hostnames.texts[0], (long long)pid,
		       (unsigned long long)start) < 0
		       ? -ENOMEM
		       : 0;
}

static int describe_member(struct member *m, enum archive_join_what what)
{
	const struct archive *a = m->archive;
	const struct archive_plane *environment = archive_find_plane(a, PLANE_ENVIRONMENT);
	int64_t length_ns = sub_saturated(archive_plane_find_int(environment, "profile_stop_time"),
		archive_plane_find_int(environment, "profile_start_time"));
	char *key = NULL;

	m->begin_ns = archive_plane_find_int(environment, "ptap_monotonic_start_ns");
	m->end_ns = add_saturated(m->begin_ns, length_ns);
	if (what == JOIN_PROCESSES && m->begin_ns > 0 && make_process_key(a, &key))
		return -ENOMEM;
	if (!key && a->part.n_parts &&
		asprintf(&key, "part %llu %u", (unsigned long long)a->part.id, a->part.n_parts) < 0)
		return -ENOMEM;
	m->key = key;
	return 0;
}

static int compare_members(const void *left, const void *right)
{
	const struct member *a = left;
	const struct member *b = right;
	int order = a->key && b->key ? strcmp(a->key, b->key) : !a->key - !b->key;

	if (!order && a->key && a->begin_ns != b->begin_ns)
		order = a->begin_ns < b->begin_ns ? -1 : 1;
	if (!order && a->key && a->end_ns != b->end_ns)
		order = a->end_ns < b->end_ns ? -1 : 1;
	if (!order)
		order = compare_numbers(a->archive->part.number, b->archive->part.number);
	return order ? order : compare_numbers(a->index, b->index);
}

static bool members_are_one_recording(const struct member *a, const struct member *b)
{
	return a->key && b->key && strcmp(a->key, b->key) == 0;
}

/* --- parts --------------------------------------------------------------------------------- */

static int archive_take_warning(struct archive *a, char *text)
{
	int r = text && names_intern(&a->warnings, text, strlen(text)) != NAMES_NONE ? 0 : -ENOMEM;

	free(text);
	return r;
}

/* Writes a list such as "2, 4"; returns how many parts are missing. */
static int write_missing_parts(
	const struct member *members, size_t n, const struct archive *of, FILE *out)
{
	bool has[ARCHIVE_MAX_PARTS + 1] = {false};
	int n_missing = 0;

	for (size_t i = 0; i < n; i++)
		if (members[i].archive->part.id == of->part.id)
			has[members[i].archive->part.number] = true;
	for (uint32_t i = 1; i <= of->part.n_parts; i++)
		if (!has[i])
			fprintf(out, n_missing++ ? ", %u" : "%u", i);
	return n_missing;
}

/* Adds a warning that names the missing parts of each recording among |members|. */
static int warn_of_missing_parts(struct archive *to, const struct member *members, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		const struct archive_part *part = &members[i].archive->part;
		_cleanup_free_ char *list = NULL;
		size_t n_bytes;
		FILE *out = part->n_parts ? open_memstream(&list, &n_bytes) : NULL;
		int n_missing = out ? write_missing_parts(members, n, members[i].archive, out) : 0;
		char *text = NULL;

		if (part->n_parts && (!out || fclose(out)))
			return -ENOMEM;
		if (!n_missing)
			continue;
		if (asprintf(&text,
			    "part %s of %u of this capture is missing, with the events that began "
			    "in it",
			    list, part->n_parts) < 0)
			return -ENOMEM;
		r = archive_take_warning(to, text);
	}
	return r;
}

/*
 * True if an earlier one of |members| is the same part, or with |any| a part of the same capture.
 */
static bool has_earlier_part(const struct member *members, size_t i, bool any)
{
	const struct archive_part *part = &members[i].archive->part;

	for (size_t k = 0; part->n_parts && k < i; k++) {
		const struct archive_part *other = &members[k].archive->part;

		if (other->n_parts == part->n_parts && other->id == part->id &&
			(any || other->number == part->number))
			return true;
	}
	return false;
}

/* Leaves out a copy of a part under another name, whose events would be counted twice. */
static int drop_copy(struct archive *to, struct archive *copy)
{
	char *text = NULL;

	if (asprintf(&text, "%s is a copy of another part, and left out", copy->path) < 0)
		return -ENOMEM;
	return archive_take_warning(to, text);
}

/* --- recordings ---------------------------------------------------------------------------- */

/*
 * Marks the planes of flight recorders. This must come first: planes that are joined get each
 * other's stats.
 */
static void mark_recorders(struct archive *a)
{
	for (size_t i = 0; i < a->n_planes; i++)
		a->planes[i].is_recorders =
			archive_plane_find(&a->planes[i], "ptap_recorder_windows") != NULL;
}

static bool are_parts_of_one(const struct member *members, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!members[i].archive->part.n_parts ||
			members[i].archive->part.id != members[0].archive->part.id)
			return false;
	return true;
}

/* Removes the joined archives from |archives|, also on failure. */
static int join_recording(struct member *members, size_t n, struct archive **archives)
{
	struct archive *to = members[0].archive;
	bool has_same_shape = are_parts_of_one(members, n);
	int r = 0;

	if (n > 1 && !(to->joined = calloc(n, sizeof *to->joined)))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		mark_recorders(members[i].archive);
	for (size_t i = 1; i < n && r == 0; i++) {
		const struct joining j = {
			.to = to,
			.from = members[i].archive,
			.shift_ns = sub_saturated(members[i].begin_ns, members[0].begin_ns),
			.has_same_shape = has_same_shape,
			.adds_losses = !has_earlier_part(members, i, true),
		};

		archives[members[i].index] = NULL;
		to->joined[to->n_joined++] = j.from;
		r = has_earlier_part(members, i, false) ? drop_copy(to, j.from) : join_archive(&j);
	}
	for (size_t i = 0; i < to->n_planes && n > 1 && !has_same_shape && r == 0; i++)
		r = join_async_lines(&to->planes[i]);
	return r ? r : warn_of_missing_parts(to, members, n);
}

static int join_members(struct member *members, size_t n, struct archive **archives)
{
	int r = 0;
	size_t end;

	qsort(members, n, sizeof *members, compare_members);
	for (size_t i = 0; i < n && r == 0; i = end) {
		for (end = i + 1; end < n && members_are_one_recording(&members[i], &members[end]);)
			end++;
		r = join_recording(members + i, end - i, archives);
	}
	return r;
}

int archives_join(struct archive **archives, size_t *n, enum archive_join_what what)
{
	struct member *members = calloc(*n + 1, sizeof *members);
	int r = members ? 0 : -ENOMEM;
	size_t n_kept = 0;

	for (size_t i = 0; i < *n && r == 0; i++) {
		members[i] = (struct member){.archive = archives[i], .index = i};
		r = describe_member(&members[i], what);
	}
	if (r == 0)
		r = join_members(members, *n, archives);
	for (size_t i = 0; members && i < *n; i++)
		free(members[i].key);
	free(members);
	for (size_t i = 0; i < *n; i++)
		if (archives[i])
			archives[n_kept++] = archives[i];
	*n = n_kept;
	return r;
}
