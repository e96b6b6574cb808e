/* SPDX-License-Identifier: Apache-2.0 */
/* Locating targets; see locate.h. */
#include "client/target/locate.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "client/target/address.h"
#include "client/target/targets.h"

static void set_path(struct address *a, const struct found_target *t)
{
	snprintf(a->path, sizeof a->path, "%s", t->socket);
	a->port = 0;
	address_format(a);
}

/* 0: a name. */
static pid_t read_pid(const char *lookup)
{
	char *end;
	long pid = strtol(lookup, &end, 10);

	return *end ? 0 : (pid_t)pid;
}

static void explain_pid(const struct targets *targets, pid_t pid, struct diag *d)
{
	char silent[256];

	targets_describe_silent(targets, silent, sizeof silent);
	if (*silent)
		diag_set(d, -ENOENT, "%s", silent);
	else if (kill(pid, 0) && errno == ESRCH)
		diag_set(d, -ENOENT,
			"pid %d: no such process; what a flight recorder had of one that ended is kept for "
			"five minutes",
			(int)pid);
	else
		diag_set(d, -ENOENT,
			"pid %d: that process has no server, or is another user's; proftap list "
			"shows those there are",
			(int)pid);
}

static const struct found_target *find(
	const struct targets *targets, const char *lookup, struct diag *d)
{
	const struct found_target *t;
	pid_t pid = read_pid(lookup);

	if (!pid)
		return targets_find_name(targets, lookup, d);
	t = targets_find_pid(targets, pid);
	if (!t)
		explain_pid(targets, pid, d);
	return t;
}

int locate(struct address *a, struct diag *d)
{
	struct targets targets;
	const struct found_target *t;
	int r;

	if (!a->lookup[0] || a->path[0])
		return 0;
	r = targets_load_pid(&targets, read_pid(a->lookup));
	if (r)
		return diag_set(d, r, "%s: out of memory", a->text);
	t = find(&targets, a->lookup, d);
	r = t ? 0 : d->code;
	if (t)
		set_path(a, t);
	targets_deinit(&targets);
	return r;
}

bool locate_port_as_pid(struct address *a)
{
	const struct found_target *t;
	struct targets targets;

	if (!a->is_bare || targets_load_pid(&targets, a->port))
		return false;
	t = targets_find_pid(&targets, a->port);
	if (t)
		set_path(a, t);
	targets_deinit(&targets);
	return t != NULL;
}
