/* SPDX-License-Identifier: Apache-2.0 */
/* proftap as a child process; see tool.h. */
#include "daemon/host/web/tool.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/kernel/spool_place.h"
#include "rpc/server.h"

#define NAME "proftap"
/* Programs that are being recorded have precedence. */
#define NICENESS 10
#define MAX_ARGS 24
#define MAX_OUTPUT_BYTES (UINT64_C(16) << 30)
/* Sanitizers alone reserve more than the limit. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MAX_MEMORY_BYTES RLIM_INFINITY
#else
#define MAX_MEMORY_BYTES (UINT64_C(8) << 30)
#endif
#define SAID_BYTES 400
/* proftap's exit status for wrong arguments. */
#define EXIT_USAGE 2

struct tool {
	uv_process_t process;
	uv_timer_t patience;
	int out; /* a file without a name */
	int err; /* likewise */
	bool is_late;
	unsigned n_open; /* handles */
	void (*ended)(void *context, struct tool_outcome *outcome); /* NULL: abandoned */
	void *context;
};

/* Finds proftap beside this program, as installed or as built, or else at the configured place. */
static void tool_find_program(char path[static PATH_MAX])
{
	static const char *const places[] = {"../bin/" NAME, NAME, "../client/" NAME};
	char self[PATH_MAX - 32];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	char *slash;

	self[n < 0 ? 0 : n] = '\0';
	slash = strrchr(self, '/');
	for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
		snprintf(path, PATH_MAX, "%.*s/%s", (int)(slash - self), self, places[i]);
		if (access(path, X_OK) == 0)
			return;
	}
	snprintf(path, PATH_MAX, "%s", PTAP_PROFTAP_PATH);
}

/* --- the end ---------------------------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle)
{
	struct tool *t = handle->data;

	if (--t->n_open)
		return;
	close(t->out);
	close(t->err);
	free(t);
}

static void tool_close_handles(struct tool *t)
{
	uv_close((uv_handle_t *)&t->patience, on_closed);
	uv_close((uv_handle_t *)&t->process, on_closed);
}

/* Reads the end of the error output. */
static void tool_read_errors(const struct tool *t, char said[static SAID_BYTES])
{
	struct stat st;
	off_t n_bytes = fstat(t->err, &st) == 0 ? st.st_size : 0;
	ssize_t n = pread(
		t->err, said, SAID_BYTES - 1, n_bytes < SAID_BYTES ? 0 : n_bytes - SAID_BYTES + 1);

	said[n < 0 ? 0 : n] = '\0';
	while (n > 0 && said[n - 1] == '\n')
		said[--n] = '\0';
}

/*
 * Finds the line with the reason: the first one, which begins with the option, for wrong arguments,
 * or else the last one.
 */
static const char *find_reason(char *said, int64_t exit_status)
{
	char *line = strrchr(said, '\n');

	if (exit_status != EXIT_USAGE)
		return line ? line + 1 : said;
	said[strcspn(said, "\n")] = '\0';
	return said + (strncmp(said, "--", 2) == 0 ? 2 : 0);
}

static int tool_explain_failure(
	const struct tool *t, int64_t exit_status, int signal, struct diag *d)
{
	char said[SAID_BYTES];

	if (t->is_late) {
		diag_set(d, -ETIMEDOUT,
			"it took more than %d s; run proftap yourself, without a time limit",
			TOOL_PATIENCE_MS / 1000);
		return RPC_DEADLINE_EXCEEDED;
	}
	tool_read_errors(t, said);
	if (signal)
		diag_set(d, -EIO, "proftap was ended by signal %d: %s", signal, said);
	else
		diag_set(d, -EIO, "%s",
			said[0] ? find_reason(said, exit_status)
				: "proftap failed without a "
				  "message");
	return exit_status == EXIT_USAGE ? RPC_UNIMPLEMENTED : RPC_INTERNAL;
}

/*
 * The status 1 of proftap doctor means that something is missing. A failed proftap has the same
 * status, but writes to its error output.
 */
