/* SPDX-License-Identifier: Apache-2.0 */
/* Files; see part_files.h. */
#include "client/capture/part_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/capture/capture.h"
#include "client/capture/part.h"
#include "client/capture/part_name.h"
#include "client/process/let_go.h"
#include "trace/run_dir.h"
#include "trace/xspace/split.h"

/* The temporary files, in the directory of the one that is split. */
struct pieces {
	struct run_dir *v;
	int *fds;
	size_t n;
};

static void pieces_deinit(struct pieces *pieces)
{
	for (size_t i = 0; i < pieces->n; i++)
		run_dir_close(&pieces->v[i]);
	free(pieces->v);
	free(pieces->fds);
}

static int pieces_open(struct pieces *pieces, const struct run_dir *of, size_t n, struct diag *d)
{
	int r = 0;

	pieces->v = calloc(n, sizeof *pieces->v);
	pieces->fds = calloc(n, sizeof *pieces->fds);
	if (!pieces->v || !pieces->fds)
		return diag_set(d, -ENOMEM, "out of memory");
	while (pieces->n < n && r == 0) {
		struct run_dir *piece = &pieces->v[pieces->n];

		r = run_dir_open(piece, of->log_dir, of->run, 0, d);
		pieces->fds[pieces->n++] = piece->fd;
	}
	return r;
}

static void format_piece(const char *name, size_t i, char out[static 320])
{
	snprintf(out, 320, "%s-p%zu", name, i + 1);
}

static int check_free(const struct pieces *pieces, const char *name, struct diag *d)
{
	int r = 0;

	for (size_t i = 0; i < pieces->n && r == 0; i++) {
		char piece[320];

		format_piece(name, i, piece);
		r = run_dir_check_free(&pieces->v[i], piece, d);
	}
	return r;
}

static int publish_piece(struct part *p, struct run_dir *piece, const char *name, struct diag *d)
{
	_cleanup_free_ char *path = NULL;
	int r = run_dir_publish(piece, name, &path, d);

	if (r < 0)
		return r;
	if (names_intern(&p->more_files, path, strlen(path)) != NAMES_NONE)
		return 0;
	unlink(path);
	return diag_set(d, -ENOMEM, "out of memory");
}

/* Some pieces would be taken for all of it. */
static void withdraw(struct part *p)
{
	for (uint32_t i = 0; i < p->more_files.n_texts; i++)
		unlink(names_get(&p->more_files, i));
	names_deinit(&p->more_files);
}

static void take_names(struct part *p, size_t n, const char *name)
{
	names_intern(p->taken, name, strlen(name));
	for (size_t i = 0; i < n; i++) {
		char piece[320];

		format_piece(name, i, piece);
		names_intern(p->taken, piece, strlen(piece));
	}
}

/* All of them or none. */
static int publish_pieces(struct part *p, struct pieces *pieces, const char *name, struct diag *d)
{
	int r = 0;

	for (size_t i = 0; i < pieces->n && r == 0; i++) {
		char piece[320];

		format_piece(name, i, piece);
		r = publish_piece(p, &pieces->v[i], piece, d);
	}
	if (r < 0)
		withdraw(p);
	else
		take_names(p, pieces->n, name);
	return r;
}

static int write_pieces(struct part *p, const struct split *s, const char *name, struct diag *d)
{
	struct pieces pieces = {.n = 0};
	int r = pieces_open(&pieces, &p->run_dir, s->n_parts, d);

	if (r == 0)
		r = check_free(&pieces, name, d);
	if (r == 0) {
		r = split_write(s, pieces.fds);
		if (r < 0)
			diag_set(d, r, "%s: %s", p->run_dir.path, errno_words(r));
	}
	if (r == 0)
		r = publish_pieces(p, &pieces, name, d);
	pieces_deinit(&pieces);
	return r;
}

