/* SPDX-License-Identifier: Apache-2.0 */
/* Publishing files; see part_files.h. */
#include "client/capture/part_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/local_name.h"
#include "client/answer/answer.h"
#include "client/capture/capture.h"
#include "client/capture/part.h"
#include "client/process/interrupt.h"
#include "client/process/write_behind.h"
#include "client/target/address.h"
#include "client/view/conversion.h"
#include "client/view/open_view.h"
#include "trace/codec/codec.h"
#include "trace/run_dir.h"
#include "trace/xspace/split.h"

#define SUFFIX_BYTES 16

/* An address of NAME.localhost names a program to a host daemon. */
bool file_name_is_of_program(const struct address *a)
{
	return a->port == 0 || a->target[0] ||
	       (!a->is_tunnel && local_name_is(a->host) && strchr(a->host, '.'));
}

int file_name_check_free(const struct file_name *f, const struct run_dir *run_dir, struct diag *d)
{
	char host[128];
	char name[160];

	if (f->chosen)
		return run_dir_check_free(run_dir, f->chosen, d);
	if (file_name_is_of_program(f->address) || !address_is_here(f->address) ||
		gethostname(host, sizeof host) < 0)
		return 0;
	host[sizeof host - 1] = '\0';
	snprintf(name, sizeof name, "%s_%u", host, f->address->port);
	return run_dir_check_free(run_dir, name, d);
}

/*
 * A trace that proftap's server made holds the program's name and pid. For another trace, f->name
 * is used if it is known, else the address.
 */
static void format_program(const struct file_name *f, const struct answer *answer,
	const char *hostname, char *out, size_t n)
{
	const char *name = answer->outline.process;
	const char *slash = strrchr(f->address->path, '/');
	const char *place = slash ? slash + 1 : f->address->path;

	if (name)
		snprintf(out, n, "%s_%s_%" PRId64, hostname, name, answer->outline.pid);
	else if (f->name && f->name[0])
		snprintf(out, n, "%s_%s_%d", hostname, f->name, f->pid);
	else if (f->address->port)
		snprintf(out, n, "%s_%.128s_%u", hostname,
			f->address->target[0] ? f->address->target : f->address->host,
			f->address->port);
	else
		snprintf(out, n, "%s_%s", hostname, place);
}

/* Writes the name of the file. |answer| has the target's own hostname, name and pid. */
static void file_name_format(
	const struct file_name *f, const struct answer *answer, char *out, size_t n)
{
	char hostname[128];

	if (f->chosen) {
		snprintf(out, n, "%s", f->chosen);
		return;
	}
	answer_find_hostname(answer, hostname, sizeof hostname);
	if (!hostname[0] && f->address->is_tunnel)
		snprintf(hostname, sizeof hostname, "%.*s", (int)sizeof hostname - 1,
			f->address->host);
	if (file_name_is_of_program(f->address))
		format_program(f, answer, hostname[0] ? hostname : "localhost", out, n);
	else
		snprintf(out, n, "%s_%u", hostname[0] ? hostname : f->address->host,
			f->address->port);
}

void part_name_format(const struct part *p, char out[static PART_NAME_BYTES])
{
	const struct file_name name = {p->host_name, &p->address, p->clock.name, p->clock.pid};

	file_name_format(&name, &p->answer, out, PART_NAME_BYTES - SUFFIX_BYTES);
	run_dir_sanitise(out);
}

int part_name_add_suffix(
	const struct part *p, const char *name, int suffix, char out[static PART_NAME_BYTES])
{
	snprintf(out, PART_NAME_BYTES, "%s", name);
	for (;; suffix++) {
		if (suffix > 1)
			snprintf(out, PART_NAME_BYTES, "%.*s_%d", PART_NAME_BYTES - SUFFIX_BYTES,
				name, suffix);
		if (names_find(p->taken, out) == NAMES_NONE)
			return suffix;
	}
}

/* The temporary files of the pieces, in the directory of the file that is split. */
struct file_pieces {
	struct run_dir *v;
	int *fds;
	size_t n;
};

static void pieces_deinit(struct file_pieces *pieces)
{
	for (size_t i = 0; i < pieces->n; i++)
		run_dir_close(&pieces->v[i]);
	free(pieces->v);
	free(pieces->fds);
}

static int pieces_open(
	struct file_pieces *pieces, const struct run_dir *of, size_t n, struct diag *d)
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

