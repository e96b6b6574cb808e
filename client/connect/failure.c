/* SPDX-License-Identifier: Apache-2.0 */
/* Explaining failed calls; see failure.h. */
#include "client/connect/failure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/stock_servers.h"
#include "base/utf8.h"
#include "client/connect/probe.h"
#include "client/process/exit.h"
#include "client/target/address.h"
#include "rpc/client.h"

/* --- sessions and the flight recorder ------------------------------------------------------ */

/*
 * Returns true if the call was about a continuous session or the flight recorder and failed for a
 * reason that only such calls have.
 */
static bool session_failure_is_one(const struct failure *f)
{
	if (!f->is_of_session)
		return false;
	return f->status == RPC_UNIMPLEMENTED || f->status == RPC_NOT_FOUND ||
	       (f->is_of_recorder &&
		       (f->status == RPC_ALREADY_EXISTS || f->status == RPC_FAILED_PRECONDITION));
}

/* An older profiler server and a server of something else answer with the same status. */
static int explain_no_sessions(const struct failure *f, struct diag *d)
{
	if (f->is_of_recorder)
		diag_set(d, -EOPNOTSUPP,
			"%s: no flight recorder there: only proftap's servers can have one, and "
			"this server is JAX's, of another make, or older",
			f->address->text);
	else
		diag_set(d, -EOPNOTSUPP,
			"%s: no continuous profiling there: the server can only capture, as older ones do "
			"(use proftap capture), or it is no profiler server",
			f->address->text);
	return EXIT_FAILED;
}

static int explain_no_recorder(const struct failure *f, struct diag *d)
{
	diag_set(d, -ENOENT,
		"%s: no flight recorder runs there; start one with proftap start %s --recorder, or "
		"the program with PROFTAP_RECORDER=1",
		f->address->text, f->address->words);
	return EXIT_FAILED;
}

static int explain_no_session(const struct failure *f, struct diag *d)
{
	if (f->is_of_recorder)
		return explain_no_recorder(f, d);
	if (f->is_of_proftap)
		diag_set(d, -ENOENT,
			"%s: neither a continuous session nor a flight recorder runs there; begin one "
			"with proftap start %s, or with --recorder",
			f->address->text, f->address->words);
	else
		diag_set(d, -ENOENT,
			"%s: no continuous session runs there; begin one with proftap start %s",
			f->address->text, f->address->words);
	return EXIT_FAILED;
}

/*
 * The advice names the recorder, because a bare command would mean a session that runs beside it.
 */
static int explain_on_already(const struct failure *f, struct diag *d)
{
	diag_set(d, -EALREADY,
		"%s: a flight recorder runs there already; proftap snapshot %s --session recorder "
		"gets its content, and proftap stop %s --session recorder ends it",
		f->address->text, f->address->words, f->address->words);
	return EXIT_BUSY;
}

/*
 * --last cannot work on a continuous session, because a snapshot removes the data that it returns.
 */
static int explain_session_instead(const struct failure *f, struct diag *d)
{
	diag_set(d, -ENOENT,
		"%s: no flight recorder runs there, only a continuous session, which --last cannot "
		"read; leave --last out, or start a recorder, too, with proftap start %s --recorder",
		f->address->text, f->address->words);
	return EXIT_FAILED;
}

/* Returns an enum exit_code with |d|, like failure_explain(). */
static int session_failure_explain(const struct failure *f, struct diag *d)
{
	switch (f->status) {
	case RPC_UNIMPLEMENTED:
		return explain_no_sessions(f, d);
	case RPC_NOT_FOUND:
		return explain_no_session(f, d);
	case RPC_ALREADY_EXISTS:
		return explain_on_already(f, d);
	default:
		return explain_session_instead(f, d);
	}
}

/* --- host daemons -------------------------------------------------------------------------- */

/*
 * Parts of a host daemon's messages (from daemon/host/programs/choice.c, unless another file is
 * named). Such a message is complete: it names the programs and says what to do.
 */
static const char *const host_messages[] = {
	" programs are meant: ",
	": no such program here; ",
	": no program has the label ",
	"no program that you may record has announced itself to this host daemon",
	/* daemon/serve/remote/remote_error.h */
	": the connection broke: the program or its profiler server died",
};

/*
 * Returns true if the daemon failed the call because it does not know which program is meant, or
 * lost it.
 */
