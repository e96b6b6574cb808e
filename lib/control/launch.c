/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a server: this process's own (docs/internals/spawn.md), or else one that a host daemon
 * lends (docs/internals/host.md).
 */
#define PTAP_IMPL_BUILDING
#include "lib/control/launch.h"

#include <errno.h>
#include <limits.h>
#include <proftap/proftap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/env.h"
#include "base/runtime_dir.h"
#include "base/server_path.h"
#include "lib/control/arena.h"
#include "lib/control/handshake.h"
#include "lib/control/parent.h"
#include "lib/record/loader.h"
#include "lib/spawn/host_request.h"
#include "lib/spawn/spawn.h"

#define VARIABLE env_table[ENV_PROFTAP_RECORDER].name

static int append_recorder_options(
	struct recorder_text *text, const char *options, const char *whose, struct diag *d)
{
	size_t n = strlen(text->lines);
	size_t n_options = options ? strlen(options) : 0;

	if (n + n_options + 2 > sizeof text->lines)
		return diag_set(d, -EINVAL,
			"%s: the recorder's options are longer than %zu bytes in all", whose,
			sizeof text->lines - 1);
	for (size_t i = 0; i < n_options; i++)
		text->lines[n++] = options[i] == ',' ? '\n' : options[i];
	if (n_options)
		text->lines[n++] = '\n';
	text->lines[n] = '\0';
	return 0;
}

/* Reads PROFTAP_RECORDER: "1", "0", or options. */
static int read_recorder_variable(
	struct ptap_server_options *o, struct recorder_text *text, struct diag *d)
{
	const char *value = env_get(ENV_PROFTAP_RECORDER);

	if (!value || strcmp(value, "0") == 0)
		return 0;
	o->recorder = 1;
	if (strcmp(value, "1") == 0)
		return 0;
	if (!strchr(value, '='))
		return diag_set(d, -EINVAL,
			"%s: bad value \"%.64s\": must be 1, 0 or KEY=VALUE,...", VARIABLE, value);
	return append_recorder_options(text, value, VARIABLE, d);
}

int recorder_settings_find(
	struct ptap_server_options *o, struct recorder_text *text, struct diag *d)
{
	int r;

	text->lines[0] = '\0';
	r = append_recorder_options(text, o->recorder_options, ".recorder_options", d);
	if (!r)
		r = read_recorder_variable(o, text, d);
	o->recorder_options = text->lines;
	return r;
}

/* A program that execs itself may start again before its old server has closed the port. */
#define REBIND_TIMEOUT_NS (200 * NS_PER_MS)

/*
 * The address space, or the memory to lock (mlockall), may be smaller than the limits promise.
 * Returns whether half the rings are worth another try.
 */
static bool may_fit_smaller(const struct launch *l)
{
	const struct spawn *s = l->spawn;

	return s->stage == SPAWN_ARENA && (s->error == -ENOMEM || s->error == -EAGAIN) &&
	       l->n_rings > 1;
}

/*
 * Runs |make|, which makes listener and arena of l->spawn, until these fit: with fewer rings, and
 * again when a port in use may have become free. Returns the last result of |make|.
 */
static int launch_until_it_fits(struct launch *l, int (*make)(void *context), void *context)
{
	int64_t give_up = monotonic_ns_by_call() + REBIND_TIMEOUT_NS;
	int r;

	for (;;) {
		l->spawn->arena_bytes = arena_size_bytes(l->n_rings, l->ring_bytes);
		r = make(context);
		if (r && may_fit_smaller(l))
			l->n_rings /= 2;
		else if (r == -EADDRINUSE && monotonic_ns_by_call() < give_up)
			usleep(2000);
		else
			return r;
	}
}

/* --- a server of this process -------------------------------------------------------------- */

/*
 * Execution of proftapd is impossible here, or this process must not become the parent of the
 * server. |d| says why, and d->code is a negative errno.
 */
