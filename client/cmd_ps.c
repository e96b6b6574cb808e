/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proftap ps: shows the spans that are open now in each thread of a target. The target may run, be
 * stopped, hang, or be a dead program whose server keeps its data.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/stock_servers.h"
#include "client/capture/capture_settings.h"
#include "client/capture/host_targets.h"
#include "client/command/command.h"
#include "client/connect/exchange.h"
#include "client/connect/link.h"
#include "client/connect/tunnel.h"
#include "client/process/exit.h"
#include "client/process/interrupt.h"
#include "client/process/terminal.h"
#include "client/session_command.h"
#include "client/target/address.h"
#include "proto/open_spans_json.h"
#include "trace/json.h"

#define TIMEOUT_MS 10000
#define AGE_BYTES 32
/* The server limits its answer to 2 MiB; the encoding adds some. */
#define MAX_BYTES (8u << 20)

struct ps {
	/* The first member, because the options have offsets in it. */
	struct session_command command;
	bool shows_all;
	struct json json;
};

static const struct argument_option options[] = {
	{"all", 'a', ARGUMENT_FLAG, offsetof(struct ps, shows_all), 0, 0, NULL, NULL,
		"show threads without open spans, too, each with its state"},
	{"host", 0, ARGUMENT_TEXT, SESSION_COMMAND_AT(host), 0, 0, NULL, "HOST",
		"host of a bare PORT; default localhost"},
	{"target", 0, ARGUMENT_TEXT, SESSION_COMMAND_AT(target), 0, 0, NULL, "PID|NAME[,…]",
		"programs of a host daemon"},
	{"newest", 0, ARGUMENT_FLAG, SESSION_COMMAND_AT(has_newest), 0, 0, NULL, NULL,
		"if several programs have the NAME, take the one started last"},
	{"ssh", 0, ARGUMENT_TEXT, SESSION_COMMAND_AT(ssh), 0, 0, NULL, "[USER@]DEST",
		"connect by an ssh tunnel; a PORT is one of that machine"},
	{"timeout", 0, ARGUMENT_INT, SESSION_COMMAND_AT(capture.timeout_ms), 1, CAPTURE_MAX_MS,
		NULL, "MS", "limit for each answer; default 10000"},
	{"json", 0, ARGUMENT_FLAG, SESSION_COMMAND_AT(capture.is_json), 0, 0, NULL, NULL,
		"print one JSON object on standard output instead of text"},
};

/* --- as text ------------------------------------------------------------------------------- */

typedef Proftap__V1__OpenSpan Span;
typedef Proftap__V1__ProcessSpans Process;
typedef Proftap__V1__ThreadSpans Thread;

static void format_age(uint64_t ns, char text[AGE_BYTES])
{
	uint64_t s = ns / NS_PER_S;

	if (ns < 1000000)
		snprintf(text, AGE_BYTES, "%.1f us", (double)ns / 1e3);
	else if (s < 1)
		snprintf(text, AGE_BYTES, "%.1f ms", (double)ns / 1e6);
	else if (s < 600)
		snprintf(text, AGE_BYTES, "%.2f s", (double)ns / 1e9);
	else if (s < 86400)
		snprintf(text, AGE_BYTES, "%" PRIu64 "h%02" PRIu64 "m%02" PRIu64 "s", s / 3600,
			s / 60 % 60, s % 60);
	else
		snprintf(text, AGE_BYTES, "%" PRIu64 "d%02" PRIu64 "h%02" PRIu64 "m", s / 86400,
			s / 3600 % 24, s / 60 % 60);
}

/* Writes the local time, with the day if that is not today. */
static void format_since(uint64_t unix_ns, uint64_t now_unix_ns, char text[AGE_BYTES])
{
	time_t then = (time_t)(unix_ns / NS_PER_S);
	time_t now = (time_t)(now_unix_ns / NS_PER_S);
	struct tm then_tm;
	struct tm now_tm;
	size_t n;

	localtime_r(&then, &then_tm);
	localtime_r(&now, &now_tm);
	if (then_tm.tm_yday != now_tm.tm_yday || then_tm.tm_year != now_tm.tm_year) {
		strftime(text, AGE_BYTES, "%m-%d %H:%M:%S", &then_tm);
		return;
	}
	n = strftime(text, AGE_BYTES, "%H:%M:%S", &then_tm);
	snprintf(text + n, AGE_BYTES - n, ".%03d", (int)(unix_ns / 1000000 % 1000));
}