static bool host_failure_is_choice(const struct failure *f)
{
	for (size_t i = 0; i < sizeof host_messages / sizeof *host_messages; i++)
		if (f->is_of_host && strstr(f->text, host_messages[i]))
			return true;
	return false;
}

/* Returns an enum exit_code with |d|, like failure_explain(). */
static int host_failure_explain_choice(const struct failure *f, struct diag *d)
{
	diag_set(d, -EINVAL, "%s: %.400s", f->address->text, f->text);
	return EXIT_FAILED;
}

/*
 * Explains a lost connection to a host daemon. A program that dies does not break the connection:
 * its server delivers the trace, and the daemon passes that on. |outcome| says what became of the
 * trace, such as "; nothing was written".
 */
static int host_failure_explain_lost(const struct failure *f, const char *outcome, struct diag *d)
{
	bool is_here = address_is_here(f->address);

	diag_set(d, -EPIPE,
		"%s: the connection broke after %" PRId64 " ms: the host daemon there is gone%s; "
		"%s%s%s",
		f->address->text, f->elapsed_ms,
		is_here ? "" : ", or its machine, or the way to it",
		is_here ? "" : "if only the daemon ended, ",
		f->is_of_programs ? "its programs go on; ask again when the daemon is back"
				  : "the program goes on and can be recorded again, by its own "
				    "server or when the daemon is back",
		f->is_of_programs ? "" : outcome);
	return EXIT_FAILED;
}

/* The limit of a server's text about the session that it is busy with. */
#define MAX_HOLDER_BYTES 200

/*
 * Finds the active session's description, which proftap.v1 gives in parentheses; NULL: |text| does
 * not have that form.
 */
static const char *find_v1_holder(const char *text)
{
	static const char words[] = "another profiling session is active (";

	return strncmp(text, words, sizeof words - 1) == 0 ? text + sizeof words - 1 : NULL;
}

/*
 * Returns true if a busy profiler server, proftap's or another, answers with this status and text.
 */
static bool failure_is_busy(int status, const char *text)
{
	/* Stock servers return INTERNAL; their other versions, and proftap's, one of the others. */
	if (status != RPC_INTERNAL && status != RPC_ALREADY_EXISTS &&
		status != RPC_FAILED_PRECONDITION && status != RPC_UNAVAILABLE)
		return false;
	return strstr(text, "Another profiling session active") || find_v1_holder(text) ||
	       strstr(text, "profiling session is already running");
}

/*
 * Returns the active session's description, of *n bytes: the text in proftap.v1's parentheses, or
 * after the stock sentence; "" if there is none.
 */
static const char *find_holder(const char *text, int *n)
{
	static const char stock[] = "Another profiling session active.";
	const char *holder = find_v1_holder(text);

	if (holder) {
		/* The closing parenthesis is left out. */
		*n = *holder ? (int)strlen(holder) - 1 : 0;
		return holder;
	}
	*n = 0;
	if (strncmp(text, stock, sizeof stock - 1) != 0)
		return "";
	text += sizeof stock - 1;
	text += strspn(text, " ");
	*n = (int)strlen(text);
	return text;
}

/* Waiting is advised only if the session ends by itself. */
static void advise_busy(const struct failure *f, const char *holder, char *out, size_t n)
{
	out[0] = '\0';
	if (f->is_of_session)
		snprintf(out, n, "; a continuous one ends by proftap stop %s", f->address->words);
	else if (strstr(holder, "until it is stopped"))
		snprintf(out, n, "; if it is yours, proftap stop %s ends it", f->address->words);
	else if (strstr(holder, "to the end of the program"))
		snprintf(out, n,
			"; it ends with the program, and the client that started it gets its data");
	else if (!f->is_waited_for)
		snprintf(out, n, "; wait for it to end, as --wait does");
}

static int explain_busy(const struct failure *f, struct diag *d)
{
	char advice[600];
	int n;
	const char *holder = find_holder(f->text, &n);
	bool is_cut = n > MAX_HOLDER_BYTES;

	if (is_cut)
		n = (int)utf8_cut(holder, MAX_HOLDER_BYTES);
	advise_busy(f, holder, advice, sizeof advice);
	diag_set(d, -EBUSY, "%s: busy: another profiling session is active there%s%.*s%s%s%s",
		f->address->text, *holder ? " (" : "", n, holder, is_cut ? UTF8_CUT : "",
		*holder ? ")" : "", advice);
	return EXIT_BUSY;
}

