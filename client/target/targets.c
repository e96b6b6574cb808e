/* SPDX-License-Identifier: Apache-2.0 */
/* Finding targets; see targets.h. */
#include "client/target/targets.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/runtime_dir.h"

/* A server answers within a millisecond, unless it is stopped. For all of them. */
#define ANSWER_MS 1000
#define QUICK_ANSWER_MS 50
/* Of those that do not answer. */
#define MAX_SILENT_SAID 8

static int add(struct targets *t, const struct found_target *found)
{
	/* The same directory may be reached by two ways. */
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->v[i].socket, found->socket) == 0)
			return 0;
	if (grow(&t->v, &t->n_allocated, t->n + 1))
		return -ENOMEM;
	t->v[t->n++] = *found;
	return 0;
}

static void remove_if_ours(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_uid == geteuid())
		unlink(path);
}

/* The socket |name|.sock, beside the one that was asked; its length is checked with the directory's. */
static void set_socket(struct found_target *found, const char *path)
{
	int n = (int)(strlen(path) - strlen("status"));

	snprintf(found->socket, sizeof found->socket, "%.*ssock", n, path);
}

/* The file's name is its target's pid: a server made it. */
static int read_pid(const char *path)
{
	return atoi(strrchr(path, '/') + 1);
}

static int note_silent(struct targets *t, pid_t pid)
{
	if (grow(&t->silent, &t->n_silent_allocated, t->n_silent + 1))
		return -ENOMEM;
	t->silent[t->n_silent++] = pid;
	return 0;
}

static int take(struct targets *t, const struct question *one)
{
	struct found_target found = {.status = one->status};
	int r = one->error;

	set_socket(&found, one->path);
	if (r == 0 && found.status.pid != read_pid(one->path))
		r = -EPROTO;
	if (r == 0)
		return add(t, &found);
	log_debug(LOG_CLIENT, "%s: %s", one->path, errno_words(r));
	/* One that is stopped takes no more connections once its queue is full. */
	if (r == -ETIMEDOUT || r == -EAGAIN)
		return note_silent(t, read_pid(one->path));
	if (r == -ECONNREFUSED) {
		remove_if_ours(one->path);
		remove_if_ours(found.socket);
	}
	return 0;
}

static int take_answers(struct targets *t)
{
	int r = 0;

	questions_wait(&t->questions, t->answer_ms);
	for (size_t i = 0; i < t->questions.n && r == 0; i++)
		r = take(t, &t->questions.v[i]);
	questions_deinit(&t->questions);
	return r;
}

static int look_at(struct targets *t, const char *dir, long pid)
{
	char path[108];
	int r = 0;

	snprintf(path, sizeof path, "%s/%ld.status", dir, pid);
	if (t->questions.n == QUESTIONS_MAX)
		r = take_answers(t);
	return r ? r : questions_ask(&t->questions, path);
}

static int look_into(struct targets *t, const char *path, uid_t owner)
{
	_cleanup_closedir_ DIR *dir = NULL;
	struct dirent *entry;
	int r = 0;

	if (strlen(path) >= RUNTIME_DIR_MAX_BYTES || runtime_dir_check(path, owner))
		return 0;
	dir = opendir(path);
	while (dir && r == 0 && (entry = readdir(dir))) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);

		if (pid > 0 && pid <= INT32_MAX && strcmp(end, ".status") == 0 &&
			(!t->only || pid == t->only))
			r = look_at(t, path, pid);
	}
	return r;
}

/* Those of other users, whose names end with their uid or hold it. */
static int look_into_all(struct targets *t, const char *pattern)
{
	glob_t found;
	int r = 0;

	if (glob(pattern, 0, NULL, &found))
		return 0;
	for (size_t i = 0; i < found.gl_pathc && r == 0; i++) {
		struct stat st;

		if (lstat(found.gl_pathv[i], &st) == 0)
			r = look_into(t, found.gl_pathv[i], st.st_uid);
	}
	globfree(&found);
	return r;
}

