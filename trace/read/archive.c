/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens archives, repairs files that were cut, and finds planes and their stats. archive_index.c
 * makes the index.
 */
#include "trace/read/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "trace/xspace/pbwire.h"
#include "trace/xspace/totals.h"

/* --- files that were cut ------------------------------------------------------------------- */

/*
 * If only a part of a capture's answer arrived, it is kept as *.xplane.pb.broken: a trace
 * without its end. The last plane, and the last line in it, may be longer by their length fields
 * than the bytes that arrived. The repair shortens these lengths in this process's copy of the
 * pages.
 */

#define MAX_OPEN 2 /* messages that the cut is in: a plane, and a line in it */

struct cut_repair {
	uint8_t *lengths[MAX_OPEN]; /* the length fields of the plane and the line that are cut */
	size_t widths[MAX_OPEN];
	size_t n_open;
	uint8_t *end; /* end of the last whole field */
	uint64_t n_wanted; /* lower bound of the whole file's size; 0: unknown */
};

/*
 * Finds the plane or line that was cut by the end of the file, and sets *data to its first byte.
 * Returns false if the field that was cut is neither.
 */
static bool find_open_field(const struct archive *s, uint8_t *p, const uint8_t *end,
	struct cut_repair *m, uint8_t **data)
{
	struct pb_reader reader = pb_reader(p, (size_t)(end - p));
	uint64_t tag;
	uint64_t n_bytes;
	uint8_t *length;

	if (pb_get_varint(&reader, &tag) || (tag & 7) != PB_LEN)
		return false;
	length = p + (reader.p - p);
	if (pb_get_varint(&reader, &n_bytes) || n_bytes <= (uint64_t)(end - reader.p))
		return false;
	*data = p + (reader.p - p);
	if (!m->n_wanted && n_bytes < UINT64_MAX / 2)
		m->n_wanted = (uint64_t)(*data - s->data) + n_bytes;
	/* A cut trace is repaired by shortening the last plane of the space, and its last line. */
	if (tag != (m->n_open ? PB_TAG(3, PB_LEN) : PB_TAG(1, PB_LEN)) || m->n_open == MAX_OPEN)
		return false;
	m->lengths[m->n_open] = length;
	m->widths[m->n_open++] = (size_t)(*data - length);
	return true;
}

/* Writes a varint of exactly |width| bytes. */
static void put_length(uint8_t *p, size_t width, uint64_t n_bytes)
{
	for (size_t i = 0; i < width; i++, n_bytes >>= 7)
		p[i] = (uint8_t)((n_bytes & 0x7f) | (i + 1 < width ? 0x80 : 0));
}

static void find_cut(const struct archive *s, uint8_t *p, struct cut_repair *m)
{
	const uint8_t *end = p + s->n_bytes;

	do {
		struct pb_reader reader = pb_reader(p, (size_t)(end - p));
		struct pb_field f;

		m->end = p;
		while (pb_next(&reader, &f) > 0)
			m->end = p + (reader.p - p);
	} while (m->end < end && find_open_field(s, m->end, end, m, &p));
}

static int archive_repair(struct archive *s, struct diag *d)
{
	struct cut_repair m = {.n_open = 0};
	uint8_t *data = (uint8_t *)(uintptr_t)s->data;
	char *text = NULL;
	int r;

	find_cut(s, data, &m);
	/* Nothing was cut, or the file is no trace at all, which archive_index() reports. */
	if (!m.n_open && (m.end == data + s->n_bytes || m.end == data))
		return 0;
	for (size_t i = 0; i < m.n_open; i++)
		put_length(m.lengths[i], m.widths[i],
			(uint64_t)(m.end - (m.lengths[i] + m.widths[i])));
	if (m.n_wanted ? asprintf(&text,
				 "%s: it ends after %zu of at least %" PRIu64
				 " bytes: the data up to there is shown, and the rest is missing",
				 s->path, s->n_bytes, m.n_wanted) < 0
		       : asprintf(&text,
				 "%s: it cannot be read beyond byte %td of %zu: the data up to there is "
				 "shown, and the rest is missing",
				 s->path, m.end - data, s->n_bytes) < 0)
		return diag_set(d, -ENOMEM, "%.300s: out of memory", s->path);
	r = names_intern(&s->warnings, text, strlen(text)) == NAMES_NONE ? -ENOMEM : 0;
	free(text);
	s->n_bytes = (size_t)(m.end - data);
	s->is_cut = true;
	s->is_line_cut = m.n_open == MAX_OPEN;
	return r ? diag_set(d, r, "%.300s: out of memory", s->path) : 0;
}