#define OWN_SERVER_IMPOSSIBLE 1

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

int launch_find_server(char *path, size_t size, struct diag *d)
{
	char own[PATH_MAX];

	return server_path_find(loader_find_own_file(own) ? own : NULL, path, size, d);
}

/* A wrong path in the environment is an error that the user must correct. */
static int find_own_program(char *path, size_t size, struct diag *d)
{
	int r = launch_find_server(path, size, d);

	return r && !env_get(ENV_PROFTAPD) ? OWN_SERVER_IMPOSSIBLE : r;
}

static int make_own_server(void *context)
{
	return spawn_run(context);
}

static int spawn_own_server(struct launch *l, const char *path, struct diag *d)
{
	struct spawn *s = l->spawn;
	char role[] = "--attached";
	char pid[16];
	char *argv[] = {(char *)"proftapd", role, pid, NULL};
	char **envp = spawn_clean_environment();
	int r;

	if (!envp)
		return diag_set(d, -ENOMEM, "proftapd: out of memory");
	snprintf(pid, sizeof pid, "%d", (int)getpid());
	s->path = path;
	s->argv = argv;
	s->envp = envp;
	launch_until_it_fits(l, make_own_server, s);
	free(envp);
	r = s->error ? spawn_explain(s, path, &l->o, d) : 0;
	return r && s->stage == SPAWN_EXEC ? OWN_SERVER_IMPOSSIBLE : r;
}

static int explain_own_end(struct diag *d)
{
	struct diag said = *d;

	diag_set(d, -ECHILD,
		"proftapd: ended before it was ready%s%.300s; is executing it forbidden here (seccomp, "
		"AppArmor)? Start the server before the sandbox",
		said.text[0] ? ": " : "", said.text);
	return OWN_SERVER_IMPOSSIBLE;
}

static int start_own_server(struct launch *l, struct diag *d)
{
	char path[PATH_MAX];
	int r = check_adoption(d);

	if (!r)
		r = find_own_program(path, sizeof path, d);
	if (!r)
		r = spawn_own_server(l, path, d);
	if (r)
		return r;
	r = handshake_make(l, d);
	return r == HANDSHAKE_NO_SERVER ? explain_own_end(d) : r;
}

/* --- a server that a host daemon lends ----------------------------------------------------- */

_Static_assert(
	HOST_REQUEST_MAX_PLACES >= RUNTIME_DIR_PLACES, "every runtime directory has a place");

/*
 * The same places in which servers look for a daemon to register with
 * (daemon/serve/children/announcer.c).
 */
static void find_registries(struct host_request *q)
{
	char dir[RUNTIME_DIR_MAX_BYTES];

	for (unsigned i = 0; i < RUNTIME_DIR_PLACES; i++) {
		struct sockaddr_un *place = &q->places[q->n_places];

		if (runtime_dir_get(i, dir) || runtime_dir_check(dir, geteuid()))
			continue;
		place->sun_family = AF_UNIX;
		if ((size_t)snprintf(place->sun_path, sizeof place->sun_path,
			    "%s/" RUNTIME_DIR_REGISTRY, dir) < sizeof place->sun_path)
			q->n_places++;
	}
}

static int make_lent_server(void *context)
{
	return host_request_run(context);
}

/* The reason for a refusal by a daemon or by its server. */
static const char *describe_refusal(int error, char words[ERRNO_WORDS_BYTES])
{
	switch (error) {
	case -EPERM:
		return "the daemon is another user's, and may not serve programs of this user";
	case -ESRCH:
		return "the daemon does not see this process (another pid namespace, or a /proc "
		       "that hides it)";
	case -EUSERS:
		return "the daemon serves as many programs as it may";
	case -EPROTO:
		return "the daemon does not understand the request; install the same version of "
		       "both";
	case -EXDEV:
		return "this process's real, effective and saved ids differ";
	default:
		return errno_write_words(words, error);
	}
}

