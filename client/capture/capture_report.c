/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a capture of many; see capture_report.h. */
#include "client/capture/capture_report.h"

#include <stdbool.h>
#include <stdio.h>

#include "client/answer/summary.h"
#include "client/capture/capture.h"
#include "client/capture/part_files.h"
#include "client/capture/part_report.h"
#include "client/capture/parts.h"
#include "client/process/exit.h"
#include "client/process/streams.h"
#include "client/process/terminal.h"
#include "trace/json.h"

static const char *get_report(const struct part *p)
{
	return p->report ? p->report : "";
}

/* Traces that servers wrote themselves cannot be viewed here. */
static bool have_files(const struct parts *parts)
{
	for (size_t i = 0; i < parts->n; i++)
		if (parts->v[i].code == EXIT_DONE && part_files_count(&parts->v[i]))
			return true;
	return false;
}

static void write_text(const struct parts *parts, size_t n_done)
{
	const struct capture *c = parts->capture;

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

static void write_files(const struct parts *parts, struct json *j)
{
	json_begin_list(j, "files");
	for (size_t i = 0; i < parts->n; i++)
		if (parts->v[i].code == EXIT_DONE)
			part_report_write_json_files(&parts->v[i], j);
	json_end_list(j);
}

static void write_converted(const struct parts *parts, struct json *j)
{
	json_begin_list(j, "converted");
	for (size_t i = 0; i < parts->n; i++)
		part_report_write_json_converted(&parts->v[i], j);
	json_end_list(j);
}

static void write_targets(const struct parts *parts, struct json *j)
{
	json_begin_list(j, "targets");
	for (size_t i = 0; i < parts->n; i++)
		json_raw(j, NULL, parts->v[i].report ? parts->v[i].report : "null");
	json_end_list(j);
}

/* As of one target: the sentence is there, too, for whoever reads along. */
static void write_failures(const struct parts *parts)
{
	for (size_t i = 0; i < parts->n; i++)
		if (parts->v[i].code != EXIT_DONE)
			fprintf(stderr, "%s\n", parts->v[i].d.text);
}

static void write_json(const struct parts *parts, size_t n_done)
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
	write_files(parts, &j);
	write_converted(parts, &j);
	write_targets(parts, &j);
	json_texts(&j, "warnings", warnings->texts, warnings->n_texts);
	json_end(&j);
}

static void say_where(const struct parts *parts)
{
	for (size_t i = 0; i < parts->n; i++)
		if (parts->v[i].file)
			fprintf(stderr, "a trace is in %s\n", parts->v[i].file);
}

void capture_report_write(const struct parts *parts)
{
	size_t n_done = parts_count_done(parts);

	if (parts->capture->is_json)
		write_json(parts, n_done);
	else
		write_text(parts, n_done);
	if (streams_finish() < 0)
		say_where(parts);
}
