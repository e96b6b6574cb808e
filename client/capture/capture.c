/* SPDX-License-Identifier: Apache-2.0 */
/* A capture; see capture.h. part.c handles one target, parts.c all of them. */
#include "client/capture/capture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/answer/summary.h"
#include "client/capture/part_files.h"
#include "client/capture/part_report.h"
#include "client/capture/parts.h"
#include "client/connect/dial.h"
#include "client/process/exit.h"
#include "client/process/interrupt.h"
#include "client/process/terminal.h"
#include "trace/json.h"

/* --- operands in the wrong order ----------------------------------------------------------- */

/* Profiler servers do not listen on the ports of system services. */
#define FIRST_USUAL_PORT 1024
#define MAX_PORT 65535
#define ANSWER_MS 200

static bool is_listening(uint16_t port)
{
	struct address address = {.host = "localhost", .port = port};
	_cleanup_close_ int fd = dial(&address, ANSWER_MS, NULL);

	return fd >= 0;
}

static bool are_likely_swapped(const struct address *target, uint64_t ms)
{
	if (ms < 1 || ms > MAX_PORT)
		return false;
	return (target->port < FIRST_USUAL_PORT && ms >= FIRST_USUAL_PORT) ||
	       is_listening((uint16_t)ms);
}

/*
 * The user may have typed MS PORT instead of PORT MS; both are numbers. |d| has the reason why no
 * server was found; if that mistake is likely, adds a question to |d|. May connect to find out.
 */
static void swapped_ask(const struct client_capture *capture, struct diag *d)
{
	const struct address *target = &capture->targets[0];
	uint64_t ms = capture->options.duration_ms;
	const struct diag why = *d;

	if (capture->n_targets != 1 || !target->is_bare || !target->port ||
		why.code != -ECONNREFUSED || !are_likely_swapped(target, ms))
		return;
	diag_set(d, why.code,
		"%.400s; the target comes first: did you mean proftap capture %" PRIu64 " %u?",
		why.text, ms, target->port);
}

/* --- the report of many targets ------------------------------------------------------------ */

static const char *get_report(const struct part *p)
{
	return p->report ? p->report : "";
}

/*
 * Returns true if any trace was written here. If the servers wrote all traces, no viewer is
 * suggested.
 */
static bool have_files(const struct parts *parts)
{
	for (size_t i = 0; i < parts->n; i++)
		if (parts->v[i].code == EXIT_DONE && part_files_count(&parts->v[i]))
			return true;
	return false;
}

static void write_text_report(const struct parts *parts, size_t n_done)
{
	const struct client_capture *c = parts->capture;

	fprintf(stderr, "captured %zu of %zu targets\n", n_done, parts->n);
	for (size_t i = 0; i < parts->n; i++)
		fputs(get_report(&parts->v[i]), stderr);
	for (uint32_t i = 0; i < c->warnings.n_texts; i++)
		terminal_write_line("warning", c->warnings.texts[i], stderr);
	if (have_files(parts))
		summary_write_view(parts->v[0].run_dir.log_dir, stderr);
	for (size_t i = 0; i < parts->n; i++)
		if (parts->v[i].code == EXIT_DONE)
			part_report_write_files(&parts->v[i], stdout);
}

static void write_json_files(const struct parts *parts, struct json *j)
{
	json_begin_list(j, "files");
	for (size_t i = 0; i < parts->n; i++)
		if (parts->v[i].code == EXIT_DONE)
			part_report_write_json_files(&parts->v[i], j);
	json_end_list(j);
}

static void write_json_converted(const struct parts *parts, struct json *j)
{
	json_begin_list(j, "converted");
	for (size_t i = 0; i < parts->n; i++)
		part_report_write_json_converted(&parts->v[i], j);
	json_end_list(j);
}

static void write_json_targets(const struct parts *parts, struct json *j)
{
	json_begin_list(j, "targets");
	for (size_t i = 0; i < parts->n; i++)
		json_raw(j, NULL, parts->v[i].report ? parts->v[i].report : "null");
	json_end_list(j);
}