/* --- a span -------------------------------------------------------------------------------- */

static void write_argument(const Proftap__V1__Argument *a, FILE *out)
{
	fputc(' ', out);
	terminal_write(a->name, out);
	fputc('=', out);
	switch (a->value_case) {
	case PROFTAP__V1__ARGUMENT__VALUE_INT64:
		fprintf(out, "%" PRId64, a->int64);
		break;
	case PROFTAP__V1__ARGUMENT__VALUE_UINT64:
		fprintf(out, "%" PRIu64, a->uint64);
		break;
	case PROFTAP__V1__ARGUMENT__VALUE_DOUBLE:
		fprintf(out, "%.6g", a->double_);
		break;
	case PROFTAP__V1__ARGUMENT__VALUE_TEXT:
		terminal_write(a->text, out);
		break;
	case PROFTAP__V1__ARGUMENT__VALUE_POINTER:
		fprintf(out, "0x%" PRIx64, a->pointer);
		break;
	default:
		fputc('?', out);
		break;
	}
}

static void write_span(const Span *s, uint64_t now_unix_ns, FILE *out)
{
	char age[AGE_BYTES];
	char since[AGE_BYTES];

	format_age(s->age_ns, age);
	format_since(s->since_unix_ns, now_unix_ns, since);
	fprintf(out, "  %10s  since %-14s  %*s", age, since, 2 * (int)(s->depth & 127), "");
	terminal_write(s->name, out);
	if (s->is_step)
		fprintf(out, " %" PRId64, s->step_number);
	for (size_t i = 0; i < s->n_arguments; i++)
		write_argument(s->arguments[i], out);
	fputc('\n', out);
}

/* --- a thread ------------------------------------------------------------------------------ */

static const char *name_state(const char *state)
{
	static const struct {
		char letter;
		const char *name;
	} states[] = {
		{'R', "running"},
		{'S', "waiting"},
		{'D', "waiting uninterruptibly"},
		{'T', "stopped"},
		{'t', "stopped by a debugger"},
		{'Z', "ended"},
		{'I', "idle"},
	};

	for (size_t i = 0; i < sizeof states / sizeof *states; i++)
		if (states[i].letter == state[0])
			return states[i].name;
	return state;
}

/* Writes for example "waiting in futex (futex_do_wait)". */
static void write_state(const Thread *t, FILE *out)
{
	bool waits = t->state[0] == 'S' || t->state[0] == 'D';

	if (!t->state[0])
		return;
	fputs("  ", out);
	terminal_write(name_state(t->state), out);
	if (!waits)
		return;
	if (t->syscall_name[0]) {
		fputs(" in ", out);
		terminal_write(t->syscall_name, out);
	} else if (t->syscall > 0) {
		fprintf(out, " in system call %d", t->syscall - 1);
	}
	if (t->wait_channel[0]) {
		fputs(t->syscall > 0 ? " (" : " in the kernel's ", out);
		terminal_write(t->wait_channel, out);
		fputs(t->syscall > 0 ? ")" : "", out);
	}
}

static void write_thread_name(const Thread *t, FILE *out)
{
	terminal_write(t->name[0] ? t->name : "(unnamed)", out);
	fprintf(out, " (%d)", t->tid);
}

static void write_thread(const Process *p, const Thread *t, uint64_t now_unix_ns, FILE *out)
{
	write_thread_name(t, out);
	write_state(t, out);
	if (p->signal_tid && p->signal_tid == t->tid)
		fputs("  <- it received the signal", out);
	if (t->is_moving)
		fputs("  the stack changes faster than proftap can read it: each span was open, "
		      "but not all at once",
			out);
	fputc('\n', out);
	for (size_t i = 0; i < t->n_spans; i++)
		write_span(t->spans[i], now_unix_ns, out);
}

