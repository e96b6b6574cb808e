/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of the log directory; see runs.h. */
#include "daemon/host/web/runs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/grow.h"
#include "daemon/host/programs/caller.h"
#include "daemon/host/web/hub.h"
#include "daemon/host/web/json_text.h"
#include "daemon/host/web/run_files.h"
#include "daemon/host/web/target_json.h"
#include "daemon/serve/session/repository.h"
#include "rpc/server.h"
#include "trace/run_dir.h"

static const char none_text[] = "captures have no place: set log_dir = PATH for the host daemon";

/* --- the log directory ------------------------------------------------------------------------ */

static void choose_log_dir(const char *said, char out[static RUNS_DIR_BYTES])
{
	const char *given = getenv("STATE_DIRECTORY");
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	int n = 0;

	if (said[0])
		n = snprintf(out, RUNS_DIR_BYTES, "%s", said);
	else if (given && given[0] == '/')
		n = snprintf(out, RUNS_DIR_BYTES, "%.*s", (int)strcspn(given, ":"), given);
	else if (geteuid() == 0)
		n = snprintf(out, RUNS_DIR_BYTES, "/var/lib/proftap");
	else if (state && state[0] == '/')
		n = snprintf(out, RUNS_DIR_BYTES, "%s/proftap", state);
	else if (home && home[0] == '/')
		n = snprintf(out, RUNS_DIR_BYTES, "%s/.local/state/proftap", home);
	/* A shortened path would be another directory. */
	if (n <= 0 || n >= (int)RUNS_DIR_BYTES)
		out[0] = '\0';
}

void runs_init(struct runs *r, const char *log_dir, struct hub *hub)
{
	choose_log_dir(log_dir, r->log_dir);
	r->hub = hub;
	run_facts_init(&r->facts);
}

const char *runs_get_log_dir(const struct runs *r)
{
	return r->log_dir[0] ? r->log_dir : NULL;
}