/* Prints the failures on standard error as well, as for one target. */
static void write_failures(const struct parts *parts)
{
	for (size_t i = 0; i < parts->n; i++)
		if (parts->v[i].code != EXIT_DONE)
			fprintf(stderr, "%s\n", parts->v[i].d.text);
}

static void write_json_report(const struct parts *parts, size_t n_done)
{
	const struct part *first = &parts->v[0];
	const struct names *warnings = &parts->capture->warnings;
	struct json j;

	write_failures(parts);
	json_begin(&j, stdout);
	json_int(&j, "exit", parts_get_code(parts));
	json_uint(&j, "captured", n_done);
	json_uint(&j, "failed", parts->n - n_done);
	json_text(&j, "log_dir", first->run_dir.log_dir);
	json_text(&j, "run", first->run_dir.run);
	json_text(&j, "session_id", first->options.session_id);
	json_int(&j, "start_unix_ns", parts->start_unix_ns);
	write_json_files(parts, &j);
	write_json_converted(parts, &j);
	write_json_targets(parts, &j);
	json_texts(&j, "warnings", warnings->texts, warnings->n_texts);
	json_end(&j);
}

static void say_where(const struct parts *parts)
{
	for (size_t i = 0; i < parts->n; i++)
		if (parts->v[i].file)
			fprintf(stderr, "a trace is in %s\n", parts->v[i].file);
}

/*
 * Writes the report of many targets: text to standard error and the paths to standard output, or
 * one JSON object to standard output.
 */
static void capture_report_write(const struct parts *parts)
{
	size_t n_done = parts_count_done(parts);

	if (parts->capture->is_json)
		write_json_report(parts, n_done);
	else
		write_text_report(parts, n_done);
	if (streams_finish() < 0)
		say_where(parts);
}

/* Reports the failure of |p| as that of the capture. */
static int fail_as_part(struct client_capture *c, const struct part *p, struct diag *d)
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

static void note_files(struct client_capture *c, const struct part *p)
{
	for (size_t i = 0; c->files && i < part_files_count(p); i++)
		names_intern(c->files, part_files_get(p, i), strlen(part_files_get(p, i)));
}

/* Converts the traces of many targets, when all recordings are over. */
static void write_formats(struct client_capture *c, struct parts *parts)
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

static int finish_capture(struct client_capture *c, struct parts *parts, struct diag *d)
{
	fail_as_part(c, find_failed(parts), d);
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

static int run_parts(struct client_capture *c, struct parts *parts, struct diag *d)
{
	const struct part *twin;
	int code = parts_open(parts);

	if (code != EXIT_DONE)
		return fail_as_part(c, find_failed(parts), d);
	parts_connect(parts);
	twin = parts_find_twin(parts);
	if (twin)
		return fail_as_part(c, twin, d);
	if (c->can_retry && parts_find_refused(parts))
		return fail_as_part(c, parts_find_refused(parts), d);
	parts_start(parts);
	if (!parts_wait(parts))
		return fail_as_part(c, parts_find_refused(parts), d);
	return finish_capture(c, parts, d);
}

int client_capture_run(struct client_capture *capture, struct diag *d)
{
	struct parts parts;
	int code = EXIT_FAILED;

	*d = (struct diag)DIAG_INIT;
	capture->is_reported = false;
	if (parts_init(&parts, capture) < 0)
		diag_set(d, -ENOMEM, "the capture: out of memory");
	else
		code = run_parts(capture, &parts, d);
	parts_deinit(&parts);
	if (code == EXIT_NOBODY)
		swapped_ask(capture, d);
	return code;
}

void capture_failure_write(const struct client_capture *c, int code, const struct diag *d)
{
	struct json j;

	fprintf(stderr, "%s\n", d->text);
	for (uint32_t i = 0; i < c->warnings.n_texts; i++)
		terminal_write_line("warning", c->warnings.texts[i], stderr);
	if (!c->is_json)
		return;
	json_begin(&j, stdout);
	json_text(&j, "target", c->target[0] ? c->target : c->targets[0].text);
	json_text(&j, "error", d->text);
	json_int(&j, "exit", code);
	json_end(&j);
}
