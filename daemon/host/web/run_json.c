/* SPDX-License-Identifier: Apache-2.0 */
/* Runs as JSON; see run_json.h. */
#include "daemon/host/web/run_json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/grow.h"
#include "daemon/host/programs/caller.h"
#include "daemon/host/web/hub.h"
#include "daemon/host/web/json_text.h"
#include "daemon/host/web/run_files.h"
#include "daemon/host/web/run_note.h"
#include "daemon/host/web/runs.h"
#include "daemon/host/web/target_json.h"
#include "rpc/server.h"
#include "trace/run_dir.h"

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

int run_json_write(struct runs *r, const struct caller *caller, const char *name, struct json *j,
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
		qsort(*out, *n, sizeof **out, compare_ages);
	return r;
}

/* 1 if it is the caller's to see. */
static int write_listed(struct runs *r, const struct caller *caller, int all_fd,
	const struct listed *listed, struct json *j)
{
	_cleanup_close_ int fd = runs_open_one(all_fd, listed->name);

	if (fd < 0 || !caller_may_ask(caller, runs_find_owner(fd)))
		return 0;
	json_begin_object(j, NULL);
	write_run(r, fd, listed->name, j);
	json_end_object(j);
	return 1;
}

int run_json_write_all(struct runs *r, const struct caller *caller, struct json *j, struct diag *d)
{
	_cleanup_close_ int all_fd = runs_open_all(r);
	_cleanup_free_ struct listed *listed = NULL;
	size_t n = 0, i = 0, n_written = 0;
	int error = all_fd < 0 ? all_fd : list_names(all_fd, &listed, &n);

	if (error == -ENOMEM) {
		diag_set(d, -ENOMEM, "the host daemon is out of memory");
		return RPC_RESOURCE_EXHAUSTED;
	}
	if (error && error != -ENOENT)
		return runs_fail_all(r, error, d);
	json_text(j, "log_dir", runs_get_log_dir(r));
	json_begin_list(j, "runs");
	for (; i < n && n_written < RUN_JSON_LISTED; i++)
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

void run_json_tell(struct runs *r, const char *name)
{
	_cleanup_close_ int all_fd = runs_open_all(r);
	_cleanup_close_ int fd = all_fd < 0 ? -1 : runs_open_one(all_fd, name);

	if (fd >= 0)
		hub_post(r->hub, HUB_RUNS, runs_find_owner(fd), "run", format(r, fd, name));
}
