/* SPDX-License-Identifier: Apache-2.0 */
/* Converting published traces; see part_formats.h. */
#include "client/capture/part_formats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/capture/capture.h"
#include "client/capture/part.h"
#include "client/capture/part_files.h"
#include "client/process/interrupt.h"
#include "client/view/conversion.h"
#include "client/view/open_view.h"
#include "trace/codec/codec.h"

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
