/* SPDX-License-Identifier: Apache-2.0 */
/* Calls about what records without an end; see session_failure.h. */
#include "client/connect/session_failure.h"

#include <errno.h>

#include "base/diag.h"
#include "client/connect/failure.h"
#include "client/process/exit.h"
#include "client/target/address.h"
#include "rpc/client.h"

bool session_failure_is_one(const struct failure *f)
{
	if (!f->is_of_session)
		return false;
	return f->status == RPC_UNIMPLEMENTED || f->status == RPC_NOT_FOUND ||
	       (f->is_of_recorder &&
		       (f->status == RPC_ALREADY_EXISTS || f->status == RPC_FAILED_PRECONDITION));
}

/* Which of the two it is does not show. */
static int explain_no_sessions(const struct failure *f, struct diag *d)
{
	if (f->is_of_recorder)
		diag_set(d, -EOPNOTSUPP,
			"%s: no flight recorder there: only servers of proftap can have one, and this is "
			"JAX's, another one or an older one",
			f->address->text);
	else
		diag_set(d, -EOPNOTSUPP,
			"%s: no continuous profiling there: the server is one that only captures, as "
			"older ones do (use proftap capture), or none of a profiler",
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

/* Without its name a session that runs beside it would be meant. */
static int explain_on_already(const struct failure *f, struct diag *d)
{
	diag_set(d, -EALREADY,
		"%s: a flight recorder runs there already; proftap snapshot %s --session recorder takes "
		"what it holds, and proftap stop %s --session recorder ends it",
		f->address->text, f->address->words, f->address->words);
	return EXIT_BUSY;
}

/* It has no last milliseconds: a snapshot takes what it hands over away. */
static int explain_session_instead(const struct failure *f, struct diag *d)
{
	diag_set(d, -ENOENT,
		"%s: no flight recorder runs there, but a continuous session, from which --last cannot "
		"take; leave it out, or start a recorder beside it with proftap start %s --recorder",
		f->address->text, f->address->words);
	return EXIT_FAILED;
}

int session_failure_explain(const struct failure *f, struct diag *d)
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
