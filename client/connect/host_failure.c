/* SPDX-License-Identifier: Apache-2.0 */
/* Host daemons; see host_failure.h. */
#include "client/connect/host_failure.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/diag.h"
#include "client/connect/failure.h"
#include "client/process/exit.h"
#include "client/target/address.h"

/*
 * Parts of a host daemon's sentences (from daemon/host/programs/choice.c, unless another file is named).
 * Such a sentence is complete: it says which programs there are or were, and what to do.
 */
static const char *const sentences[] = {
	" programs are meant: ",
	": no such program here; ",
	": no program has the label ",
	"no program that you may record has announced itself to this host daemon",
	/* daemon/serve/remote/remote_error.h */
	": the connection broke: the program or its profiler server died",
};

bool host_failure_is_choice(const struct failure *f)
{
	for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
		if (f->is_of_host && strstr(f->text, sentences[i]))
			return true;
	return false;
}

int host_failure_explain_choice(const struct failure *f, struct diag *d)
{
	diag_set(d, -EINVAL, "%s: %.400s", f->address->text, f->text);
	return EXIT_FAILED;
}

int host_failure_explain_lost(const struct failure *f, const char *outcome, struct diag *d)
{
	bool is_here = address_is_here(f->address);

	diag_set(d, -EPIPE,
		"%s: the connection broke after %" PRId64 " ms: the host daemon there is gone%s; "
		"%s%s%s",
		f->address->text, f->elapsed_ms,
		is_here ? "" : ", or its machine, or the way to it",
		is_here ? "" : "if it is the daemon alone, ",
		f->is_of_programs ? "its programs go on; ask again when it is back"
				  : "the program goes on and can be recorded again, by its own "
				    "server or when the daemon is back",
		f->is_of_programs ? "" : outcome);
	return EXIT_FAILED;
}
