/* SPDX-License-Identifier: Apache-2.0 */
/* The files of runs; see run_files.h. */
#include "daemon/host/web/run_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/host/web/job.h"
#include "daemon/host/web/json_text.h"
#include "daemon/host/web/run_facts.h"
#include "trace/json.h"

#define MAX_NAME_BYTES 255

DIR *run_files_walk(int dir_fd)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

int64_t run_files_get_time_ns(const struct stat *st)
{
	return st->st_mtim.tv_sec * NS_PER_S + st->st_mtim.tv_nsec;
}

/* A valid name is no path and is not hidden. */
static bool run_file_is_name(const char *name)
{
	return name[0] && name[0] != '.' && strlen(name) <= MAX_NAME_BYTES && !strchr(name, '/');
}

int run_files_open(int dir_fd, const char *name, uint64_t *n_bytes)
{
	struct stat st;
	int fd = run_file_is_name(name)
			 ? openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
			 : -1;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		*n_bytes = (uint64_t)st.st_size;
		return fd;
	}
	close(fd);
	return -1;
}

bool run_files_stat(int dir_fd, const char *name, struct stat *st)
{
	return run_file_is_name(name) && fstatat(dir_fd, name, st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st->st_mode);
}

static void run_files_write_one(struct json *j, const char *name, const struct stat *st)
{
	json_begin_object(j, NULL);
	json_text(j, "name", name);
	json_int(j, "size_bytes", st->st_size);
	json_end_object(j);
}

void run_files_write(int dir_fd, struct run_state *state, struct json *j)
{
	_cleanup_closedir_ DIR *dir = run_files_walk(dir_fd);
	const struct dirent *entry;
	struct stat st;

	json_begin_list(j, "files");
	while (dir && (entry = readdir(dir))) {
		if (!run_files_stat(dir_fd, entry->d_name, &st))
			continue;
		run_files_write_one(j, entry->d_name, &st);
		state->n_bytes += (uint64_t)st.st_size;
		if (run_files_get_time_ns(&st) > state->written_ns)
			state->written_ns = run_files_get_time_ns(&st);
	}
	json_end_list(j);
}

/* 0 or a negative errno. */
static int run_files_remove_one(int dir_fd, const char *name, uint64_t *n_bytes)
{
	struct stat st = {.st_size = 0};

	fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW);
	if (unlinkat(dir_fd, name, 0))
		return -errno;
	*n_bytes += (uint64_t)st.st_size;
	return 0;
}

int run_files_remove(int dir_fd, uint64_t *n_bytes)
{
	_cleanup_closedir_ DIR *dir = run_files_walk(dir_fd);
	const struct dirent *entry;
	int r = dir ? 0 : -errno;

	while (!r && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			r = run_files_remove_one(dir_fd, entry->d_name, n_bytes);
	return r;
}

/* --- the daemon's note of a run --------------------------------------------------------------- */

#define MAX_NOTE_BYTES (64 << 10)

static char *run_note_format(const struct job *job)
{
	struct json_text text;

	if (json_text_begin(&text))
		return NULL;
	json_uint(&text.json, "uid", job->caller.uid);
	json_begin_list(&text.json, "targets");
	for (size_t i = 0; i < job->n_targets; i++) {
		if (!job->targets[i].file[0])
			continue;
		json_begin_object(&text.json, NULL);
		json_int(&text.json, "pid", job->targets[i].pid);
		json_text(&text.json, "name", job->targets[i].name);
		json_end_object(&text.json);
	}
	json_end_list(&text.json);
	return json_text_end(&text, NULL);
}

void run_note_write(const char *log_dir, const char *run, const struct job *job)
{
	_cleanup_free_ char *text = run_note_format(job);
	_cleanup_free_ char *path = NULL;
	int fd;

	if (!text || asprintf(&path, "%s/plugins/profile/%s/" RUN_NOTE_FILE, log_dir, run) < 0)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		unlink(path);
	close(fd);
}

/* Returns the content of the note, or NULL. */
static json_t *run_note_load(int dir_fd)
{
	_cleanup_close_ int fd =
		openat(dir_fd, RUN_NOTE_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	_cleanup_free_ char *all = NULL;
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
		st.st_size > MAX_NOTE_BYTES)
		return NULL;
	all = malloc((size_t)st.st_size + 1);
	n = all ? read(fd, all, (size_t)st.st_size) : -1;
	return n > 0 ? json_loadb(all, (size_t)n, JSON_REJECT_DUPLICATES, NULL) : NULL;
}

bool run_note_read_owner(int dir_fd, uid_t *uid)
{
	json_t *note = run_note_load(dir_fd);
	const json_t *value = json_object_get(note, "uid");
	bool has = json_is_integer(value);

	if (has)
		*uid = (uid_t)json_integer_value(value);
	json_decref(note);
	return has;
}

void run_note_write_targets(int dir_fd, struct json *j)
{
	json_t *note = run_note_load(dir_fd);
	const json_t *targets = json_object_get(note, "targets");

	json_begin_list(j, "targets");
	for (size_t i = 0; i < json_array_size(targets); i++) {
		const json_t *target = json_array_get(targets, i);

		json_begin_object(j, NULL);
		json_int(j, "pid", json_integer_value(json_object_get(target, "pid")));
		json_text(j, "name", json_string_value(json_object_get(target, "name")));
		json_end_object(j);
	}
	json_end_list(j);
	json_decref(note);
}