static int plan_and_write(struct part *p, uint8_t *data, const char *name, struct diag *d)
{
	struct diag why = DIAG_INIT;
	struct let_go window = {data, data};
	struct split *s = calloc(1, sizeof *s);
	int r;

	if (!s)
		return diag_set(d, -ENOMEM, "not split: out of memory");
	s->data = data;
	s->n_bytes = p->file_bytes;
	s->max_bytes = p->capture->split_bytes == PART_FILES_MAX_BYTES
			       ? PART_FILES_EASY_BYTES
			       : (uint64_t)p->capture->split_bytes;
	if (getrandom(&s->id, sizeof s->id, 0) != sizeof s->id)
		s->id = (uint64_t)(uintptr_t)s ^ p->file_bytes;
	s->pass = let_go;
	s->context = &window;
	r = split_plan(s, d);
	if (r == 0 && write_pieces(p, s, name, &why) < 0)
		r = diag_set(d, why.code, "not split: %.400s", why.text);
	free(s);
	return r;
}

/* Anew: the file may have grown since it was mapped for reading. */
static int split(struct part *p, const char *name, struct diag *d)
{
	uint8_t *data = mmap(NULL, p->file_bytes, PROT_READ, MAP_PRIVATE, p->run_dir.fd, 0);
	int r;

	if (data == MAP_FAILED)
		return diag_set(d, -errno, "not split: %s", errno_words(errno));
	r = plan_and_write(p, data, name, d);
	munmap(data, p->file_bytes);
	return r;
}

static void remark_size(struct part *p)
{
	if (p->file_bytes > PART_FILES_MAX_BYTES)
		diag_set(&p->remark, -EFBIG,
			"XProf cannot read a file of more than %" PRId32
			" bytes: capture with --split, which makes several of it",
			PART_FILES_MAX_BYTES);
}

static int publish_whole(struct part *p, const char *name)
{
	int r = run_dir_publish(&p->run_dir, name, &p->file, &p->d);

	if (r == 0)
		names_intern(p->taken, name, strlen(name));
	return r;
}

static int publish_as(struct part *p, const char *name)
{
	int64_t max_bytes = p->capture->split_bytes;
	int r;

	p->remark = (struct diag)DIAG_INIT;
	if (max_bytes == 0)
		remark_size(p);
	if (max_bytes == 0 || p->file_bytes <= (uint64_t)max_bytes)
		return publish_whole(p, name);
	r = split(p, name, &p->remark);
	if (r == -EEXIST)
		return r;
	if (r < 0)
		return publish_whole(p, name);
	/* The first one stands for all. */
	p->file = strdup(names_get(&p->more_files, 0));
	return p->file ? 0 : diag_set(&p->d, -ENOMEM, "%s: out of memory", p->run_dir.path);
}

static void remark_name(struct part *p, const char *first, const char *name)
{
	diag_set(&p->name_remark, -EEXIST,
		"the run had a file %.200s already when the recording was over: this trace is called "
		"%.200s, and nothing was overwritten",
		first, name);
	p->d = (struct diag)DIAG_INIT;
}

/* Somebody may have taken the name since the recording began, and that cannot be done again. */
int part_files_publish(struct part *p, const char *name)
{
	char first[PART_NAME_BYTES];
	char other[PART_NAME_BYTES];
	int suffix = part_name_add_suffix(p, name, 1, first);
	int r = publish_as(p, first);

	if (r != -EEXIST)
		return r;
	while (r == -EEXIST && suffix < RUN_DIR_MAX_SUFFIX) {
		suffix = part_name_add_suffix(p, name, suffix + 1, other);
		r = publish_as(p, other);
	}
	if (r == 0)
		remark_name(p, first, other);
	return r;
}

size_t part_files_count(const struct part *p)
{
	return p->more_files.n_texts ? p->more_files.n_texts : p->file != NULL;
}

const char *part_files_get(const struct part *p, size_t i)
{
	return p->more_files.n_texts ? names_get(&p->more_files, (uint32_t)i) : p->file;
}