/* Writes the threads that have no open span, in one line. */
static void write_others(const Process *p, FILE *out)
{
	const char *before = p->recording[0] ? "no open span: " : "threads: ";

	for (size_t i = 0; i < p->n_threads; i++) {
		if (p->threads[i]->n_spans)
			continue;
		fputs(before, out);
		write_thread_name(p->threads[i], out);
		if (p->threads[i]->state[0]) {
			fputc(' ', out);
			terminal_write(p->threads[i]->state, out);
		}
		before = ", ";
	}
	if (before[0] == ',')
		fputc('\n', out);
}

static void write_threads(const Process *p, uint64_t now_unix_ns, bool shows_all, FILE *out)
{
	for (size_t i = 0; i < p->n_threads; i++)
		if (p->threads[i]->n_spans || shows_all)
			write_thread(p, p->threads[i], now_unix_ns, out);
	if (!shows_all)
		write_others(p, out);
}

/* --- async spans --------------------------------------------------------------------------- */

static void write_async(const Proftap__V1__AsyncSpan *a, uint64_t now_unix_ns, FILE *out)
{
	char age[AGE_BYTES];
	char since[AGE_BYTES];

	format_age(a->span->age_ns, age);
	format_since(a->span->since_unix_ns, now_unix_ns, since);
	fprintf(out, "  %10s  since %-14s  ", age, since);
	terminal_write(a->span->name, out);
	fprintf(out, " id %" PRIu64, a->id);
	for (size_t i = 0; i < a->span->n_arguments; i++)
		write_argument(a->span->arguments[i], out);
	fputs(", begun by ", out);
	terminal_write(a->thread[0] ? a->thread : "thread", out);
	fprintf(out, " (%d)%s\n", a->tid, a->may_have_ended ? "; it may have ended" : "");
}

static void write_asyncs(const Process *p, uint64_t now_unix_ns, FILE *out)
{
	char since[AGE_BYTES];

	if (p->n_asyncs)
		fputs("async spans\n", out);
	for (size_t i = 0; i < p->n_asyncs; i++)
		if (p->asyncs[i]->span)
			write_async(p->asyncs[i], now_unix_ns, out);
	if (p->n_asyncs_left_out)
		fprintf(out, "%" PRIu64 " more async spans have no room in the answer\n",
			p->n_asyncs_left_out);
	if (!p->asyncs_known_unix_ns)
		return;
	format_since(p->asyncs_known_unix_ns, now_unix_ns, since);
	fprintf(out,
		"async spans are known from %s on: older begins and ends are overwritten, or were "
		"recorded by threads that have ended\n",
		since);
}

/* --- a process ----------------------------------------------------------------------------- */

static const Thread *find_thread(const Process *p, int32_t tid)
{
	for (size_t i = 0; i < p->n_threads; i++)
		if (p->threads[i]->tid == tid)
			return p->threads[i];
	return NULL;
}

static void write_signal_thread(const Process *p, FILE *out)
{
	const Thread *t = p->signal_tid ? find_thread(p, p->signal_tid) : NULL;

	if (!p->signal_tid && !p->signal_thread[0])
		return;
	fputs(p->signal_tid ? "the signal was received by " : "the thread is not known", out);
	if (t)
		write_thread_name(t, out);
	else if (p->signal_tid)
		fprintf(out, "the thread %d", p->signal_tid);
	if (p->signal_thread[0]) {
		fputs(": ", out);
		terminal_write(p->signal_thread, out);
	}
	fputc('\n', out);
}

static void write_end(const Process *p, FILE *out)
{
	char ago[AGE_BYTES];

	format_age(p->ended_ago_ns, ago);
	fprintf(out, ", ended %s ago", ago);
	if (p->ending[0]) {
		fputs(", ", out);
		terminal_write(p->ending, out);
	}
	fputs("; ages are those at the program's end\n", out);
	write_signal_thread(p, out);
}

static void write_head(const Process *p, FILE *out)
{
	terminal_write(p->name, out);
	fprintf(out, " (pid %d)", p->pid);
	if (p->state[0] == 'e') {
		write_end(p, out);
		return;
	}
	if (p->state[0] == 's')
		fputs(", stopped (SIGSTOP or a debugger); ages keep growing", out);
	if (p->recording[0]) {
		fputs(", recorded by the ", out);
		terminal_write(p->recording, out);
		fprintf(out, " at level %u", p->level);
	}
	fputc('\n', out);
}

