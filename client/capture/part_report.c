/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of parts; see part_report.h. */
#include "client/capture/part_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "client/answer/summary.h"
#include "client/capture/capture.h"
#include "client/capture/part.h"
#include "client/capture/part_files.h"
#include "client/process/exit.h"
#include "client/process/terminal.h"
#include "trace/json.h"
#include "trace/model/names.h"
#include "trace/read/archive.h"

/* --- warnings ------------------------------------------------------------------------------ */

/* A shorter delay is within the error of the measurement. */
#define LATE_NS NS_PER_MS
/*
 * The tolerance for rounding. A recording is never shorter than requested unless somebody ends it.
 */
#define EARLY_MS 2

static void add_warning(struct names *warnings, const char *text)
{
	names_intern(warnings, text, strlen(text));
}

/* Returns the time from the agreed start to the recording's start. */
static int64_t find_moved_ns(const struct part *p, const struct summary *s)
{
	return s->start_unix_ns - (int64_t)p->options.start_timestamp_ns;
}

/*
 * Finds the time from the agreed start until the target could record. Returns false if this time is
 * not known; a capture of a single target, for example, has no agreed start.
 */
static bool part_find_late(const struct part *p, const struct summary *s, int64_t *late_ns)
{
	*late_ns = s->knows_late ? s->late_ns : find_moved_ns(p, s);
	return p->start_unix_ns && s->start_unix_ns &&
	       (s->knows_late || (p->clock.is_known && !p->clock.is_bracket));
}

/*
 * Warns if the recording began late. If it began in time and the target could record only later,
 * the server has already warned about the missing data.
 */
static void warn_of_lateness(const struct part *p, const struct summary *s, struct names *warnings)
{
	int64_t late_ns;
	char text[128];

	if (!part_find_late(p, s, &late_ns) || late_ns <= LATE_NS ||
		late_ns - find_moved_ns(p, s) > LATE_NS)
		return;
	snprintf(text, sizeof text,
		"began %.1f ms after the agreed instant: the target was not ready; a longer "
		"--delay helps",
		(double)late_ns / 1e6);
	add_warning(warnings, text);
}

static void warn_of_stock_session(const struct part *p, struct names *warnings)
{
	add_warning(warnings,
		"this server starts a new recording with each snapshot: events during a "
		"snapshot are lost");
	if (p->options.session_id[0])
		add_warning(warnings,
			"this server has no names for sessions: the data is that of the running "
			"session");
}

/*
 * True if the server is known not to be one of proftap's: only those have the methods Capture and
 * Status. On a server that writes the trace itself, Capture was not called, so this calls Status.
 */
static bool is_of_another_make(const struct part *p)
{
	struct clock_offset said;

	if (p->capture->server_writes)
		return !clock_offset_find_name(p->recording.link.channel, &said);
	return !p->request.calls && !p->recording.is_stream;
}

/*
 * Adds the warning about options that only proftap's servers know, if the server is another one.
 * This works without a trace.
 */
static void part_warnings_add_of_options(const struct part *p, struct names *warnings)
{
	struct diag d = DIAG_INIT;

	if (profile_options_note_ours(&p->options, &d) == OPTION_NOTED && is_of_another_make(p))
		add_warning(warnings, d.text);
}

static bool has_reason(const struct names *warnings)
{
	for (uint32_t i = 0; i < warnings->n_texts; i++)
		if (strstr(warnings->texts[i], " ms into the recording"))
			return true;
	return false;
}

/*
 * The user expects the whole duration, and should know that another client has ended the recording.
 */
static void warn_of_others(const struct part *p, const struct summary *s, struct names *warnings)
{
	char text[160];

	if (s->is_interrupted || !p->recording.is_stream || p->request.calls ||
		p->capture->has_program || !s->archive ||
		s->duration_ms + EARLY_MS >= s->asked_ms || has_reason(&s->archive->warnings))
		return;
	snprintf(text, sizeof text,
		"ended after %" PRId64 " of %" PRId64
		" ms by somebody else: proftap stop, or Terminate of another client",
		s->duration_ms, s->asked_ms);
	add_warning(warnings, text);
}

/* Adds warnings about the file. */
static void warn_of_file(const struct part *p, struct names *warnings)
{
	if (p->answer.is_empty_trace)
		add_warning(warnings, "the server reports an empty trace, but the trace has "
				      "events");
	if (p->remark.text[0])
		add_warning(warnings, p->remark.text);
	if (p->place_remark.text[0])
		add_warning(warnings, p->place_remark.text);
	if (p->name_remark.text[0])
		add_warning(warnings, p->name_remark.text);
	if (!p->answer.outline.archive)
		add_warning(warnings, "no summary of the trace: out of memory");
}

/* Adds the client's warnings about the capture. Call it after |s| was read from the trace. */
static void part_warnings_add(const struct part *p, const struct summary *s, struct names *warnings)
{
	if (s->is_interrupted)
		add_warning(warnings, "interrupted: the recording was ended early");
	if (p->request.calls && p->request.calls->is_of_session && !p->recording.is_stream)
		warn_of_stock_session(p, warnings);
	part_warnings_add_of_options(p, warnings);
	warn_of_file(p, warnings);
	warn_of_lateness(p, s, warnings);
	warn_of_others(p, s, warnings);
}

static void fill_summary(const struct part *p, struct names *warnings, struct summary *s)
{
	*s = (struct summary){
		.target = p->address.text,
		.session_id = p->options.session_id,
		.log_dir = p->run_dir.log_dir,
		.run = p->run_dir.run,
		.file = p->file,
		.bytes = p->file_bytes,
		.asked_ms = recording_call_get_duration_ms(&p->recording, &p->request),
		.last_ms = (int64_t)p->request.last_ms,
		.is_interrupted = p->recording.stopped_ms != 0,
		.warnings = warnings,
	};
	summary_read_outline(s, &p->answer.outline);
	/* The data of a session or a flight recorder was recorded before the request. */
	s->transfer_ms = recording_call_get_transfer_ms(
		&p->recording, &p->request, p->request.calls ? 0 : s->duration_ms);
	part_warnings_add(p, s, warnings);
}

/* --- files --------------------------------------------------------------------------------- */

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

/* --- a trace that stays at its server ------------------------------------------------------ */

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

	if (names_add_all(&warnings, &p->capture->warnings) == 0)
		write_elsewhere(p, &warnings, p->capture->is_json ? stdout : stderr);
	if (p->capture->is_json)
		putchar('\n');
	names_deinit(&warnings);
}

/* --- the only target ----------------------------------------------------------------------- */

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

static void print_report(const struct part *p, const struct summary *s)
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

	if (names_add_all(&warnings, &p->capture->warnings) == 0 &&
		names_add_all(&warnings, &p->conversion_warnings) == 0) {
		fill_summary(p, &warnings, &s);
		print_report(p, &s);
	}
	names_deinit(&warnings);
}

/* --- one of many targets ------------------------------------------------------------------- */

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

	fill_summary(p, warnings, s);
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
