/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A part; see part.h. The order matters. The file is created before anything is recorded. The trace
 * is decoded before its file gets its name, so that only a readable trace with events is published.
 */
#include "client/capture/part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/profile_options.h"
#include "client/answer/clock_offset.h"
#include "client/answer/profile_call.h"
#include "client/capture/capture.h"
#include "client/capture/part_files.h"
#include "client/capture/part_report.h"
#include "client/connect/exchange.h"
#include "client/connect/failure.h"
#include "client/process/exit.h"
#include "client/process/interrupt.h"
#include "client/process/log_dir.h"
#include "client/process/progress.h"
#include "client/process/terminal.h"
#include "client/process/write_behind.h"
#include "trace/model/names.h"
#include "trace/run_dir.h"

/* --- empty recordings ---------------------------------------------------------------------- */

struct emptiness {
	const char *target;
	const struct profile_options *options; /* the capture's options */
	const struct archive *archive; /* of the received trace, or NULL */
	const struct names *said; /* warnings that the client has printed already */
	bool is_brief; /* the server's other warnings are not printed */
};

/* The beginning of the warning in which a proftap server gives the reason. */
static const char nothing[] = "nothing was recorded: ";
#define N_NOTHING (sizeof nothing - 1)

static bool is_reason(const char *warning)
{
	return strncmp(warning, nothing, N_NOTHING) == 0;
}

/* Finds the server's reason for an empty recording, else its first warning, else NULL. */
static const char *find_reason(const struct names *warnings)
{
	for (uint32_t i = 0; i < warnings->n_texts; i++)
		if (is_reason(warnings->texts[i]))
			return warnings->texts[i];
	return warnings->n_texts > 0 ? warnings->texts[0] : NULL;
}

static void print_others(const struct emptiness *e, const char *reason)
{
	const struct names *warnings = &e->archive->warnings;

	for (uint32_t i = 0; i < e->archive->errors.n_texts; i++)
		terminal_write_line("error", e->archive->errors.texts[i], stderr);
	for (uint32_t i = 0; i < warnings->n_texts; i++)
		if (warnings->texts[i] != reason &&
			names_find(e->said, warnings->texts[i]) == NAMES_NONE)
			terminal_write_line("warning", warnings->texts[i], stderr);
}

/* Gives a likely reason, when the server gave none. */
static void guess_reason(const struct emptiness *e, struct diag *d)
{
	if (e->options->host_tracer_level == 0)
		diag_set(d, -ENODATA,
			"%s: the recording worked and was empty: host_tracer_level is 0, which "
			"records no annotation; use 1 to 3",
			e->target);
	else if (e->options->duration_ms == 0)
		diag_set(d, -ENODATA,
			"%s: the recording worked and was empty: no annotation was reached since it "
			"began, or since the last snapshot",
			e->target);
	else
		diag_set(d, -ENODATA,
			"%s: the recording worked and was empty: no annotation was reached in "
			"%" PRIu64
			" ms at host_tracer_level %u; record longer or use a higher level",
			e->target, e->options->duration_ms, e->options->host_tracer_level);
}

/*
 * Fills |d| with the reason, as far as it is known, and prints the server's other warnings and
 * errors unless |is_brief|.
 */
static void emptiness_explain(const struct emptiness *e, struct diag *d)
{
	const char *reason = e->archive ? find_reason(&e->archive->warnings) : NULL;

	if (reason)
		diag_set(d, -ENODATA, "%s: the recording worked and was empty: %.400s", e->target,
			is_reason(reason) ? reason + N_NOTHING : reason);
	else
		guess_reason(e, d);
	if (e->archive && !e->is_brief)
		print_others(e, reason);
}

void part_init(struct part *p, const struct client_capture *capture, size_t i, struct names *taken)
{
	*p = (struct part){
		.capture = capture,
		.host_name = capture->host_names ? capture->host_names[i] : NULL,
		.taken = taken,
		.address = capture->targets[i],
		.options = capture->options,
		.run_dir = RUN_DIR_INIT,
		.recording = RECORDING_CALL_INIT,
	};
}

void part_deinit(struct part *p)
{
	answer_deinit(&p->answer);
	recording_call_deinit(&p->recording);
	write_behind_free(p->writer);
	run_dir_close(&p->run_dir);
	free(p->capture_request);
	free(p->profile_request);
	free(p->file);
	names_deinit(&p->more_files);
	names_deinit(&p->converted);
	names_deinit(&p->conversion_warnings);
	free(p->report);
}

/* --- the directory and the connection ------------------------------------------------------ */

