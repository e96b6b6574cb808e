/* SPDX-License-Identifier: Apache-2.0 */
/* Notes beside runs; see run_note.h. */
#include "daemon/host/web/run_note.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "base/cleanup.h"
#include "daemon/host/web/job.h"
#include "daemon/host/web/json_text.h"

#define MAX_BYTES (64 << 10)

static char *format(const struct job *job)
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
	_cleanup_free_ char *text = format(job);
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

/* The file's text, or NULL. */
static json_t *load(int dir_fd)
{
	_cleanup_close_ int fd =
		openat(dir_fd, RUN_NOTE_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	_cleanup_free_ char *all = NULL;
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
		st.st_size > MAX_BYTES)
		return NULL;
	all = malloc((size_t)st.st_size + 1);
	n = all ? read(fd, all, (size_t)st.st_size) : -1;
	return n > 0 ? json_loadb(all, (size_t)n, JSON_REJECT_DUPLICATES, NULL) : NULL;
}

int run_note_read_owner(int dir_fd, uid_t *uid)
{
	json_t *note = load(dir_fd);
	const json_t *value = json_object_get(note, "uid");
	int has = json_is_integer(value);

	if (has)
		*uid = (uid_t)json_integer_value(value);
	json_decref(note);
	return has;
}

void run_note_write_targets(int dir_fd, struct json *j)
{
	json_t *note = load(dir_fd);
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
