/* SPDX-License-Identifier: Apache-2.0 */
/* Reports; see part_report.h. */
#include "client/capture/part_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/answer/summary.h"
#include "client/capture/capture.h"
#include "client/capture/part.h"
#include "client/capture/part_files.h"
#include "client/capture/part_warnings.h"
#include "client/process/exit.h"
#include "client/process/streams.h"
#include "client/process/terminal.h"
#include "trace/json.h"

static int copy_warnings(const struct names *from, struct names *to)
{
	for (uint32_t i = 0; i < from->n_texts; i++)
		if (names_intern(to, from->texts[i], strlen(from->texts[i])) == NAMES_NONE)
			return -ENOMEM;
	return 0;
}

static void fill(const struct part *p, struct names *warnings, struct summary *s)
{
	*s = (struct summary){
		.target = p->address.text,
		.session_id = p->options.session_id,
		.log_dir = p->run_dir.log_dir,
		.run = p->run_dir.run,
		.file = p->file,
		.bytes = p->file_bytes,
		.asked_ms = recording_get_duration_ms(&p->recording, &p->request),
		.last_ms = (int64_t)p->request.last_ms,
		.is_interrupted = p->recording.stopped_ms != 0,
		.warnings = warnings,
	};
	summary_read_outline(s, &p->answer.outline);
	/* A session's or a recorder's data was recorded before the request came. */
	s->transfer_ms = recording_get_transfer_ms(
		&p->recording, &p->request, p->request.calls ? 0 : s->duration_ms);
	part_warnings_add(p, s, warnings);
}

/* The files. */

void part_report_write_files(const struct part *p, FILE *out)
{
	for (size_t i = 0; i < part_files_count(p); i++)
		fprintf(out, "%s\n", part_files_get(p, i));
	for (uint32_t i = 0; i < p->converted.n_texts; i++)
		fprintf(out, "%s\n", names_get(&p->converted, i));
}

void part_report_write_json_files(const struct part *p, struct json *j)
{
	for (size_t i = 0; i < part_files_count(p); i++)
		json_text(j, NULL, part_files_get(p, i));
}

void part_report_write_json_converted(const struct part *p, struct json *j)
{
	for (uint32_t i = 0; i < p->converted.n_texts; i++)
		json_text(j, NULL, names_get(&p->converted, i));
}

static void write_json_list(const struct part *p, struct json *j)
{
	json_begin_list(j, "files");
	part_report_write_json_files(p, j);
	json_end_list(j);
}

/* A trace that stays at its server: there is a sentence, and nothing to be read. */

static void write_elsewhere(const struct part *p, struct names *warnings, FILE *out)
{
	struct json j = {.out = out};

	part_warnings_add_of_options(p, warnings);
	if (!p->capture->is_json) {
		fprintf(out, "%s\n", p->d.text);
		for (uint32_t i = 0; i < warnings->n_texts; i++)
			terminal_write_line("warning", names_get(warnings, i), out);
		return;
	}
	json_begin_object(&j, NULL);
	json_text(&j, "target", p->address.text);
	json_int(&j, "exit", EXIT_DONE);
	json_text(&j, "file", NULL);
	json_text(&j, "server_dir", p->answer.elsewhere);
	json_text(&j, "session_id", p->options.session_id);
	write_json_list(p, &j);
	json_texts(&j, "warnings", warnings->texts, warnings->n_texts);
	json_end_object(&j);
}

static void report_elsewhere(const struct part *p)
{
	struct names warnings = {0};

	if (copy_warnings(&p->capture->warnings, &warnings) == 0)
		write_elsewhere(p, &warnings, p->capture->is_json ? stdout : stderr);
	if (p->capture->is_json)
		putchar('\n');
	names_deinit(&warnings);
}

/* The only target. */

static void print_json(const struct part *p, const struct summary *s)
{
	struct json j;

	json_begin(&j, stdout);
	summary_write_json_members(s, &j);
	write_json_list(p, &j);
	json_begin_list(&j, "converted");
	part_report_write_json_converted(p, &j);
	json_end_list(&j);
	json_end(&j);
}

static void print(const struct part *p, const struct summary *s)
{
	if (p->capture->is_json) {
		print_json(p, s);
	} else {
		summary_write_text(s, stderr);
		part_report_write_files(p, p->capture->has_program ? stderr : stdout);
	}
	if (streams_finish() < 0)
		fprintf(stderr, "the trace is in %s\n", s->file);
}

static void report_alone(const struct part *p)
{
	struct names warnings = {0};
	struct summary s;

	if (copy_warnings(&p->capture->warnings, &warnings) == 0 &&
		copy_warnings(&p->conversion_warnings, &warnings) == 0) {
		fill(p, &warnings, &s);
		print(p, &s);
	}
	names_deinit(&warnings);
}

/* One of many. */

static void write_clock_members(const struct part *p, const struct summary *s, struct json *j)
{
	int64_t late_ns;

	if (p->clock.is_known) {
		json_int(j, "clock_offset_ns", p->clock.offset_ns);
		json_int(j, "clock_uncertainty_ns", p->clock.uncertainty_ns);
	} else {
		json_nothing(j, "clock_offset_ns");
		json_nothing(j, "clock_uncertainty_ns");
	}
	if (s->start_unix_ns)
		json_int(j, "start_unix_ns", s->start_unix_ns - p->clock.offset_ns);
	else
		json_nothing(j, "start_unix_ns");
	if (part_find_late(p, s, &late_ns))
		json_int(j, "start_late_ns", late_ns);
	else
		json_nothing(j, "start_late_ns");
}

static void write_success(
	const struct part *p, struct summary *s, struct names *warnings, FILE *out)
{
	char clock[64];
	struct json j = {.out = out};

	fill(p, warnings, s);
	if (!p->capture->is_json) {
		clock_offset_format(&p->clock, clock, sizeof clock);
		s->said = &p->capture->warnings;
		summary_write_line(s, clock, out);
		return;
	}
	json_begin_object(&j, NULL);
	summary_write_json_members(s, &j);
	write_json_list(p, &j);
	write_clock_members(p, s, &j);
	json_end_object(&j);
}

static void write_failure(const struct part *p, FILE *out)
{
	struct json j = {.out = out};

	if (!p->capture->is_json) {
		fprintf(out, "%s\n", p->d.text);
		return;
	}
	json_begin_object(&j, NULL);
	json_text(&j, "target", p->address.text);
	json_text(&j, "error", p->d.text);
	json_int(&j, "exit", p->code);
	json_end_object(&j);
}

static void report_one(struct part *p)
{
	struct names warnings = {0};
	struct summary s;
	size_t n_bytes;
	FILE *out = open_memstream(&p->report, &n_bytes);

	if (!out)
		return;
	if (p->code != EXIT_DONE)
		write_failure(p, out);
	else if (p->answer.elsewhere)
		write_elsewhere(p, &warnings, out);
	else
		write_success(p, &s, &warnings, out);
	fclose(out);
	names_deinit(&warnings);
}

void part_report_make(struct part *p)
{
	if (p->capture->n_targets > 1)
		report_one(p);
	else if (p->answer.elsewhere && p->code == EXIT_DONE)
		report_elsewhere(p);
	else if (p->code == EXIT_DONE)
		report_alone(p);
}
