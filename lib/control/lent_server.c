/* SPDX-License-Identifier: Apache-2.0 */
/* A host daemon's server; see lent_server.h and docs/internals/host.md. */
#define PTAP_IMPL_BUILDING
#include "lib/control/lent_server.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/runtime_dir.h"
#include "lib/control/handshake.h"
#include "lib/control/launch.h"
#include "lib/spawn/appeal.h"
#include "lib/spawn/failure.h"
#include "lib/spawn/spawn.h"

_Static_assert(APPEAL_MAX_PLACES >= RUNTIME_DIR_PLACES, "every runtime directory has a place");

/* Where servers look for a daemon to tell it of their programs (daemon/serve/children/announcer.c). */
static void find_places(struct appeal *a)
{
	char dir[RUNTIME_DIR_MAX_BYTES];

	for (unsigned i = 0; i < RUNTIME_DIR_PLACES; i++) {
		struct sockaddr_un *place = &a->places[a->n_places];

		if (runtime_dir_get(i, dir) || runtime_dir_check(dir, geteuid()))
			continue;
		place->sun_family = AF_UNIX;
		if ((size_t)snprintf(place->sun_path, sizeof place->sun_path,
			    "%s/" RUNTIME_DIR_REGISTRY, dir) < sizeof place->sun_path)
			a->n_places++;
	}
}

static int make(void *context)
{
	return appeal_run(context);
}

/* What a daemon, or its server, answers. */
static const char *find_words(int error, char words[ERRNO_WORDS_BYTES])
{
	switch (error) {
	case -EPERM:
		return "it is another user's, and may not serve this one's programs";
	case -ESRCH:
		return "it does not see this process (another pid namespace, or a /proc that hides it)";
	case -EUSERS:
		return "it serves as many programs as it may";
	case -EPROTO:
		return "it does not understand the request; install the same version of both";
	case -EXDEV:
		return "this process is between two users or groups";
	default:
		return errno_write_words(words, error);
	}
}

/* |d| says why there is none of its own. */
static int explain(const struct appeal *a, struct diag *d)
{
	struct diag own = *d;
	char words[ERRNO_WORDS_BYTES];

	switch (a->end) {
	case APPEAL_STRANGER:
		return diag_set(d, own.code,
			"%.350s; the host daemon that is seen here is another user's", own.text);
	case APPEAL_UNHEARD:
		return diag_set(d, own.code, "%.350s; the host daemon cannot be asked: %s",
			own.text,
			a->error == -ECHILD ? "that is forbidden here, too (seccomp?)"
					    : errno_write_words(words, a->error));
	case APPEAL_REFUSED:
		return diag_set(d, own.code, "%.350s; the host daemon refused to serve it: %s",
			own.text, find_words(a->error, words));
	case APPEAL_MADE:
	case APPEAL_NOT_MADE:
	case APPEAL_NOBODY:
		break;
	}
	return diag_set(d, own.code, "%.450s, or start proftapd --host", own.text);
}

static int explain_end(struct diag *d)
{
	struct diag said = *d;

	return diag_set(d, -ECHILD,
		"the host daemon's server ended before it was ready%s%.300s; its journal may have more",
		said.text[0] ? ": " : "", said.text);
}

int lent_server_start(struct launch *l, struct diag *d)
{
	struct appeal a = {.spawn = l->spawn, .end = APPEAL_NOBODY};
	int r;

	find_places(&a);
	r = a.n_places ? launch_until_it_fits(l, make, &a) : -ENOENT;
	if (r && a.end == APPEAL_NOT_MADE)
		return spawn_explain(l->spawn, NULL, &l->o, d);
	if (r)
		return explain(&a, d);
	r = handshake_make(l, d);
	return r == HANDSHAKE_NO_SERVER ? explain_end(d) : r;
}