int part_open(struct part *p, const char *run)
{
	const struct client_capture *c = p->capture;
	const struct file_name name = {.chosen = p->host_name, .address = &p->address};
	int r = run_dir_open(&p->run_dir, c->log_dir, run, realtime_ns() / NS_PER_S, &p->d);

	if (r == 0)
		r = file_name_check_free(&name, &p->run_dir, &p->d);
	p->code = r < 0 ? EXIT_FAILED : EXIT_DONE;
	return p->code;
}

/*
 * proftap's servers do not write to URLs. They are refused before they record, because they would
 * send the trace.
 */
static int check_url(struct part *p)
{
	struct clock_offset said;

	if (!p->capture->url || !clock_offset_find_name(p->recording.link.channel, &said))
		return EXIT_DONE;
	diag_set(&p->d, -EOPNOTSUPP,
		"%s: proftap's servers do not write to %.200s; leave --server_writes out and give a "
		"path, and the trace is written here",
		p->address.text, p->capture->url);
	return EXIT_FAILED;
}

int part_connect(struct part *p)
{
	p->code = recording_call_connect(&p->recording, &p->address, &p->d);
	if (p->code == EXIT_DONE)
		p->code = check_url(p);
	if (p->code != EXIT_DONE || p->capture->n_targets == 1)
		return p->code;
	clock_offset_measure(p->recording.link.channel, &p->clock);
	if (!p->clock.is_known)
		clock_offset_find_stock_here(&p->address, &p->clock);
	return p->code;
}

/* --- the request --------------------------------------------------------------------------- */

/* Uses the run's name as the session's id, with the characters that servers allow. */
static void set_session_id(struct part *p)
{
	if (p->options.session_id[0])
		return;
	snprintf(p->options.session_id, sizeof p->options.session_id, "%s", p->run_dir.run);
	for (char *c = p->options.session_id; *c; c++)
		if (*c == '.')
			*c = '_';
}

/* Sets the start in the request. Returns the milliseconds until then. */
static int64_t set_start(struct part *p, int64_t start_unix_ns)
{
	struct profile_options *o = &p->options;
	int64_t now_ns = realtime_ns();

	p->start_unix_ns = start_unix_ns;
	if (start_unix_ns == 0 && o->delay_ms > 0)
		start_unix_ns = now_ns + (int64_t)o->delay_ms * NS_PER_MS;
	if (start_unix_ns == 0)
		start_unix_ns = (int64_t)o->start_timestamp_ns;
	if (start_unix_ns)
		o->start_timestamp_ns = (uint64_t)clock_offset_convert(&p->clock, start_unix_ns);
	return start_unix_ns > now_ns ? (start_unix_ns - now_ns) / NS_PER_MS : 0;
}

static int encode_requests(struct part *p)
{
	_cleanup_free_ char *log_dir = realpath(p->capture->log_dir, NULL);
	const struct profile_call call = {
		.options = &p->options,
		.host_name = p->host_name,
		.address = p->address.text,
		.log_dir = p->capture->url ? p->capture->url
			   : log_dir	   ? log_dir
					   : p->capture->log_dir,
		.server_writes = p->capture->server_writes,
	};
	int r = profile_call_encode_capture(&call, &p->capture_request, &p->request.capture_bytes);

	if (r == 0)
		r = profile_call_encode(&call, &p->profile_request, &p->request.profile_bytes);
	if (r == 0)
		return EXIT_DONE;
	return failure_explain_no_request(&p->address, &p->d);
}

/* On a server that is to write the trace itself, only the method Profile is called. */
static const struct recording_methods stay_calls = {.unary = {PROFILE_PATH}};

/*
 * Returns true if the request is about a session. A session's data leaves the server with the
 * answer and exists nowhere else.
 */
static bool is_of_session(const struct part *p)
{
	return p->request.calls && p->request.calls->is_of_session;
}

/*
 * Moves the written part of the trace into a fresh log directory, because the present one is full.
 */
static int move_trace(struct part *p)
{
	struct diag why = p->d;
	struct diag inner = DIAG_INIT;
	struct log_dir other;
	int r;

	if (p->place_remark.text[0])
		return -EEXIST;
	r = log_dir_choose(&other, "", &inner);
	if (r)
		return r;
	r = run_dir_move(&p->run_dir, other.path, p->written_bytes, &inner);
	if (r) {
		log_dir_discard(&other);
		return r;
	}
	diag_set(&p->place_remark, why.code, "%.400s; the trace is in another directory instead",
		why.text);
	p->d = (struct diag)DIAG_INIT;
	return 0;
}