/* If a part of the trace is kept, another message reports it. */
static const char *get_outcome(const struct failure *f)
{
	return f->is_partial ? "" : "; nothing was written";
}

static int explain_timeout(const struct failure *f, struct diag *d)
{
	diag_set(d, -ETIMEDOUT,
		"%s: timed out: no whole answer within %" PRId64 " ms%s; allow more with --timeout",
		f->address->text, f->timeout_ms, get_outcome(f));
	return EXIT_TIMEOUT;
}

static int explain_empty_answer(const struct failure *f, struct diag *d)
{
	diag_set(d, -ENODATA, "%s: the server ended the call with OK and without a whole answer",
		f->address->text);
	return EXIT_FAILED;
}

/* Returns true if the call may succeed when it is tried again. */
static bool is_temporary(int status)
{
	return status == RPC_RESOURCE_EXHAUSTED || status == RPC_UNAVAILABLE;
}

static int explain_status(const struct failure *f, struct diag *d)
{
	if (f->status == RPC_OK)
		return explain_empty_answer(f, d);
	diag_set(d, is_temporary(f->status) ? -EAGAIN : -EPROTO,
		"%s: the server answered %s: %.300s", f->address->text, rpc_status_name(f->status),
		*f->text ? f->text : "(no text)");
	return EXIT_FAILED;
}

static int explain_unimplemented(const struct failure *f, struct diag *d)
{
	diag_set(d, -EPROTO,
		"%s: something else listens on that port: a server without the profiler service; it "
		"answered %s: %.300s",
		f->address->text, rpc_status_name(f->status), *f->text ? f->text : "(no text)");
	return EXIT_NOBODY;
}

/* The call ended without a gRPC status. */
static int explain_other_http(const struct failure *f, struct diag *d)
{
	diag_set(d, -EPROTO,
		"%s: something else listens on that port: it speaks HTTP/2 and not gRPC",
		f->address->text);
	return EXIT_NOBODY;
}

/* The answer, which may be a web page, does not begin with a length that gRPC could read. */
static int explain_unreadable(const struct failure *f, struct diag *d)
{
	diag_set(d, -EPROTO,
		"%s: the answer makes no sense: a server that speaks HTTP/2 and not gRPC may listen on "
		"that port",
		f->address->text);
	return EXIT_FAILED;
}

static int explain_tls(const struct failure *f, struct diag *d)
{
	diag_set(d, -EPROTO,
		"%s: something else listens on that port: it wants TLS, which profiler servers "
		"do not use; give the port of the profiler server, or tunnel to it with ssh -L",
		f->address->text);
	return EXIT_NOBODY;
}

static int explain_silence(const struct failure *f, struct diag *d)
{
	struct stock_server stopped;

	if (address_is_here(f->address) && f->address->port &&
		stock_servers_find_stopped(f->address->port, &stopped) == 0) {
		diag_set(d, -EPROTO,
			"%s: %s (pid %d), which listens on that port, is stopped; kill -CONT %d lets it "
			"go on",
			f->address->text, stopped.name, (int)stopped.pid, (int)stopped.pid);
		return EXIT_NOBODY;
	}
	diag_set(d, -EPROTO,
		"%s: something else listens on that port: it accepts the connection and sends "
		"nothing; a stopped profiler server does the same",
		f->address->text);
	return EXIT_NOBODY;
}

static int explain_break(const struct failure *f, struct diag *d)
{
	if (f->is_of_host)
		return host_failure_explain_lost(f, get_outcome(f), d);
	diag_set(d, -EPIPE,
		"%s: the connection broke after %" PRId64 " ms: the target%s its server%s died%s",
		f->address->text, f->elapsed_ms, f->address->is_tunnel ? "," : " or",
		f->address->is_tunnel ? " or ssh" : "", get_outcome(f));
	return EXIT_FAILED;
}

static int explain_refusal(const struct failure *f, struct diag *d)
{
	diag_set(d, -EACCES,
		"%s: the connection was closed at once: only the user that runs the target, or root, "
		"may connect; if that is you, the server's log has the reason (or something else "
		"listens on that port)",
		f->address->text);
	return EXIT_NOBODY;
}

