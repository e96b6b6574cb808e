/* SPDX-License-Identifier: Apache-2.0 */
/* A capture; see capture.h. What is done for each target is part.c, what for all of them parts.c. */
#include "client/capture/capture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "client/capture/capture_report.h"
#include "client/capture/part_files.h"
#include "client/capture/part_formats.h"
#include "client/capture/parts.h"
#include "client/capture/swapped.h"
#include "client/process/exit.h"
#include "client/process/interrupt.h"

/* What the caller is told about the failure is what |p| has met. */
static int fail(struct capture *c, const struct part *p, struct diag *d)
{
	*d = p->d;
	snprintf(c->target, sizeof c->target, "%s", p->address.text);
	return p->code;
}

static const struct part *find_failed(const struct parts *parts)
{
	for (size_t i = 0; i < parts->n; i++)
		if (parts->v[i].code != EXIT_DONE)
			return &parts->v[i];
	return &parts->v[0];
}

static void note_files(struct capture *c, const struct part *p)
{
	for (size_t i = 0; c->files && i < part_files_count(p); i++)
		names_intern(c->files, part_files_get(p, i), strlen(part_files_get(p, i)));
}

/* Of many. */
static void write_formats(struct capture *c, struct parts *parts)
{
	for (size_t i = 0; i < parts->n; i++) {
		struct part *p = &parts->v[i];

		p->n_interrupts = c->n_interrupts;
		if (p->code == EXIT_DONE)
			part_formats_write(p);
		for (uint32_t w = 0; w < p->conversion_warnings.n_texts; w++)
			names_intern(&c->warnings, p->conversion_warnings.texts[w],
				strlen(p->conversion_warnings.texts[w]));
	}
}

static int finish(struct capture *c, struct parts *parts, struct diag *d)
{
	fail(c, find_failed(parts), d);
	for (size_t i = 0; i < parts->n; i++)
		if (parts->v[i].code == EXIT_DONE)
			note_files(c, &parts->v[i]);
	c->n_interrupts = parts->n > 1 ? interrupt_get_count() : parts->v[0].n_interrupts;
	if (parts->n > 1) {
		write_formats(c, parts);
		capture_report_write(parts);
		c->is_reported = true;
	}
	return parts_get_code(parts);
}

static int run(struct capture *c, struct parts *parts, struct diag *d)
{
	const struct part *twin;
	int code = parts_open(parts);

	if (code != EXIT_DONE)
		return fail(c, find_failed(parts), d);
	parts_connect(parts);
	twin = parts_find_twin(parts);
	if (twin)
		return fail(c, twin, d);
	if (c->can_retry && parts_find_refused(parts))
		return fail(c, parts_find_refused(parts), d);
	parts_start(parts);
	if (!parts_wait(parts))
		return fail(c, parts_find_refused(parts), d);
	return finish(c, parts, d);
}

int capture_run(struct capture *capture, struct diag *d)
{
	struct parts parts;
	int code = EXIT_FAILED;

	*d = (struct diag)DIAG_INIT;
	capture->is_reported = false;
	if (parts_init(&parts, capture) < 0)
		diag_set(d, -ENOMEM, "the capture: out of memory");
	else
		code = run(capture, &parts, d);
	parts_deinit(&parts);
	if (code == EXIT_NOBODY)
		swapped_ask(capture, d);
	return code;
}