static bool tool_has_answered(const struct tool *t, int64_t exit_status, int signal)
{
	struct stat out;
	struct stat err;

	if (exit_status > 1 || signal || fstat(t->out, &out) || fstat(t->err, &err))
		return false;
	return exit_status == 0 || (out.st_size > 0 && err.st_size == 0);
}

static void on_exit_of(uv_process_t *process, int64_t exit_status, int signal)
{
	struct tool *t = process->data;
	struct tool_outcome outcome = {.fd = -1};
	struct stat st;

	if (!tool_has_answered(t, exit_status, signal))
		outcome.status = tool_explain_failure(t, exit_status, signal, &outcome.diag);
	if (!outcome.status && fstat(t->out, &st) == 0) {
		outcome.fd = dup(t->out);
		outcome.n_bytes = (uint64_t)st.st_size;
	}
	if (t->ended)
		t->ended(t->context, &outcome);
	else if (outcome.fd >= 0)
		close(outcome.fd);
	tool_close_handles(t);
}

static void on_late(uv_timer_t *timer)
{
	struct tool *t = timer->data;

	t->is_late = true;
	uv_process_kill(&t->process, SIGKILL);
}

void tool_abandon(struct tool *t)
{
	t->ended = NULL;
	uv_process_kill(&t->process, SIGKILL);
}

/* --- the beginning ---------------------------------------------------------------------------- */

static int tool_open_files(struct tool *t, struct diag *d)
{
	const char *place;

	t->out = spool_place_open(NULL, &place);
	t->err = t->out < 0 ? t->out : spool_place_open(NULL, &place);
	if (t->err >= 0)
		return 0;
	if (t->out >= 0)
		close(t->out);
	return diag_set(d, t->err, "no file for the output of proftap, in %.100s: %s", place,
		errno_words(t->err));
}

static void tool_set_limits(const struct tool *t)
{
	const struct rlimit output = {MAX_OUTPUT_BYTES, MAX_OUTPUT_BYTES};
	const struct rlimit memory = {MAX_MEMORY_BYTES, MAX_MEMORY_BYTES};
	pid_t pid = uv_process_get_pid(&t->process);

	setpriority(PRIO_PROCESS, (id_t)pid, NICENESS);
	prlimit(pid, RLIMIT_FSIZE, &output, NULL);
	prlimit(pid, RLIMIT_DATA, &memory, NULL);
}

static int tool_spawn(struct tool *t, uv_loop_t *loop, const char *cwd, const char *const *argv)
{
	char path[PATH_MAX];
	char *args[MAX_ARGS + 2] = {path};
	uv_stdio_container_t files[] = {{.flags = UV_IGNORE},
		{.flags = UV_INHERIT_FD, .data.fd = t->out},
		{.flags = UV_INHERIT_FD, .data.fd = t->err}};
	const uv_process_options_t options = {.exit_cb = on_exit_of,
		.file = path,
		.args = args,
		.cwd = cwd,
		.stdio_count = 3,
		.stdio = files};

	tool_find_program(path);
	for (size_t i = 0; argv[i] && i < MAX_ARGS; i++)
		args[i + 1] = (char *)argv[i];
	return uv_spawn(loop, &t->process, &options);
}

struct tool *tool_start(uv_loop_t *loop, const char *cwd, const char *const *argv,
	void (*ended)(void *context, struct tool_outcome *outcome), void *context, struct diag *d)
{
	struct tool *t = calloc(1, sizeof *t);
	int r = t ? tool_open_files(t, d)
		  : diag_set(d, -ENOMEM, "the host daemon is out of memory");

	if (r) {
		free(t);
		return NULL;
	}
	t->process.data = t->patience.data = t;
	t->n_open = 2;
	uv_timer_init(loop, &t->patience);
	r = tool_spawn(t, loop, cwd, argv);
	if (r) {
		diag_set(d, r, "proftap cannot be started: %s", uv_strerror(r));
		tool_close_handles(t);
		return NULL;
	}
	t->ended = ended;
	t->context = context;
	tool_set_limits(t);
	uv_timer_start(&t->patience, on_late, TOOL_PATIENCE_MS, 0);
	return t;
}