/* --- opening ------------------------------------------------------------------------------- */

bool archive_is_cut(const char *path)
{
	static const char end[] = ".xplane.pb.broken";
	const char *slash = strrchr(path, '/');
	const char *found = strstr(slash ? slash : path, end);

	return found && (!found[sizeof end - 1] || found[sizeof end - 1] == '_');
}

static struct archive *archive_new(const char *path)
{
	struct archive *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->path = strdup(path);
	return s->path ? s : archive_free(s);
}

/* O_NONBLOCK: opening a FIFO must not wait for its writer. */
static int archive_map(struct archive *s, struct diag *d)
{
	_cleanup_close_ int fd = open(s->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	void *data;

	if (fd < 0)
		return diag_set(d, -errno, "%.300s: cannot open: %s", s->path, errno_words(errno));
	if (fstat(fd, &st) < 0)
		return diag_set(d, -errno, "%.300s: cannot read: %s", s->path, errno_words(errno));
	if (!S_ISREG(st.st_mode))
		return diag_set(d, -EINVAL, "%.300s: cannot read: not a file", s->path);
	if (st.st_size == 0)
		return diag_set(d, -EBADMSG, "%.300s: empty file, not a trace", s->path);
	data = mmap(NULL, (size_t)st.st_size,
		archive_is_cut(s->path) ? PROT_READ | PROT_WRITE : PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return diag_set(d, -errno, "%.300s: cannot read: %s", s->path, errno_words(errno));
	s->data = data;
	s->n_bytes = (size_t)st.st_size;
	s->n_mapped = (size_t)st.st_size;
	return archive_is_cut(s->path) ? archive_repair(s, d) : 0;
}

static int archive_finish(struct archive *s, struct archive **out, struct diag *d)
{
	const char *other = other_format_find(s->data, s->n_bytes);
	int r;

	if (other)
		r = diag_set(d, -EBADMSG, "%.300s: %s", s->path, other);
	else
		r = archive_index(s, NULL, d);

	if (r) {
		archive_free(s);
		return r;
	}
	*out = s;
	return 0;
}

int archive_open(const char *path, struct archive **out, struct diag *d)
{
	struct archive *s = archive_new(path);
	int r;

	if (!s)
		return diag_set(d, -ENOMEM, "%.300s: out of memory", path);
	r = archive_map(s, d);
	if (r) {
		archive_free(s);
		return r;
	}
	return archive_finish(s, out, d);
}

int archive_read(
	const uint8_t *data, size_t n_bytes, const char *path, struct archive **out, struct diag *d)
{
	struct archive *s = archive_new(path);

	if (!s)
		return diag_set(d, -ENOMEM, "%.300s: out of memory", path);
	s->data = data;
	s->n_bytes = n_bytes;
	return archive_finish(s, out, d);
}

int archive_survey(const uint8_t *data, size_t n_bytes, const struct archive_survey *survey,
	struct archive **out, struct diag *d)
{
	struct archive *s = calloc(1, sizeof *s);

	*out = s;
	if (!s)
		return diag_set(d, -ENOMEM, "trace: out of memory while reading it");
	s->data = data;
	s->n_bytes = n_bytes;
	return archive_index(s, survey, d);
}

struct archive *archive_free(struct archive *s)
{
	if (!s)
		return NULL;
	for (size_t i = 0; i < s->n_planes; i++)
		archive_plane_deinit(&s->planes[i]);
	free(s->planes);
	names_deinit(&s->names);
	names_deinit(&s->warnings);
	names_deinit(&s->errors);
	names_deinit(&s->hostnames);
	for (size_t i = 0; i < s->n_joined; i++)
		archive_free(s->joined[i]);
	free(s->joined);
	if (s->n_mapped)
		munmap((void *)(uintptr_t)s->data, s->n_mapped);
	free(s->path);
	free(s);
	return NULL;
}

/* --- memory -------------------------------------------------------------------------------- */

#define PASS_BYTES ((size_t)8 << 20)

static uintptr_t round_up(const uint8_t *p, uintptr_t page_bytes)
{
	return ((uintptr_t)p + page_bytes - 1) & ~(page_bytes - 1);
}

/*
 * Frees only pages that lie between |*from| and |p| as a whole: the others at both ends may hold
 * a name that is still being read.
 */
void archive_pass(const struct archive *s, const uint8_t **from, const uint8_t *p)
{
	uintptr_t page_bytes;
	uintptr_t first;
	uintptr_t end;

	if (!*from)
		*from = p;
	if (!s->n_mapped || (size_t)(p - *from) < PASS_BYTES)
		return;
	page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	first = round_up(*from, page_bytes);
	end = (uintptr_t)p & ~(page_bytes - 1);
	madvise((void *)first, end - first, MADV_DONTNEED);
	*from = p;
}

/* --- planes and their stats ---------------------------------------------------------------- */

const struct archive_plane *archive_find_plane(const struct archive *s, const char *name)
{
	for (size_t i = 0; i < s->n_planes; i++)
		if (strcmp(s->planes[i].name, name) == 0)
			return &s->planes[i];
	return NULL;
}

const struct archive_stat *archive_plane_find(const struct archive_plane *plane, const char *key)
{
	uint32_t index = names_find(&plane->stat_names, key);

	for (size_t i = 0; index != NAMES_NONE && i < plane->own.n; i++)
		if (plane->own.v[i].key == index)
			return &plane->own.v[i];
	return NULL;
}

int64_t archive_plane_find_int(const struct archive_plane *plane, const char *key)
{
	const struct archive_stat *stat = plane ? archive_plane_find(plane, key) : NULL;

	return stat && (stat->type == STAT_INT64 || stat->type == STAT_UINT64) ? stat->value.i64
									       : 0;
}

char *archive_plane_copy_text(const struct archive_plane *plane, const char *key)
{
	const struct archive_stat *stat = plane ? archive_plane_find(plane, key) : NULL;

	return stat && stat->type == STAT_STRING && stat->n_bytes && stat->text[0]
		       ? strndup(stat->text, stat->n_bytes)
		       : NULL;
}

/* --- facts of the recording ---------------------------------------------------------------- */

bool archive_is_ours(const struct archive *s)
{
	for (size_t i = 0; i < s->n_planes; i++)
		if (archive_plane_find(&s->planes[i], "ptap_process_name"))
			return true;
	return false;
}

uint64_t archive_count_dropped(const struct archive *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->n_planes; i++) {
		int64_t dropped = archive_plane_find_int(&s->planes[i], "dropped_traces");

		n += dropped > 0 ? (uint64_t)dropped : 0;
	}
	return n;
}

/*
 * Reads a time of the recording. Times below 1 or far in the future become 0, which means unknown,
 * so that differences of times never overflow.
 */
static int64_t read_unix_ns(const struct archive_plane *environment, const char *key)
{
	int64_t unix_ns = archive_plane_find_int(environment, key);

	return unix_ns > 0 && unix_ns < INT64_MAX / 2 ? unix_ns : 0;
}

void archive_read_length(const struct archive *s, struct report_length *length)
{
	const struct archive_plane *environment = archive_find_plane(s, PLANE_ENVIRONMENT);
	const struct archive_stat *options =
		environment ? archive_plane_find(environment, "profile_options") : NULL;

	length->start_unix_ns = read_unix_ns(environment, "profile_start_time");
	length->stop_unix_ns = read_unix_ns(environment, "profile_stop_time");
	length->asked_ns =
		options && options->type == STAT_BYTES
			? report_read_asked((const uint8_t *)options->text, options->n_bytes)
			: 0;
	length->is_ours = archive_is_ours(s);
}

/* --- files of other formats ------------------------------------------------------------------- */

/* Recognizes files of other formats by their first fields. */

#define MAX_FIELDS 64 /* number of a message's fields that are checked */

#define GZIP "compressed by gzip, not an XSpace; unpack it first (gunzip)"
#define PERFETTO "a Perfetto trace, not an XSpace; give the .xplane.pb that it was made of"
#define PPROF "a pprof profile, not an XSpace; give the .xplane.pb that it was made of"
#define UNKNOWN "not an XSpace: it has fields that no XSpace has; give a .xplane.pb"

struct format_evidence {
	bool has_names; /* lines or names of events: it is an XSpace, maybe of a newer version */
	bool has_strangers; /* it has fields that no XSpace has */
	bool is_packet;
	bool is_profile;
};

/*
 * Field 1 of a file is an XPlane in an XSpace, a TracePacket in a Perfetto trace, and a
 * ValueType in a pprof profile. Compares a field in it with those of XPlane, of TracePacket
 * (timestamp, trusted_packet_sequence_id, compressed_packets), and of ValueType (unit).
 */
static void judge_plane_field(struct format_evidence *e, const struct pb_field *f)
{
	switch (f->tag) {
	case PB_TAG(1, PB_VARINT):
	case PB_TAG(2, PB_LEN):
	case PB_TAG(6, PB_LEN):
		return;
	case PB_TAG(3, PB_LEN):
	case PB_TAG(4, PB_LEN):
	case PB_TAG(5, PB_LEN):
		e->has_names = true;
		return;
	}
	e->has_strangers = true;
	e->is_packet = e->is_packet || f->tag == PB_TAG(8, PB_VARINT) ||
		       f->tag == PB_TAG(10, PB_VARINT) || f->tag == PB_TAG(50, PB_LEN);
	e->is_profile = e->is_profile || f->tag == PB_TAG(2, PB_VARINT);
}

static void judge_plane(struct format_evidence *e, const struct pb_field *plane)
{
	struct pb_reader reader = pb_enter(plane);
	struct pb_field f;

	for (int i = 0; i < MAX_FIELDS && !e->has_names && pb_next(&reader, &f) > 0; i++)
		judge_plane_field(e, &f);
}

/*
 * Compares a top-level field with those of XSpace, and of pprof's Profile (function,
 * string_table).
 */
static void judge_field(struct format_evidence *e, const struct pb_field *f)
{
	switch (f->tag) {
	case PB_TAG(1, PB_LEN):
		judge_plane(e, f);
		return;
	case PB_TAG(2, PB_LEN):
	case PB_TAG(3, PB_LEN):
	case PB_TAG(4, PB_LEN):
		return;
	}
	e->has_strangers = true;
	e->is_profile = e->is_profile || f->tag == PB_TAG(5, PB_LEN) || f->tag == PB_TAG(6, PB_LEN);
}

const char *other_format_find(const uint8_t *data, size_t n_bytes)
{
	struct pb_reader reader = pb_reader(data, n_bytes);
	struct format_evidence e = {.has_names = false};
	struct pb_field f;
	int r = 1;

	if (n_bytes >= 2 && data[0] == 0x1f && data[1] == 0x8b)
		return GZIP;
	for (int i = 0; i < MAX_FIELDS && !e.has_names && (r = pb_next(&reader, &f)) > 0; i++)
		judge_field(&e, &f);
	if (e.has_names || !e.has_strangers)
		return NULL;
	if (e.is_packet)
		return PERFETTO;
	if (e.is_profile)
		return PPROF;
	/* archive_index() reports the place where a broken file is broken. */
	return r < 0 ? NULL : UNKNOWN;
}
