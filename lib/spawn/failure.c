/* SPDX-License-Identifier: Apache-2.0 */
/* What a failed spawn means for people; see failure.h. */
#include "lib/spawn/failure.h"

#include <errno.h>
#include <proftap/proftap.h>

#include "base/diag.h"
#include "lib/spawn/spawn.h"

static int explain_clone(const struct spawn *s, struct diag *d)
{
	if (s->error == -EPERM || s->error == -ENOSYS)
		return diag_set(d, s->error,
			"proftapd: cannot start a process: %s; is that forbidden here "
			"(seccomp)? Start the server before the sandbox",
			errno_words(s->error));
	return diag_set(d, s->error,
		"proftapd: cannot start a process: %s; raise the limit on processes",
		errno_words(s->error));
}

static int explain_path(const struct spawn *s, const char *address, struct diag *d)
{
	if (s->error == -EADDRINUSE)
		return diag_set(d, s->error,
			"%s: in use: a server listens there; choose another path", address);
	if (s->error == -EEXIST)
		return diag_set(d, -EADDRINUSE,
			"%s: in use: there is something else, or another user's socket; remove it or "
			"choose another path",
			address);
	return diag_set(d, s->error, "%s: cannot listen there: %s", address, errno_words(s->error));
}

static int explain_bind(const struct spawn *s, const struct ptap_server_options *o, struct diag *d)
{
	const char *address = o->address ? o->address : "127.0.0.1";

	if (s->address.ss_family == AF_UNIX)
		return explain_path(s, address, d);
	if (s->error == -EADDRINUSE)
		return diag_set(d, s->error,
			"port %u: in use on %s; choose another, or 0 for any free one", o->port,
			address);
	return diag_set(d, s->error, "%s:%u: cannot listen there: %s", address, o->port,
		errno_words(s->error));
}

static int explain_arena(const struct spawn *s, struct diag *d)
{
	if (s->error == -EFBIG)
		return diag_set(d, s->error,
			"proftap: RLIMIT_FSIZE (ulimit -f) is too low for %llu KiB of shared "
			"memory; raise it",
			(unsigned long long)(s->arena_bytes >> 10));
	return diag_set(d, s->error, "proftap: cannot map %llu MiB of shared memory: %s",
		(unsigned long long)(s->arena_bytes >> 20), errno_words(s->error));
}

static int explain_exec(const struct spawn *s, const char *path, struct diag *d)
{
	if (s->error == -EPERM || s->error == -EACCES)
		return diag_set(d, s->error,
			"%s: cannot be executed: %s; is that forbidden here (seccomp, "
			"AppArmor)? Start the server before the sandbox",
			path, errno_words(s->error));
	return diag_set(d, s->error, "%s: cannot be executed: %s", path, errno_words(s->error));
}

int spawn_explain(const struct spawn *s, const char *path, const struct ptap_server_options *o,
	struct diag *d)
{
	switch (s->stage) {
	case SPAWN_CLONE:
		return explain_clone(s, d);
	case SPAWN_SOCKET:
		return diag_set(d, s->error, "proftap server: cannot make a socket: %s",
			errno_words(s->error));
	case SPAWN_BIND:
		return explain_bind(s, o, d);
	case SPAWN_ARENA:
		return explain_arena(s, d);
	case SPAWN_EXEC:
		return explain_exec(s, path, d);
	}
	return s->error;
}