/* Opens the directory of all runs. The caller owns the descriptor. -ENOENT: there are none yet. */
static int runs_open_all(const struct runs *r)
{
	_cleanup_free_ char *path = NULL;
	int fd;

	if (!r->log_dir[0])
		return -ENOENT;
	if (asprintf(&path, "%s/plugins/profile", r->log_dir) < 0)
		return -ENOMEM;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* --- one run ---------------------------------------------------------------------------------- */

static uid_t runs_find_owner(int fd)
{
	struct stat st = {.st_uid = 0};
	uid_t uid;

	if (run_note_read_owner(fd, &uid))
		return uid;
	fstat(fd, &st);
	return st.st_uid;
}

/* Sets |d| to |error|, with which runs_open_all() failed. Returns RPC_INTERNAL. */
static int runs_fail_all(const struct runs *r, int error, struct diag *d)
{
	diag_set(d, error,
		"%.200s/plugins/profile: the runs cannot be read: %s; it must be a directory that the "
		"daemon's user may read",
		r->log_dir, errno_words(error));
	return RPC_INTERNAL;
}

static int fail_unknown_run(const char *name, struct diag *d)
{
	diag_set(d, -ENOENT, "run %.150s: no such run", name);
	return RPC_NOT_FOUND;
}

/* Opens the directory of one run. -1: there is no such run. */
static int runs_open_one(int all_fd, const char *name)
{
	struct diag d = DIAG_INIT;

	return run_dir_check_name(name, &d) ? -1 : repository_open_part(all_fd, name, 0, &d);
}

int runs_open(const struct runs *r, const struct caller *caller, const char *name, int *fd,
	struct diag *d)
{
	_cleanup_close_ int all_fd = runs_open_all(r);

	if (all_fd < 0 && all_fd != -ENOENT)
		return runs_fail_all(r, all_fd, d);
	*fd = all_fd < 0 ? -1 : runs_open_one(all_fd, name);
	if (*fd < 0)
		return fail_unknown_run(name, d);
	if (caller_may_ask(caller, runs_find_owner(*fd)))
		return 0;
	close(*fd);
	return fail_unknown_run(name, d);
}

int runs_check_new(const struct runs *r, const char *name, struct diag *d)
{
	_cleanup_close_ int all_fd = runs_open_all(r);
	_cleanup_close_ int fd = -1;

	if (!r->log_dir[0]) {
		diag_set(d, -ENOENT, "%s", none_text);
		return RPC_FAILED_PRECONDITION;
	}
	if (!name[0] || all_fd < 0)
		return 0;
	fd = runs_open_one(all_fd, name);
	if (fd < 0)
		return 0;
	diag_set(d, -EEXIST, "run %.150s: exists; choose another name", name);
	return RPC_ALREADY_EXISTS;
}

int runs_open_file(const struct runs *r, const struct caller *caller, const char *name,
	const char *file, int *fd, uint64_t *n_bytes, struct diag *d)
{
	_cleanup_close_ int dir_fd = -1;
	int status = runs_open(r, caller, name, &dir_fd, d);

	if (status)
		return status;
	*fd = run_files_open(dir_fd, file, n_bytes);
	if (*fd >= 0)
		return 0;
	diag_set(d, -ENOENT, "run %.150s: %.250s: no such file", name, file);
	return RPC_NOT_FOUND;
}

/* --- runs as JSON ----------------------------------------------------------------------------- */

static void write_run(struct runs *r, int fd, const char *name, struct json *j)
{
	struct run_state state = {.written_ns = 0};
	struct stat st;

	snprintf(state.name, sizeof state.name, "%s", name);
	json_text(j, "run", name);
	user_json_write(j, runs_find_owner(fd));
	run_files_write(fd, &state, j);
	if (!state.written_ns && fstat(fd, &st) == 0)
		state.written_ns = run_files_get_time_ns(&st);
	json_int(j, "written_unix_ms", state.written_ns / NS_PER_MS);
	json_uint(j, "size_bytes", state.n_bytes);
	run_note_write_targets(fd, j);
	run_facts_write(&r->facts, &state, j);
	if (r->want && state.n_bytes && !run_facts_has(&r->facts, &state))
		r->want(r->context, &state);
}

int runs_write(struct runs *r, const struct caller *caller, const char *name, struct json *j,
	struct diag *d)
{
	_cleanup_close_ int fd = -1;
	int status = runs_open(r, caller, name, &fd, d);

	if (!status)
		write_run(r, fd, name, j);
	return status;
}

struct listed_run {
	char name[128];
	int64_t changed_ns;
};

static int compare_run_ages(const void *a, const void *b)
{
	const struct listed_run *left = a, *right = b;

	if (left->changed_ns != right->changed_ns)
		return left->changed_ns < right->changed_ns ? 1 : -1;
	return strcmp(right->name, left->name);
}

/* Lists all directories that can be runs, the youngest first. */
static int list_run_names(int all_fd, struct listed_run **out, size_t *n)
{
	_cleanup_closedir_ DIR *dir = run_files_walk(all_fd);
	const struct dirent *entry;
	size_t n_allocated = 0;
	struct diag d = DIAG_INIT;
	struct stat st;
	int r = dir ? 0 : -errno;

	while (!r && (entry = readdir(dir))) {
		if (run_dir_check_name(entry->d_name, &d) ||
			fstatat(all_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
			!S_ISDIR(st.st_mode))
			continue;
		r = grow(out, &n_allocated, *n + 1);
		if (!r) {
			snprintf((*out)[*n].name, sizeof(*out)[*n].name, "%.127s", entry->d_name);
			(*out)[(*n)++].changed_ns = run_files_get_time_ns(&st);
		}
	}
	if (*n)
		qsort(*out, *n, sizeof **out, compare_run_ages);
	return r;
}

/* Returns true if the caller may see the run. */
static bool write_listed_run(struct runs *r, const struct caller *caller, int all_fd,
	const struct listed_run *listed, struct json *j)
{
	_cleanup_close_ int fd = runs_open_one(all_fd, listed->name);

	if (fd < 0 || !caller_may_ask(caller, runs_find_owner(fd)))
		return false;
	json_begin_object(j, NULL);
	write_run(r, fd, listed->name, j);
	json_end_object(j);
	return true;
}

int runs_write_all(struct runs *r, const struct caller *caller, struct json *j, struct diag *d)
{
	_cleanup_close_ int all_fd = runs_open_all(r);
	_cleanup_free_ struct listed_run *listed = NULL;
	size_t n = 0, i = 0, n_written = 0;
	int error = all_fd < 0 ? all_fd : list_run_names(all_fd, &listed, &n);

	if (error == -ENOMEM) {
		diag_set(d, -ENOMEM, "the host daemon is out of memory");
		return RPC_RESOURCE_EXHAUSTED;
	}
	if (error && error != -ENOENT)
		return runs_fail_all(r, error, d);
	json_text(j, "log_dir", runs_get_log_dir(r));
	json_begin_list(j, "runs");
	for (; i < n && n_written < RUNS_LISTED; i++)
		n_written += (size_t)write_listed_run(r, caller, all_fd, &listed[i], j);
	json_end_list(j);
	json_uint(j, "n_more", n - i);
	return 0;
}

static char *format_run(struct runs *r, int fd, const char *name)
{
	struct json_text text;

	if (json_text_begin(&text))
		return NULL;
	write_run(r, fd, name, &text.json);
	return json_text_end(&text, NULL);
}

void runs_tell(struct runs *r, const char *name)
{
	_cleanup_close_ int all_fd = runs_open_all(r);
	_cleanup_close_ int fd = all_fd < 0 ? -1 : runs_open_one(all_fd, name);

	if (fd >= 0)
		hub_post(r->hub, HUB_RUNS, runs_find_owner(fd), "run", format_run(r, fd, name));
}

/* --- deletion --------------------------------------------------------------------------------- */

static void runs_tell_gone(struct runs *r, const char *name, uid_t uid)
{
	char *text;

	if (asprintf(&text, "{\"run\":\"%s\"}", name) >= 0)
		hub_post(r->hub, HUB_RUNS, uid, "run_gone", text);
}

int runs_delete(struct runs *r, const struct caller *caller, const char *name, uint64_t *n_bytes,
	struct diag *d)
{
	_cleanup_close_ int all_fd = runs_open_all(r);
	_cleanup_close_ int fd = -1;
	int status = runs_open(r, caller, name, &fd, d);
	uid_t uid;
	int error;

	if (status)
		return status;
	uid = runs_find_owner(fd);
	error = run_files_remove(fd, n_bytes);
	if (!error && unlinkat(all_fd, name, AT_REMOVEDIR))
		error = -errno;
	if (error) {
		diag_set(d, error, "run %.150s: cannot be deleted: %s", name, errno_words(error));
		return RPC_UNAVAILABLE;
	}
	runs_tell_gone(r, name, uid);
	return 0;
}