static int compare(const void *a, const void *b)
{
	const struct found_target *x = a;
	const struct found_target *y = b;

	return (x->status.pid > y->status.pid) - (x->status.pid < y->status.pid);
}

static int compare_pids(const void *a, const void *b)
{
	const pid_t *x = a;
	const pid_t *y = b;

	return (*x > *y) - (*x < *y);
}

static void sort(struct targets *t)
{
	if (t->n)
		qsort(t->v, t->n, sizeof *t->v, compare);
	if (t->n_silent)
		qsort(t->silent, t->n_silent, sizeof *t->silent, compare_pids);
}

static int load(struct targets *t, int answer_ms, pid_t only)
{
	char path[RUNTIME_DIR_MAX_BYTES];
	int r = 0;

	*t = (struct targets){.answer_ms = answer_ms, .only = only};
	for (unsigned i = 0; i < RUNTIME_DIR_PLACES && r == 0; i++)
		if (runtime_dir_get(i, path) == 0)
			r = look_into(t, path, geteuid());
	if (r == 0 && geteuid() == 0)
		r = look_into_all(t, "/run/user/*/proftap");
	if (r == 0 && geteuid() == 0)
		r = look_into_all(t, "/tmp/proftap-*");
	if (r == 0)
		r = take_answers(t);
	if (r)
		targets_deinit(t);
	else
		sort(t);
	return r;
}

int targets_load(struct targets *t)
{
	return load(t, ANSWER_MS, 0);
}

int targets_load_pid(struct targets *t, pid_t pid)
{
	return load(t, ANSWER_MS, pid);
}

int targets_load_quickly(struct targets *t)
{
	return load(t, QUICK_ANSWER_MS, 0);
}

void targets_deinit(struct targets *t)
{
	questions_deinit(&t->questions);
	free(t->v);
	free(t->silent);
	*t = (struct targets)TARGETS_INIT;
}

const struct found_target *targets_find_pid(const struct targets *t, pid_t pid)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].status.pid == pid)
			return &t->v[i];
	return NULL;
}

void targets_describe_silent(const struct targets *t, char *out, size_t n)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < t->n_silent && i < MAX_SILENT_SAID && used < n; i++)
		used += (size_t)snprintf(out + used, n - used, "%s%d",
			i		   ? ", "
			: t->n_silent == 1 ? "pid "
					   : "pids ",
			(int)t->silent[i]);
	if (t->n_silent > MAX_SILENT_SAID && used < n)
		used += (size_t)snprintf(
			out + used, n - used, " and %zu more", t->n_silent - MAX_SILENT_SAID);
	if (used && used < n)
		snprintf(out + used, n - used, ": %s: stopped, or very busy",
			t->n_silent == 1 ? "its server does not answer"
					 : "their servers do not answer");
}

static int explain_unknown(const struct targets *t, const char *name, struct diag *d)
{
	char silent[256];

	targets_describe_silent(t, silent, sizeof silent);
	if (*silent)
		return diag_set(
			d, -ENOENT, "%.64s: no target of that name answers; %s", name, silent);
	if (t->n == 0)
		return diag_set(d, -ENOENT,
			"%.64s: no target of that name: no program of this user has a server; start one "
			"with ptap_server_start() or proftap run -p PORT -- PROGRAM",
			name);
	return diag_set(d, -ENOENT,
		"%.64s: no target of that name among %zu; proftap list shows them", name, t->n);
}

const struct found_target *targets_find_name(
	const struct targets *t, const char *name, struct diag *d)
{
	const struct found_target *first = NULL;

	for (size_t i = 0; i < t->n; i++) {
		if (strcmp(t->v[i].status.name, name) != 0)
			continue;
		if (first) {
			diag_set(d, -EINVAL,
				"%.64s: more than one target has that name (pids %d, %d); give a pid",
				name, first->status.pid, t->v[i].status.pid);
			return NULL;
		}
		first = &t->v[i];
	}
	if (!first)
		explain_unknown(t, name, d);
	return first;
}