/* |d| already says why this process cannot start a server of its own. */
static int explain_lent_failure(const struct host_request *q, struct diag *d)
{
	struct diag own = *d;
	char words[ERRNO_WORDS_BYTES];

	switch (q->result) {
	case HOST_REQUEST_UNTRUSTED:
		return diag_set(d, own.code,
			"%.350s; the host daemon that is seen here is another user's", own.text);
	case HOST_REQUEST_NO_ANSWER:
		return diag_set(d, own.code, "%.350s; the host daemon cannot be asked: %s",
			own.text,
			q->error == -ECHILD ? "that is forbidden here, too (seccomp?)"
					    : errno_write_words(words, q->error));
	case HOST_REQUEST_REFUSED:
		return diag_set(d, own.code, "%.350s; the host daemon refused to serve it: %s",
			own.text, describe_refusal(q->error, words));
	case HOST_REQUEST_SERVED:
	case HOST_REQUEST_NO_ARENA:
	case HOST_REQUEST_NO_DAEMON:
		break;
	}
	return diag_set(d, own.code, "%.450s, or start proftapd --host", own.text);
}

static int explain_lent_end(struct diag *d)
{
	struct diag said = *d;

	return diag_set(d, -ECHILD,
		"the host daemon's server ended before it was ready%s%.300s; its journal may have more",
		said.text[0] ? ": " : "", said.text);
}

static int start_lent_server(struct launch *l, struct diag *d)
{
	struct host_request q = {.spawn = l->spawn, .result = HOST_REQUEST_NO_DAEMON};
	int r;

	find_registries(&q);
	r = q.n_places ? launch_until_it_fits(l, make_lent_server, &q) : -ENOENT;
	if (r && q.result == HOST_REQUEST_NO_ARENA)
		return spawn_explain(l->spawn, NULL, &l->o, d);
	if (r)
		return explain_lent_failure(&q, d);
	r = handshake_make(l, d);
	return r == HANDSHAKE_NO_SERVER ? explain_lent_end(d) : r;
}

/* --- servers of both kinds ----------------------------------------------------------------- */

/*
 * After unshare(CLONE_NEWPID) the first clone would be PID 1 of the new namespace, and the end of
 * the clone would end the namespace.
 */
static int check_pid_space(struct diag *d)
{
	if (pid_space_is_shared_with_children())
		return 0;
	return diag_set(d, -EOPNOTSUPP,
		"proftap server: this process called unshare(CLONE_NEWPID), and its next child "
		"becomes PID 1 there; start the server before that, or in the child");
}

static int settle_options(
	struct launch *l, const struct ptap_server_options *o, bool is_private, struct diag *d)
{
	int r = check_pid_space(d);

	l->o = *o;
	listen_address_strip(&l->o, l->address);
	l->ring_bytes = arena_round_ring_bytes(o->ring_bytes);
	l->n_rings = arena_count_rings(l->ring_bytes);
	if (r || is_private)
		return r;
	r = recorder_settings_find(&l->o, &l->recorder, d);
	return r ? r : listen_address_parse(&l->o, l->spawn, d);
}

static int start_server(struct launch *l, struct diag *d)
{
	int r = start_own_server(l, d);

	return r == OWN_SERVER_IMPOSSIBLE ? start_lent_server(l, d) : r;
}

int launch_server(const struct ptap_server_options *o, bool is_private, struct diag *d)
{
	/* This must be asked before the library has a thread. */
	bool may_announce = parent_may_be_announced();
	struct launch l = {.spawn = spawn_new()};
	int r;

	if (!l.spawn)
		return diag_set(d, -ENOMEM, "proftap: out of memory");
	r = settle_options(&l, o, is_private, d);
	if (!r)
		r = start_server(&l, d);
	if (!r && may_announce)
		parent_announce(l.spawn->arena);
	spawn_free(l.spawn);
	return r;
}