static void write_unrecorded(const Process *p, const char *target, FILE *out)
{
	if (p->recording[0])
		return;
	if (p->state[0] == 'e') {
		fputs("nothing recorded the program when it ended, so its open spans are not "
		      "known\n",
			out);
		return;
	}
	fprintf(out,
		"nothing records the program, so its open spans are not known; after proftap "
		"start %s --recorder, spans that begin later are shown\n",
		target);
}

static void write_text(
	const Proftap__V1__OpenSpansReply *reply, const char *target, bool shows_all, FILE *out)
{
	for (size_t i = 0; i < reply->n_processes; i++) {
		const Process *p = reply->processes[i];

		write_head(p, out);
		write_unrecorded(p, target, out);
		write_threads(p, reply->unix_ns, shows_all, out);
		write_asyncs(p, reply->unix_ns, out);
		if (p->n_left_out)
			fprintf(out, "%" PRIu64 " more open spans have no room in the answer\n",
				p->n_left_out);
	}
}

/* --- one target ---------------------------------------------------------------------------- */

static int explain_unknown(const struct exchange *e, struct diag *d)
{
	const struct address *a = e->address;

	if (exchange_find_stock(e))
		diag_set(d, -EOPNOTSUPP,
			"%s: JAX's and TensorFlow's profiler servers do not report open spans; "
			"record the "
			"program instead: proftap capture %s 1000",
			a->text, a->words);
	else
		diag_set(d, -EOPNOTSUPP,
			"%s: no OpenSpans there (UNIMPLEMENTED): servers of an older proftap do "
			"not report open spans; restart the program with this proftap",
			a->text);
	return EXIT_FAILED;
}

/*
 * Prints that the annotations of JAX or TensorFlow are missing, because only their own profiler
 * server records them. The check needs a process on this machine.
 */
static void hint_at_stock(const Proftap__V1__OpenSpansReply *reply, const struct address *a)
{
	for (size_t i = 0; i < reply->n_processes && address_is_here(a); i++) {
		const Proftap__V1__ProcessSpans *p = reply->processes[i];
		const char *make = p->recording[0] && !p->ending[0]
					   ? stock_servers_find_make((pid_t)p->pid)
					   : NULL;

		if (make)
			fprintf(stderr,
				"pid %d: %s's own annotations are not shown: only its own "
				"profiler server records them%s\n",
				(int)p->pid, make,
				strcmp(make, "JAX") == 0
					? ", which jax.profiler.start_server(PORT) starts"
					: "");
	}
}

static int call_open_spans(const struct ps *ps, const struct address *address,
	const struct link *link, Proftap__V1__OpenSpansReply **out, struct diag *d)
{
	int64_t timeout_ms = ps->command.settings.capture.timeout_ms;
	struct exchange e = {
		.address = address,
		.link = link,
		.path = OPEN_SPANS_PATH,
		.timeout_ms = timeout_ms > 0 ? timeout_ms : TIMEOUT_MS,
		.max_bytes = MAX_BYTES,
	};
	int code = exchange_run(&e, d);

	if (code == EXIT_DONE) {
		*out = (Proftap__V1__OpenSpansReply *)exchange_unpack(
			&e, &proftap__v1__open_spans_reply__descriptor, d);
		code = *out ? EXIT_DONE : EXIT_FAILED;
	} else if (exchange_is_unknown(&e)) {
		code = explain_unknown(&e, d);
	}
	exchange_deinit(&e);
	return code;
}

static int ask_target(const struct ps *ps, struct address *address,
	Proftap__V1__OpenSpansReply **out, struct diag *d)
{
	struct link link = LINK_INIT;
	int code = link_open(&link, address, d);

	if (code == EXIT_DONE)
		code = call_open_spans(ps, address, &link, out, d);
	link_close(&link);
	return code;
}

/* Returns true if any process is recorded; otherwise no open spans are known. */
static bool is_recorded(const Proftap__V1__OpenSpansReply *reply)
{
	for (size_t i = 0; i < reply->n_processes; i++)
		if (reply->processes[i]->recording[0])
			return true;
	return false;
}

