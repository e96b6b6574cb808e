/* SPDX-License-Identifier: Apache-2.0 */
/* Runs; see runs.h. */
#include "daemon/host/web/runs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "daemon/host/programs/caller.h"
#include "daemon/host/web/hub.h"
#include "daemon/host/web/run_files.h"
#include "daemon/host/web/run_note.h"
#include "daemon/serve/session/repository.h"
#include "rpc/server.h"
#include "trace/run_dir.h"

static const char none_text[] = "captures have no place: set log_dir = PATH for the host daemon";

/* The place. */

static void choose_dir(const char *said, char out[static RUNS_DIR_BYTES])
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
	/* A part of a path would be another place. */
	if (n <= 0 || n >= (int)RUNS_DIR_BYTES)
		out[0] = '\0';
}

void runs_init(struct runs *r, const char *log_dir, struct hub *hub)
{
	choose_dir(log_dir, r->log_dir);
	r->hub = hub;
	run_facts_init(&r->facts);
}

void runs_deinit(struct runs *r)
{
	run_facts_deinit(&r->facts);
}

const char *runs_get_log_dir(const struct runs *r)
{
	return r->log_dir[0] ? r->log_dir : NULL;
}

int runs_open_all(const struct runs *r)
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

/* One run. */

uid_t runs_find_owner(int fd)
{
	struct stat st = {.st_uid = 0};
	uid_t uid;

	if (run_note_read_owner(fd, &uid))
		return uid;
	fstat(fd, &st);
	return st.st_uid;
}

int runs_fail_all(const struct runs *r, int error, struct diag *d)
{
	diag_set(d, error,
		"%.200s/plugins/profile: the runs cannot be read: %s; it must be a directory that the "
		"daemon's user may read",
		r->log_dir, errno_words(error));
	return RPC_INTERNAL;
}

static int fail_unknown(const char *name, struct diag *d)
{
	diag_set(d, -ENOENT, "run %.150s: no such run", name);
	return RPC_NOT_FOUND;
}

int runs_open_one(int all_fd, const char *name)
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
		return fail_unknown(name, d);
	if (caller_may_ask(caller, runs_find_owner(*fd)))
		return 0;
	close(*fd);
	return fail_unknown(name, d);
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

/* Deleting. */

static void tell_gone(struct runs *r, const char *name, uid_t uid)
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
	tell_gone(r, name, uid);
	return 0;
}
