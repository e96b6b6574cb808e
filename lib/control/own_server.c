/* SPDX-License-Identifier: Apache-2.0 */
/* Starting proftapd; see own_server.h and docs/internals/spawn.md. */
#define PTAP_IMPL_BUILDING
#include "lib/control/own_server.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/env.h"
#include "lib/control/handshake.h"
#include "lib/control/launch.h"
#include "lib/spawn/failure.h"
#include "lib/spawn/find.h"
#include "lib/spawn/spawn.h"

static int check_adoption(struct diag *d)
{
	int subreaper = 0;

	prctl(PR_GET_CHILD_SUBREAPER, &subreaper, 0, 0, 0);
	if (getpid() != 1 && !subreaper)
		return 0;
	diag_set(d, -EOPNOTSUPP,
		"proftap server: this process is %s and would inherit the server as a child; "
		"start the program under an init (docker run --init, tini)",
		getpid() == 1 ? "PID 1 of its namespace" : "a child subreaper");
	return OWN_SERVER_IMPOSSIBLE;
}

/* A wrong path that somebody gave is to be corrected. */
static int find(char *path, size_t size, struct diag *d)
{
	int r = find_proftapd(path, size, d);

	return r && !env_get(ENV_PROFTAPD) ? OWN_SERVER_IMPOSSIBLE : r;
}

static int make(void *context)
{
	return spawn_run(context);
}

static int spawn(struct launch *l, const char *path, struct diag *d)
{
	struct spawn *s = l->spawn;
	char role[] = "--attached";
	char pid[16];
	char *argv[] = {(char *)"proftapd", role, pid, NULL};
	char **envp = clean_environment();
	int r;

	if (!envp)
		return diag_set(d, -ENOMEM, "proftapd: out of memory");
	snprintf(pid, sizeof pid, "%d", (int)getpid());
	s->path = path;
	s->argv = argv;
	s->envp = envp;
	launch_until_it_fits(l, make, s);
	free(envp);
	r = s->error ? spawn_explain(s, path, &l->o, d) : 0;
	return r && s->stage == SPAWN_EXEC ? OWN_SERVER_IMPOSSIBLE : r;
}

static int explain_end(struct diag *d)
{
	struct diag said = *d;

	diag_set(d, -ECHILD,
		"proftapd: ended before it was ready%s%.300s; is executing it forbidden here (seccomp, "
		"AppArmor)? Start the server before the sandbox",
		said.text[0] ? ": " : "", said.text);
	return OWN_SERVER_IMPOSSIBLE;
}

int own_server_start(struct launch *l, struct diag *d)
{
	char path[PATH_MAX];
	int r = check_adoption(d);

	if (!r)
		r = find(path, sizeof path, d);
	if (!r)
		r = spawn(l, path, d);
	if (r)
		return r;
	r = handshake_make(l, d);
	return r == HANDSHAKE_NO_SERVER ? explain_end(d) : r;
}
