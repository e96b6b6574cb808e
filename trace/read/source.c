/* SPDX-License-Identifier: Apache-2.0 */
/* Sources; see source.h. The index is made in source_plane.c and source_line.c. */
#include "trace/read/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "trace/pbwire.h"
#include "trace/read/source_index.h"

/* --- the index ----------------------------------------------------------------------------- */

int indexing_fail_memory(struct indexing *x)
{
	return diag_set(x->diag, -ENOMEM, "%s: out of memory while reading it", x->source->path);
}

int indexing_fail(struct indexing *x, const struct pb_reader *at, const char *message)
{
	return diag_set(x->diag, -EBADMSG,
		"%.300s: not a readable trace: at byte %zu, in %s: %s; is it whole?",
		x->source->path, (size_t)(at->p - x->source->data), message, at->error);
}

static int intern(struct indexing *x, struct names *names, const struct pb_field *f)
{
	const char *text = f->n_bytes ? (const char *)f->data : "";

	return names_intern(names, text, f->n_bytes) == NAMES_NONE ? indexing_fail_memory(x) : 0;
}

static int read_field(struct indexing *x, const struct pb_field *f)
{
	switch (f->tag) {
	case PB_TAG(1, PB_LEN):
		return source_index_plane(x, f);
	case PB_TAG(2, PB_LEN):
		return intern(x, &x->source->errors, f);
	case PB_TAG(3, PB_LEN):
		return intern(x, &x->source->warnings, f);
	case PB_TAG(4, PB_LEN):
		return intern(x, &x->source->hostnames, f);
	}
	return 0;
}

int source_index(struct indexing *x)
{
	struct pb_reader r = pb_reader(x->source->data, x->source->n_bytes);
	struct pb_field f;
	int rc;

	while ((rc = pb_next(&r, &f)) > 0) {
		rc = read_field(x, &f);
		if (rc < 0)
			return rc;
	}
	return rc < 0 ? indexing_fail(x, &r, "the space") : 0;
}

/* --- opening ------------------------------------------------------------------------------- */

static struct source *new_source(const char *path)
{
	struct source *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->path = strdup(path);
	return s->path ? s : source_free(s);
}

static int map(struct source *s, struct diag *d)
{
	_cleanup_close_ int fd = open(s->path, O_RDONLY | O_CLOEXEC);
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
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return diag_set(d, -errno, "%.300s: cannot read: %s", s->path, errno_words(errno));
	s->data = data;
	s->n_bytes = (size_t)st.st_size;
	s->is_mapped = true;
	return 0;
}

static int finish(struct source *s, struct source **out, struct diag *d)
{
	struct indexing x = {s, d};
	int rc = source_index(&x);

	if (rc) {
		source_free(s);
		return rc;
	}
	*out = s;
	return 0;
}

int source_open(const char *path, struct source **out, struct diag *d)
{
	struct source *s = new_source(path);
	int rc;

	if (!s)
		return diag_set(d, -ENOMEM, "%.300s: out of memory", path);
	rc = map(s, d);
	if (rc) {
		source_free(s);
		return rc;
	}
	return finish(s, out, d);
}

int source_read(
	const uint8_t *data, size_t n_bytes, const char *path, struct source **out, struct diag *d)
{
	struct source *s = new_source(path);

	if (!s)
		return diag_set(d, -ENOMEM, "%.300s: out of memory", path);
	s->data = data;
	s->n_bytes = n_bytes;
	return finish(s, out, d);
}

static void deinit_plane(struct source_plane *plane)
{
	for (size_t i = 0; i < plane->n_lines; i++)
		free(plane->lines[i].name);
	free(plane->lines);
	free(plane->name);
	idmap_deinit(&plane->events);
	free(plane->event_names);
	free(plane->name_stats.v);
	idmap_deinit(&plane->stats);
	names_deinit(&plane->stat_names);
	free(plane->roles);
	free(plane->own.v);
}

struct source *source_free(struct source *s)
{
	if (!s)
		return NULL;
	for (size_t i = 0; i < s->n_planes; i++)
		deinit_plane(&s->planes[i]);
	free(s->planes);
	names_deinit(&s->names);
	names_deinit(&s->warnings);
	names_deinit(&s->errors);
	names_deinit(&s->hostnames);
	if (s->is_mapped)
		munmap((void *)(uintptr_t)s->data, s->n_bytes);
	free(s->path);
	free(s);
	return NULL;
}

/* --- what a plane says of itself ----------------------------------------------------------- */

const struct source_plane *source_find_plane(const struct source *s, const char *name)
{
	for (size_t i = 0; i < s->n_planes; i++)
		if (strcmp(s->planes[i].name, name) == 0)
			return &s->planes[i];
	return NULL;
}

const struct source_stat *source_plane_find(const struct source_plane *plane, const char *key)
{
	uint32_t index = names_find(&plane->stat_names, key);

	for (size_t i = 0; index != NAMES_NONE && i < plane->own.n; i++)
		if (plane->own.v[i].key == index)
			return &plane->own.v[i];
	return NULL;
}

int64_t source_plane_find_int(const struct source_plane *plane, const char *key)
{
	const struct source_stat *stat = plane ? source_plane_find(plane, key) : NULL;

	return stat && (stat->type == STAT_INT64 || stat->type == STAT_UINT64) ? stat->value.i64
									       : 0;
}

char *source_plane_copy_text(const struct source_plane *plane, const char *key)
{
	const struct source_stat *stat = plane ? source_plane_find(plane, key) : NULL;

	return stat && stat->type == STAT_STRING && stat->n_bytes
		       ? strndup(stat->text, stat->n_bytes)
		       : NULL;
}
