/* SPDX-License-Identifier: Apache-2.0 */
/* Reasons of failed calls; see failure.h. */
#include "client/connect/failure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/stock_servers.h"
#include "base/utf8.h"
#include "client/connect/host_failure.h"
#include "client/connect/probe.h"
#include "client/connect/session_failure.h"
#include "client/process/exit.h"
#include "client/target/address.h"
#include "rpc/client.h"

/* Of what a server says about the one that it is busy with. */
#define MAX_HOLDER_BYTES 200

/* How proftap.v1 says it: the holder in parentheses; NULL: it does not. */
static const char *find_v1_holder(const char *text)
{
	static const char words[] = "another profiling session is active (";

	return strncmp(text, words, sizeof words - 1) == 0 ? text + sizeof words - 1 : NULL;
}

bool failure_is_busy(int status, const char *text)
{
	/* Stock servers say INTERNAL; what the underlying code was meant to be differs by age. */
	if (status != RPC_INTERNAL && status != RPC_ALREADY_EXISTS &&
		status != RPC_FAILED_PRECONDITION && status != RPC_UNAVAILABLE)
		return false;
	return strstr(text, "Another profiling session active") || find_v1_holder(text) ||
	       strstr(text, "profiling session is already running");
}

/* What a server says beyond the stock sentence, such as who it is busy with; "" if nothing. */
static const char *find_holder(const char *text, int *n)
{
	static const char stock[] = "Another profiling session active.";
	const char *holder = find_v1_holder(text);

	if (holder) {
		/* Without the parenthesis. */
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

/* Who waits for one without an end waits for ever. */
static void advise_busy(const struct failure *f, const char *holder, char *out, size_t n)
{
	out[0] = '\0';
	if (f->is_of_session)
		snprintf(out, n, "; a continuous one ends by proftap stop %s", f->address->words);
	else if (strstr(holder, "until it is stopped"))
		snprintf(out, n, "; if it is yours, proftap stop %s ends it", f->address->words);
	else if (strstr(holder, "to the end of the program"))
		snprintf(out, n, "; it ends with the program, and who began it gets it");
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

/* What came of a stream is kept, as is said elsewhere. */
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

static int explain_hollow(const struct failure *f, struct diag *d)
{
	diag_set(d, -ENODATA, "%s: the server ended the call with OK and without a whole answer",
		f->address->text);
	return EXIT_FAILED;
}

/* Too much at a time, or not now: gRPC's words for "try again". */
static bool can_get_better(int status)
{
	return status == RPC_RESOURCE_EXHAUSTED || status == RPC_UNAVAILABLE;
}

static int explain_stranger(const struct failure *f, struct diag *d)
{
	if (f->status == RPC_OK)
		return explain_hollow(f, d);
	diag_set(d, can_get_better(f->status) ? -EAGAIN : -EPROTO,
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

/* A call that ended as gRPC calls never do. */
static int explain_other_http(const struct failure *f, struct diag *d)
{
	diag_set(d, -EPROTO,
		"%s: something else listens on that port: it speaks HTTP/2 and not gRPC",
		f->address->text);
	return EXIT_NOBODY;
}

/* A page, for one, has no length in front of it that gRPC could read. */
static int explain_nonsense(const struct failure *f, struct diag *d)
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
		"%s: something else listens on that port: it accepts the connection and says "
		"nothing; a profiler server that is stopped looks the same",
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
		"may connect (or something else listens on that port)",
		f->address->text);
	return EXIT_NOBODY;
}

static int explain_other(const struct failure *f, const char *said, struct diag *d)
{
	diag_set(d, -EPROTO, "%s: something else listens on that port: it said \"%s\"",
		f->address->text, said);
	return EXIT_NOBODY;
}

/* The connection ended with the call, or was given up: looks at who is there now. */
static int explain_lost(const struct failure *f, struct diag *d)
{
	/* At a tunnel's other end was a server when the call began. */
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
		/* A server may hang up right after its answer. */
		if (!f->is_silent && f->status != RPC_UNAVAILABLE)
			return explain_stranger(f, d);
		break;
	case PROBE_GONE:
		break;
	}
	return f->is_silent ? explain_silence(f, d) : explain_break(f, d);
}

/* The time was over before the peer said its first word, which gRPC servers say at once. */
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
	/* gRPC's own words for a response without grpc-status. */
	if (f->status == RPC_UNKNOWN && strcmp(f->text, "No status received") == 0)
		return explain_other_http(f, d);
	/* The same for bytes that are no message. */
	if (f->is_connected && f->status == RPC_UNKNOWN && strcmp(f->text, "Stream removed") == 0)
		return explain_nonsense(f, d);
	return f->is_connected ? explain_stranger(f, d) : explain_lost(f, d);
}

static int explain_dead_end(const struct address *a, struct diag *d)
{
	char port[32] = "";

	if (a->port)
		snprintf(port, sizeof port, " -p %u", a->port);
	diag_set(d, -ECONNREFUSED,
		"%s: ssh got there, and the connection was closed at once: no profiler server there (start "
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
