/* SPDX-License-Identifier: Apache-2.0 */
/* Runs; see runs.h. */
#include "daemon/web/runs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/grow.h"
#include "daemon/host/caller.h"
#include "daemon/session/repository.h"
#include "daemon/web/hub.h"
#include "daemon/web/json_text.h"
#include "daemon/web/run_note.h"
#include "daemon/web/target_json.h"
#include "rpc/server.h"
#include "trace/run_dir.h"

#define MAX_FILE_NAME 255

static const char none_text[] = "captures have no place: set log_dir = PATH for the host daemon";

/* The place. */

static void choose_dir(const char *said, char out[static RUNS_DIR_BYTES])
{
	const char *given = getenv("STATE_DIRECTORY");
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");

	out[0] = '\0';
	if (said[0])
		snprintf(out, RUNS_DIR_BYTES, "%s", said);
	else if (given && given[0] == '/')
		snprintf(out, RUNS_DIR_BYTES, "%.*s", (int)strcspn(given, ":"), given);
	else if (geteuid() == 0)
		snprintf(out, RUNS_DIR_BYTES, "/var/lib/proftap");
	else if (state && state[0] == '/')
		snprintf(out, RUNS_DIR_BYTES, "%.480s/proftap", state);
	else if (home && home[0] == '/')
		snprintf(out, RUNS_DIR_BYTES, "%.480s/.local/state/proftap", home);
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

/* The directory of the runs: a descriptor, or a negative errno. */
static int open_all(const struct runs *r)
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

static uid_t find_owner(int fd)
{
	struct stat st = {.st_uid = 0};
	uid_t uid;

	if (run_note_read_owner(fd, &uid))
		return uid;
	fstat(fd, &st);
	return st.st_uid;
}

static int fail_unknown(const char *name, struct diag *d)
{
	diag_set(d, -ENOENT, "run %.150s: no such run", name);
	return RPC_NOT_FOUND;
}

/* Its directory in |all_fd|, or -1. */
static int open_one(int all_fd, const char *name)
{
	struct diag d = DIAG_INIT;

	return run_dir_check_name(name, &d) ? -1 : repository_open_part(all_fd, name, 0, &d);
}

int runs_open(const struct runs *r, const struct caller *caller, const char *name, int *fd,
	struct diag *d)
{
	_cleanup_close_ int all_fd = open_all(r);

	*fd = all_fd < 0 ? -1 : open_one(all_fd, name);
	if (*fd < 0)
		return fail_unknown(name, d);
	if (caller_may_ask(caller, find_owner(*fd)))
		return 0;
	close(*fd);
	return fail_unknown(name, d);
}

int runs_check_new(const struct runs *r, const char *name, struct diag *d)
{
	_cleanup_close_ int all_fd = open_all(r);
	_cleanup_close_ int fd = -1;

	if (!r->log_dir[0]) {
		diag_set(d, -ENOENT, "%s", none_text);
		return RPC_FAILED_PRECONDITION;
	}
	if (!name[0] || all_fd < 0)
		return 0;
	fd = open_one(all_fd, name);
	if (fd < 0)
		return 0;
	diag_set(d, -EEXIST, "run %.150s: exists; choose another name", name);
	return RPC_ALREADY_EXISTS;
}

/* Files. */

/* A name that may be told: no path, and nothing that is hidden. */
static int is_file_name(const char *name)
{
	return name[0] && name[0] != '.' && strlen(name) <= MAX_FILE_NAME && !strchr(name, '/');
}

/* 1 when it is a regular file. */
static int look_at(int dir_fd, const char *name, struct stat *st)
{
	return is_file_name(name) && fstatat(dir_fd, name, st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st->st_mode);
}

int runs_open_file(const struct runs *r, const struct caller *caller, const char *name,
	const char *file, int *fd, uint64_t *n_bytes, struct diag *d)
{
	_cleanup_close_ int dir_fd = -1;
	struct stat st;
	int status = runs_open(r, caller, name, &dir_fd, d);

	if (status)
		return status;
	*fd = is_file_name(file)
		      ? openat(dir_fd, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
		      : -1;
	if (*fd >= 0 && fstat(*fd, &st) == 0 && S_ISREG(st.st_mode)) {
		*n_bytes = (uint64_t)st.st_size;
		return 0;
	}
	if (*fd >= 0)
		close(*fd);
	diag_set(d, -ENOENT, "run %.150s: %.250s: no such file", name, file);
	return RPC_NOT_FOUND;
}

/* Telling. */

static int64_t time_ns(const struct stat *st)
{
	return st->st_mtim.tv_sec * NS_PER_S + st->st_mtim.tv_nsec;
}

/* The list of files, and what they amount to. */
static void write_files(int dir_fd, struct run_state *state, struct json *j)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	struct stat st;

	json_begin_list(j, "files");
	while (dir && (entry = readdir(dir))) {
		if (!look_at(dir_fd, entry->d_name, &st))
			continue;
		json_begin_object(j, NULL);
		json_text(j, "name", entry->d_name);
		json_int(j, "size_bytes", st.st_size);
		json_end_object(j);
		state->n_bytes += (uint64_t)st.st_size;
		if (time_ns(&st) > state->written_ns)
			state->written_ns = time_ns(&st);
	}
	json_end_list(j);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

static void write_run(struct runs *r, int fd, const char *name, struct json *j)
{
	struct run_state state = {.written_ns = 0};
	struct stat st;

	snprintf(state.name, sizeof state.name, "%s", name);
	json_text(j, "run", name);
	user_json_write(j, find_owner(fd));
	write_files(fd, &state, j);
	if (!state.written_ns && fstat(fd, &st) == 0)
		state.written_ns = time_ns(&st);
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

struct listed {
	char name[128];
	int64_t changed_ns;
};

static int compare_ages(const void *a, const void *b)
{
	const struct listed *left = a, *right = b;

	if (left->changed_ns != right->changed_ns)
		return left->changed_ns < right->changed_ns ? 1 : -1;
	return strcmp(right->name, left->name);
}

/* All directories that can be runs, by age. */
static int list_names(int all_fd, struct listed **out, size_t *n)
{
	int fd = openat(all_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	size_t n_allocated = 0;
	struct diag d = DIAG_INIT;
	struct stat st;
	int r = 0;

	while (dir && !r && (entry = readdir(dir))) {
		if (run_dir_check_name(entry->d_name, &d) ||
			fstatat(all_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
			!S_ISDIR(st.st_mode))
			continue;
		r = grow(out, &n_allocated, *n + 1);
		if (!r) {
			snprintf((*out)[*n].name, sizeof(*out)[*n].name, "%.127s", entry->d_name);
			(*out)[(*n)++].changed_ns = time_ns(&st);
		}
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	if (*n)
		qsort(*out, *n, sizeof **out, compare_ages);
	return r;
}

/* 1 if it is the caller's to see. */
static int write_listed(struct runs *r, const struct caller *caller, int all_fd,
	const struct listed *listed, struct json *j)
{
	_cleanup_close_ int fd = open_one(all_fd, listed->name);

	if (fd < 0 || !caller_may_ask(caller, find_owner(fd)))
		return 0;
	json_begin_object(j, NULL);
	write_run(r, fd, listed->name, j);
	json_end_object(j);
	return 1;
}

int runs_write_all(struct runs *r, const struct caller *caller, struct json *j, struct diag *d)
{
	_cleanup_close_ int all_fd = open_all(r);
	_cleanup_free_ struct listed *listed = NULL;
	size_t n = 0, i = 0, n_written = 0;

	if (all_fd >= 0 && list_names(all_fd, &listed, &n)) {
		diag_set(d, -ENOMEM, "the host daemon is out of memory");
		return RPC_RESOURCE_EXHAUSTED;
	}
	json_text(j, "log_dir", runs_get_log_dir(r));
	json_begin_list(j, "runs");
	for (; i < n && n_written < RUNS_LISTED; i++)
		n_written += (size_t)write_listed(r, caller, all_fd, &listed[i], j);
	json_end_list(j);
	json_uint(j, "n_more", n - i);
	return 0;
}

static char *format(struct runs *r, int fd, const char *name)
{
	struct json_text text;

	if (json_text_begin(&text))
		return NULL;
	write_run(r, fd, name, &text.json);
	return json_text_end(&text, NULL);
}

void runs_tell(struct runs *r, const char *name)
{
	_cleanup_close_ int all_fd = open_all(r);
	_cleanup_close_ int fd = all_fd < 0 ? -1 : open_one(all_fd, name);

	if (fd >= 0)
		hub_post(r->hub, HUB_RUNS, find_owner(fd), "run", format(r, fd, name));
}

/* Deleting. */

static int remove_files(int dir_fd)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int r = dir ? 0 : -errno;

	while (dir && !r && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
			unlinkat(dir_fd, entry->d_name, 0))
			r = -errno;
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	return r;
}

static void tell_gone(struct runs *r, const char *name, uid_t uid)
{
	char *text;

	if (asprintf(&text, "{\"run\":\"%s\"}", name) >= 0)
		hub_post(r->hub, HUB_RUNS, uid, "run_gone", text);
}

int runs_delete(struct runs *r, const struct caller *caller, const char *name, struct diag *d)
{
	_cleanup_close_ int all_fd = open_all(r);
	_cleanup_close_ int fd = -1;
	int status = runs_open(r, caller, name, &fd, d);
	uid_t uid;
	int error;

	if (status)
		return status;
	uid = find_owner(fd);
	error = remove_files(fd);
	if (!error && unlinkat(all_fd, name, AT_REMOVEDIR))
		error = -errno;
	if (error) {
		diag_set(d, error, "run %.150s: cannot be deleted: %s", name, errno_words(error));
		return RPC_UNAVAILABLE;
	}
	tell_gone(r, name, uid);
	return 0;
}
