/* SPDX-License-Identifier: Apache-2.0 */
/* Starting programs; see launch.h. */
#include "client/program/launch.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/env.h"
#include "base/runtime_dir.h"
#include "client/process/exit.h"
#include "client/process/interrupt.h"
#include "client/process/terminal.h"
#include "client/program/program.h"

/* --- the environment of the program ----------------------------------------------------------- */

/* The name contains the word size. program.c refuses a program of another word size. */
#if __SIZEOF_POINTER__ == 8
#define PATH_OF(tool) tool "_INJECTION64_PATH"
#else
#define PATH_OF(tool) tool "_INJECTION32_PATH"
#endif

struct injection {
	const char *name;
	bool is_nvtx;
	const char *consequence; /* the text that is printed when the user's value is kept */
};

static const struct injection injections[] = {
	{PATH_OF("NVTX"), true,
		"that library gets the program's NVTX annotations, and proftap does not record them; "
		"unset the variable to record them"},
	{PATH_OF("CUDA"), false,
		"libproftap is preloaded all the same; a program that is started without LD_PRELOAD in "
		"its environment gets no server"},
};

const char *const injection_nvtx_modes[INJECTION_NVTX_MODES] = {"off", "on", "xla"};

int injection_check_nvtx(const char *name, const char *value, struct diag *d)
{
	for (size_t i = 0; i < INJECTION_NVTX_MODES; i++)
		if (strcmp(value, injection_nvtx_modes[i]) == 0)
			return 0;
	return diag_set(d, -EINVAL, "%s: must be off, on or xla, not \"%.40s\"", name, value);
}

int injection_get_nvtx(const char **mode, struct diag *d)
{
	const char *asked = env_get(ENV_PROFTAP_NVTX);

	*mode = asked ? asked : "on";
	return injection_check_nvtx("PROFTAP_NVTX", *mode, d);
}

static bool is_wanted(const struct injection *i, const char *nvtx)
{
	return !i->is_nvtx || strcmp(nvtx, "off") != 0;
}

void injection_say_kept(const char *library, const char *nvtx)
{
	for (size_t i = 0; i < sizeof injections / sizeof injections[0]; i++) {
		const char *value = getenv(injections[i].name);

		if (value && is_wanted(&injections[i], nvtx) && strcmp(value, library) != 0)
			fprintf(stderr, "%s=%s: left as it is: %s\n", injections[i].name, value,
				injections[i].consequence);
	}
}

/* Sets the injection variables that are not set yet. 0 or a negative errno. */
static int injection_set(const char *library, const char *nvtx)
{
	for (size_t i = 0; i < sizeof injections / sizeof injections[0]; i++)
		if (is_wanted(&injections[i], nvtx) && setenv(injections[i].name, library, 0))
			return -errno;
	return 0;
}

/* --- the program ------------------------------------------------------------------------------ */

/* Appends our library to the user's LD_PRELOAD. The address sanitizer's runtime must be first. */
static int set_preload(const struct program_launch *l)
{
	const char *first = l->program->first_library;
	const char *old = getenv("LD_PRELOAD");
	_cleanup_free_ char *value = NULL;

	if (asprintf(&value, "%s%s%s%s%s", first, *first ? ":" : "", old ? old : "",
		    old && *old ? ":" : "", l->library) < 0) {
		value = NULL;
		return -ENOMEM;
	}
	return setenv("LD_PRELOAD", value, 1) ? -errno : 0;
}

static int set_variable(enum env_variable v, const char *value)
{
	if (!value)
		return unsetenv(env_table[v].name) ? -errno : 0;
	return setenv(env_table[v].name, value, 1) ? -errno : 0;
}

/*
 * Sets PROFTAP_PARENT to the path at which the server's private socket will be, for children that
 * start before libproftap sets it, or in programs whose threads forbid libproftap to set it. A
 * wrong path does no harm. A program started in the tree of another program keeps that program's
 * variable.
 */
static int set_parent(void)
{
	char dir[RUNTIME_DIR_MAX_BYTES];
	char value[RUNTIME_DIR_MAX_BYTES + 32];

	for (unsigned i = 0; i < RUNTIME_DIR_PLACES && !env_get(ENV_PROFTAP_PARENT); i++) {
		if (runtime_dir_get(i, dir) || runtime_dir_make(dir))
			continue;
		snprintf(value, sizeof value, "unix:%s/%d.sock", dir, (int)getpid());
		return set_variable(ENV_PROFTAP_PARENT, value);
	}
	return 0;
}

static int set_environment(const struct program_launch *l)
{
	char until[32];
	char pid[16];
	int r = set_preload(l);

	snprintf(pid, sizeof pid, "%d", (int)getpid());
	snprintf(until, sizeof until, "%" PRId64, l->wait_until_ms);
	if (!r)
		r = set_variable(ENV_PROFTAP_SERVER, l->server);
	if (!r)
		r = set_variable(ENV_PROFTAP_SERVER_PID, pid);
	if (!r)
		r = set_parent();
	if (!r)
		r = set_variable(ENV_PROFTAP_FOLLOW, l->is_tree_recorded ? ENV_FOLLOW_RECORDED
						     : l->follow	 ? "1"
									 : NULL);
	/* The user's value may contain options, and is kept. */
	if (!r && l->recorder && !env_is_on(ENV_PROFTAP_RECORDER))
		r = set_variable(ENV_PROFTAP_RECORDER, "1");
	if (!r)
		r = set_variable(ENV_PROFTAP_NVTX, l->nvtx);
	if (!r)
		r = injection_set(l->library, l->nvtx);
	if (!r)
		r = set_variable(ENV_PROFTAP_WAIT, l->wait_until_ms ? until : NULL);
	return r;
}

int launch_here(const struct program_launch *l, struct diag *d)
{
	const char *path = l->program->path;
	int r = set_environment(l);

	if (!r) {
		streams_give_back();
		execv(path, l->argv);
		r = -errno;
	}
	diag_set(d, r, "%.300s: cannot be executed: %s", path, errno_words(r));
	return r == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

static void become_program(const struct program_launch *l)
{
	struct diag d = DIAG_INIT;
	int code = launch_here(l, &d);

	fprintf(stderr, "%s\n", d.text);
	_exit(code);
}

pid_t launch_child(const struct program_launch *l)
{
	const struct sigaction dfl = {.sa_handler = SIG_DFL};
	struct sigaction on_child;
	sigset_t before;
	pid_t pid;

	/* If SIGCHLD were ignored, the kernel would reap the child. */
	sigaction(SIGCHLD, &dfl, &on_child);
	interrupt_hold(&before);
	pid = fork();
	if (pid)
		return pid < 0 ? -errno : pid;
	sigaction(SIGCHLD, &on_child, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	become_program(l);
	return 0;
}

int launch_wait(pid_t pid)
{
	int status = 0;
	pid_t r;

	/* If this is the first process of a container, waitpid() also reaps orphans. */
	do
		r = waitpid(-1, &status, 0);
	while (r != pid && (r > 0 || errno == EINTR));
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool launch_has_ended(pid_t pid)
{
	siginfo_t info = {.si_pid = 0};

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == pid;
}