static int write_at_once(const uint8_t *data, size_t n, void *part)
{
	struct part *p = part;
	int r = run_dir_write(&p->run_dir, data, n, &p->d);

	/* EFBIG means a limit on the size of files, which is the same in every directory. */
	if (r && r != -EFBIG && is_of_session(p) && move_trace(p) == 0)
		r = run_dir_write(&p->run_dir, data, n, &p->d);
	if (!r)
		p->written_bytes += n;
	return r;
}

/* Writes to the temporary file. */
static int write_trace(const uint8_t *data, size_t n, void *part)
{
	struct part *p = part;
	int r;

	/*
	 * Only a capture of one target has a writing thread. With many targets, one file is written
	 * while others are received. A session's data is written without a thread, because a failed
	 * write is repeated in another directory.
	 */
	if (!p->writer && p->capture->n_targets == 1 && !is_of_session(p))
		p->writer = write_behind_new(p->run_dir.fd);
	if (!p->writer)
		return n ? write_at_once(data, n, p) : 0;
	r = n ? write_behind_write(p->writer, data, n) : write_behind_finish(p->writer);
	return r ? run_dir_fail(&p->d, r, p->run_dir.path, "cannot write the trace") : 0;
}

int part_send(struct part *p)
{
	struct recording_request *q = &p->request;

	if (p->capture->server_writes)
		q->calls = &stay_calls;
	q->address = &p->address;
	q->write = write_trace;
	q->context = p;
	q->capture = p->capture_request;
	q->profile = p->profile_request;
	q->is_waited_for = p->capture->is_waited_for;
	q->timeout_ms = p->capture->timeout_ms;
	if (q->timeout_ms < 0) {
		q->timeout_ms = q->duration_ms + q->delay_ms + CAPTURE_SLACK_MS;
		q->silence_ms = CAPTURE_SLACK_MS;
	}
	p->code = recording_call_start(&p->recording, q, &p->d);
	return p->code;
}

int part_start(struct part *p, int64_t start_unix_ns)
{
	struct recording_request *q = &p->request;

	set_session_id(p);
	q->session_id = p->options.session_id;
	q->duration_ms = (int64_t)p->options.duration_ms;
	q->delay_ms = set_start(p, start_unix_ns);
	p->code = encode_requests(p);
	return p->code == EXIT_DONE ? part_send(p) : p->code;
}

/* --- the answer ---------------------------------------------------------------------------- */

/* Explains that the user interrupted the recording before anything was recorded. */
static int fail_unfinished(struct part *p)
{
	diag_set(&p->d, -EINTR, "%s: interrupted before anything was recorded: nothing was written",
		p->address.text);
	return EXIT_INTERRUPTED;
}

static int fail_empty(struct part *p)
{
	const struct emptiness e = {
		.target = p->address.text,
		.options = &p->options,
		.archive = p->answer.outline.archive,
		.said = &p->capture->warnings,
		.is_brief = p->capture->n_targets > 1,
	};

	if (p->recording.stopped_ms)
		return fail_unfinished(p);
	emptiness_explain(&e, &p->d);
	return EXIT_EMPTY;
}

/* Keeps unreadable data in a file of another name, because the user may still need it. */
static void set_aside(struct part *p)
{
	struct diag why = p->d;
	char name[PART_NAME_BYTES];
	char unique[PART_NAME_BYTES];

	part_name_format(p, name);
	part_name_add_suffix(p, name, 1, unique);
	if (run_dir_set_aside(&p->run_dir, unique, &p->file, &p->d) == 0)
		diag_set(&p->d, why.code,
			"%.300s; the data received so far is in "
			"%s",
			why.text, p->file);
}

static bool is_wanted(const struct part *p)
{
	const struct client_capture *c = p->capture;

	return !c->is_wanted || c->is_wanted(&p->answer.outline, c->context);
}

/* Draws progress, unless a program that was started here uses the terminal. */
static void show_work(const struct part *p, const char *doing, uint64_t n_bytes)
{
	if (!p->capture->has_program)
		progress_draw_work(p->address.text, doing, n_bytes);
}

static int read_answer(struct part *p)
{
	uint64_t n_bytes = recording_call_get_received_bytes(&p->recording);
	int code;

	show_work(p, "reading them back", n_bytes);
	if (p->recording.is_stream)
		code = answer_read_stream(&p->answer, &p->recording.stream);
	else
		code = answer_read_reply(&p->answer, p->recording.call);
	if (code == EXIT_DONE && !is_wanted(p))
		return EXIT_EMPTY;
	if (code == EXIT_DONE)
		return answer_is_empty(&p->answer) ? fail_empty(p) : EXIT_DONE;
	if (p->answer.is_broken)
		set_aside(p);
	return p->answer.elsewhere && p->capture->server_writes ? EXIT_DONE : code;
}