static int check_pieces_free(const struct file_pieces *pieces, const char *name, struct diag *d)
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

/* Removes published pieces, because an incomplete set would be taken for the whole trace. */
static void withdraw_pieces(struct part *p)
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

/* Publishes all pieces or none. */
static int publish_pieces(
	struct part *p, struct file_pieces *pieces, const char *name, struct diag *d)
{
	int r = 0;

	for (size_t i = 0; i < pieces->n && r == 0; i++) {
		char piece[320];

		format_piece(name, i, piece);
		r = publish_piece(p, &pieces->v[i], piece, d);
	}
	if (r < 0)
		withdraw_pieces(p);
	else
		take_names(p, pieces->n, name);
	return r;
}

static int write_pieces(struct part *p, const struct split *s, const char *name, struct diag *d)
{
	struct file_pieces pieces = {.n = 0};
	int r = pieces_open(&pieces, &p->run_dir, s->n_parts, d);

	if (r == 0)
		r = check_pieces_free(&pieces, name, d);
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
	struct file_window window = {data, data};
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
	s->pass = file_window_advance;
	s->context = &window;
	r = split_plan(s, d);
	if (r == 0 && write_pieces(p, s, name, &why) < 0)
		r = diag_set(d, why.code, "not split: %.400s", why.text);
	free(s);
	return r;
}

/* Maps the file again, because it may have grown since the answer mapped it. */
static int split_file(struct part *p, const char *name, struct diag *d)
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
			" bytes: capture with --split, which writes several smaller files",
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
	r = split_file(p, name, &p->remark);
	if (r == -EEXIST)
		return r;
	if (r < 0)
		return publish_whole(p, name);
	/* p->file is the first piece. */
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

/*
 * The name may have been taken since the recording began; as the recording cannot be repeated,
 * another name is used.
 */
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

/* --- other formats ---------------------------------------------------------------------------- */

static void keep_text(struct names *names, const char *text)
{
	names_intern(names, text, strlen(text));
}

static void keep_losses(
	struct part *p, const struct codec *codec, const struct codec_result *result)
{
	char text[160];

	for (size_t i = 0; i < result->n_losses; i++) {
		snprintf(text, sizeof text, "%s cannot express %" PRIu64 " %s", codec->name,
			result->losses[i].n, result->losses[i].what);
		keep_text(&p->conversion_warnings, text);
	}
}

static void keep_failure(struct part *p, const char *what, const struct diag *why)
{
	struct diag d = DIAG_INIT;

	diag_set(&d, why->code, "not written as %s: %.400s", what, why->text);
	keep_text(&p->conversion_warnings, d.text);
}

static void keep_interrupt(struct part *p, const char *what)
{
	struct diag d = DIAG_INIT;

	diag_set(&d, -ECANCELED, "interrupted");
	keep_failure(p, what, &d);
}

static void write_format(
	struct part *p, const struct view *view, const char *path, const struct codec *codec)
{
	struct codec_result result = {.n_items = 0};
	_cleanup_free_ char *file = NULL;
	struct diag d = DIAG_INIT;
	int r = view_is_stopped(view)
			? -ECANCELED
			: conversion_write_beside(codec, view, path, &file, &result, &d);

	if (r == -ECANCELED) {
		keep_interrupt(p, codec->name);
		return;
	}
	if (r) {
		keep_failure(p, codec->name, &d);
		return;
	}
	keep_text(&p->converted, file);
	keep_losses(p, codec, &result);
}

static void write_formats_of(struct part *p, const struct formats *f, char *trace)
{
	const struct view_settings settings = VIEW_SETTINGS_INIT;
	_cleanup_(view_freep) struct view *view = NULL;
	_cleanup_free_ char *path = NULL;
	struct diag d = DIAG_INIT;

	if (open_view(&trace, 1, &settings, &view, &path, &d)) {
		keep_failure(p, "another format", &d);
		return;
	}
	view->stop = (struct view_stop){interrupt_came_since, &p->n_interrupts};
	for (size_t i = 0; i < f->n; i++)
		write_format(p, view, path, f->codecs[i]);
}

void part_formats_write(struct part *p)
{
	const struct formats *f = &p->capture->formats;

	for (size_t i = 0; f->n && i < part_files_count(p); i++) {
		_cleanup_free_ char *trace = strdup(part_files_get(p, i));

		if (trace)
			write_formats_of(p, f, trace);
	}
}