static int explain_other(const struct failure *f, const char *said, struct diag *d)
{
	diag_set(d, -EPROTO, "%s: something else listens on that port: it said \"%s\"",
		f->address->text, said);
	return EXIT_NOBODY;
}

/*
 * The connection ended with the call, or the client gave up the call. Finds out what listens now.
 */
static int explain_lost(const struct failure *f, struct diag *d)
{
	/* link_open() has seen a server at a tunnel's other end. */
	bool has_spoken = f->received_bytes >= FAILURE_SPOKEN_BYTES || f->address->is_tunnel;
	char said[80];

	switch (probe(f->address, said, sizeof said)) {
	case PROBE_OTHER:
		return explain_other(f, said, d);
	case PROBE_TLS:
		return explain_tls(f, d);
	case PROBE_CLOSED:
		return has_spoken ? explain_break(f, d) : explain_refusal(f, d);
	case PROBE_SILENT:
		return has_spoken ? explain_break(f, d) : explain_silence(f, d);
	case PROBE_HTTP2:
		/* A server may close the connection right after its answer. */
		if (!f->is_silent && f->status != RPC_UNAVAILABLE)
			return explain_status(f, d);
		break;
	case PROBE_GONE:
		break;
	}
	return f->is_silent ? explain_silence(f, d) : explain_break(f, d);
}

/*
 * Returns true if the time was over before the peer sent anything. A gRPC server sends its first
 * frame at once.
 */
static bool has_said_nothing(const struct failure *f)
{
	return f->status == RPC_DEADLINE_EXCEEDED && f->received_bytes >= 0 &&
	       f->received_bytes < FAILURE_SPOKEN_BYTES;
}

static int explain_fault(const struct failure *f, struct diag *d)
{
	diag_set(d, -EBADMSG, "%s: the answer is refused: %s%s", f->address->text, f->fault,
		get_outcome(f));
	return EXIT_FAILED;
}

int failure_explain(const struct failure *f, struct diag *d)
{
	if (f->fault)
		return explain_fault(f, d);
	if (f->is_silent || has_said_nothing(f))
		return explain_lost(f, d);
	if (host_failure_is_choice(f))
		return host_failure_explain_choice(f, d);
	if (session_failure_is_one(f))
		return session_failure_explain(f, d);
	if (failure_is_busy(f->status, f->text))
		return explain_busy(f, d);
	if (f->status == RPC_DEADLINE_EXCEEDED)
		return explain_timeout(f, d);
	if (f->status == RPC_UNIMPLEMENTED)
		return explain_unimplemented(f, d);
	/* This is gRPC's text for a response without grpc-status. */
	if (f->status == RPC_UNKNOWN && strcmp(f->text, "No status received") == 0)
		return explain_other_http(f, d);
	/* This is gRPC's text for bytes that are no message. */
	if (f->is_connected && f->status == RPC_UNKNOWN && strcmp(f->text, "Stream removed") == 0)
		return explain_unreadable(f, d);
	return f->is_connected ? explain_status(f, d) : explain_lost(f, d);
}

static int explain_dead_end(const struct address *a, struct diag *d)
{
	char port[32] = "";

	if (a->port)
		snprintf(port, sizeof port, " -p %u", a->port);
	diag_set(d, -ECONNREFUSED,
		"%s: ssh connected, and the connection was closed at once: no profiler server "
		"there (start "
		"one with proftap run%s -- PROGRAM), or it is another user's, or that machine forbids "
		"forwarding",
		a->text, port);
	return EXIT_NOBODY;
}

int failure_explain_no_request(const struct address *address, struct diag *d)
{
	diag_set(d, -ENOMEM, "%s: no request made: out of memory", address->text);
	return EXIT_FAILED;
}

int failure_explain_tunnel(const struct address *address, struct diag *d)
{
	struct failure f = {.address = address};
	char said[80];

	switch (probe(address, said, sizeof said)) {
	case PROBE_HTTP2:
		return EXIT_DONE;
	case PROBE_OTHER:
		return explain_other(&f, said, d);
	case PROBE_TLS:
		return explain_tls(&f, d);
	case PROBE_SILENT:
		return explain_silence(&f, d);
	case PROBE_CLOSED:
	case PROBE_GONE:
		break;
	}
	return explain_dead_end(address, d);
}