/* --- the file ------------------------------------------------------------------------------ */

/*
 * Finds the program's name by asking the server or, for a port, among the stock servers of this
 * machine, unless the trace or the measurement of the clock has provided it.
 */
static void find_name(struct part *p)
{
	struct clock_offset said;

	if (p->clock.name[0] || p->answer.outline.process)
		return;
	if (!(file_name_is_of_program(&p->address)
			    ? clock_offset_find_name(p->recording.link.channel, &said)
			    : clock_offset_find_stock_here(&p->address, &said)))
		return;
	memcpy(p->clock.name, said.name, sizeof p->clock.name);
	p->clock.pid = said.pid;
}

/*
 * Estimates the clock of a server without Status from the recording's times in the trace.
 */
static void find_clock(struct part *p)
{
	const struct outline *outline = &p->answer.outline;
	const struct clock_bracket b = {
		.sent_unix_ns = p->recording.sent_unix_ns,
		.answered_unix_ns = p->recording.answered_unix_ns,
		.start_ns = outline->length.start_unix_ns,
		.stop_ns = outline->length.stop_unix_ns,
	};

	if (p->clock.is_known || p->capture->n_targets == 1 || p->request.calls ||
		p->recording.is_stream || !outline->archive)
		return;
	clock_offset_bracket(&b, &p->clock);
}

static int publish_trace(struct part *p)
{
	char name[PART_NAME_BYTES];
	int r = 0;

	find_name(p);
	part_name_format(p, name);
	p->file_bytes = p->answer.xspace_bytes;
	if (p->capture->url)
		diag_set(&p->place_remark, -EREMOTE,
			"%.400s: the server sent the trace instead of writing it there",
			p->capture->url);
	find_clock(p);
	if (p->answer.outline.process)
		p->clock.name[0] = '\0';
	if (p->clock.is_known || p->clock.name[0])
		r = clock_stamp_write(&p->answer, &p->clock, &p->file_bytes, &p->d);
	show_work(p, "writing them to the disk", p->file_bytes);
	if (r == 0)
		r = part_files_publish(p, name);
	return r < 0 ? EXIT_FAILED : EXIT_DONE;
}

/* Keeps the part of a session's data that has arrived, whatever has failed. */
static void keep_what_came(struct part *p)
{
	if (!is_of_session(p) || p->file || !p->written_bytes)
		return;
	if (p->code == EXIT_INTERRUPTED)
		diag_set(&p->d, -EINTR, "%s: interrupted twice", p->address.text);
	set_aside(p);
}

static int finish_part(struct part *p)
{
	int code = recording_call_finish(&p->recording, &p->request, &p->d);

	p->writer = write_behind_free(p->writer);
	p->answer = (struct answer){.target = p->address.text,
		.run_dir = &p->run_dir,
		.names_dir = !is_of_session(p),
		.url = p->capture->url,
		.write = write_at_once,
		.context = p,
		.d = &p->d};
	if (code == EXIT_DONE)
		code = read_answer(p);
	else if (recording_call_is_partial(&p->recording))
		set_aside(p);
	if (code == EXIT_DONE && !p->answer.elsewhere)
		code = publish_trace(p);
	return code;
}

bool part_receive(struct part *p, int64_t wait_ms)
{
	if (p->is_over || !recording_call_poll(&p->recording, &p->request, wait_ms))
		return p->is_over;
	p->is_over = true;
	/* Other lines may be printed from here on. */
	progress_clear();
	p->n_interrupts = interrupt_get_count();
	p->code = finish_part(p);
	if (p->code != EXIT_DONE && p->code != EXIT_EMPTY)
		keep_what_came(p);
	progress_clear();
	p->has_stream = p->recording.is_stream;
	p->received_bytes = p->answer.xspace_bytes;
	return true;
}

void part_conclude(struct part *p)
{
	/* Converting takes time, so for many targets it is done when all recordings are over. */
	if (p->code == EXIT_DONE && p->capture->n_targets == 1)
		part_formats_write(p);
	part_report_make(p);
	answer_deinit(&p->answer);
	recording_call_deinit(&p->recording);
}

bool part_poll(struct part *p, int64_t wait_ms)
{
	bool was_over = p->is_over;
	bool is_over = part_receive(p, wait_ms);

	if (is_over && !was_over)
		part_conclude(p);
	return is_over;
}