static void write_json(struct json *j, const struct address *address,
	const Proftap__V1__OpenSpansReply *reply, int code, const struct diag *d)
{
	json_begin_object(j, NULL);
	json_text(j, "target", address->text);
	json_int(j, "exit", code);
	json_text(j, "error", reply ? NULL : d->text);
	if (reply)
		open_spans_json_write(j, reply);
	json_end_object(j);
}

static int show_target(struct ps *ps, size_t i)
{
	const struct capture_settings *s = &ps->command.settings;
	struct address *address = &s->targets[i];
	bool is_typed = !s->target && !s->ssh && !s->host;
	Proftap__V1__OpenSpansReply *reply = NULL;
	struct diag d = DIAG_INIT;
	int code;

	code = ask_target(ps, address, &reply, &d);
	if (code != EXIT_DONE)
		fprintf(stderr, "%s\n", d.text);
	else if (!is_recorded(reply))
		code = EXIT_EMPTY;
	if (s->capture.is_json)
		write_json(&ps->json, address, reply, code, &d);
	else if (reply)
		write_text(reply, is_typed ? s->words.v[i] : address->words, ps->shows_all, stdout);
	if (reply && code == EXIT_DONE)
		hint_at_stock(reply, address);
	if (reply)
		proftap__v1__open_spans_reply__free_unpacked(reply, NULL);
	return code;
}

/* --- all targets --------------------------------------------------------------------------- */

/* Joins exit codes of several targets: returns the common one, or EXIT_PARTIAL. */
static int join_codes(int so_far, int code)
{
	return so_far == code ? code : EXIT_PARTIAL;
}

static int show_all(struct ps *ps)
{
	struct client_capture *c = &ps->command.settings.capture;
	int result = EXIT_DONE;

	if (c->is_json) {
		json_begin(&ps->json, stdout);
		json_begin_list(&ps->json, "targets");
	}
	for (size_t i = 0; i < c->n_targets && interrupt_get_count() == 0; i++) {
		int code;

		if (i && !c->is_json)
			putchar('\n');
		code = show_target(ps, i);
		result = i ? join_codes(result, code) : code;
	}
	if (interrupt_get_count())
		result = EXIT_INTERRUPTED;
	if (c->is_json) {
		json_end_list(&ps->json);
		json_int(&ps->json, "exit", result);
		json_end(&ps->json);
	}
	return result;
}

static int show_reached(struct ps *ps, struct diag *d)
{
	struct capture_settings *s = &ps->command.settings;
	struct tunnel tunnel = TUNNEL_INIT;
	int code = EXIT_DONE;

	if (s->ssh)
		code = tunnel_open(&tunnel, s->ssh, s->targets, s->capture.n_targets, d);
	if (code == EXIT_DONE && s->target)
		code = host_targets_expand(s->target, &s->targets, &s->capture.n_targets, d);
	if (code != EXIT_DONE)
		fprintf(stderr, "%s\n", d->text);
	else
		code = show_all(ps);
	if (s->ssh)
		tunnel_close(&tunnel);
	return code;
}

static int run_ps(const struct command *self, int argc, char **argv)
{
	struct ps ps = {.shows_all = false};
	struct capture_settings *s = &ps.command.settings;
	struct diag d = DIAG_INIT;
	int code = EXIT_DONE;
	int n_left;
	int r;

	capture_settings_init(s);
	r = command_parse(self, argc, argv, &ps, &n_left, &d);
	if (r == 0)
		r = capture_settings_finish_targets(s, self->name, n_left, argv, &d);
	interrupt_start();
	if (r < 0)
		code = command_fail_usage(self, &d);
	else if (r == 0)
		code = show_reached(&ps, &d);
	capture_settings_deinit(s);
	return code;
}

const struct command command_ps = {
	.name = "ps",
	.usage = "[options] PORT|HOST:PORT|unix:PATH|PID|NAME[,…]",
	.summary = "show the spans that are open now in each thread, even if the program hangs",
	.arguments.options = options,
	.arguments.n_options = sizeof options / sizeof options[0],
	.operands = ":targets",
	.run = run_ps,
};
