/* SPDX-License-Identifier: Apache-2.0 */
/* Files of runs; see run_files.h. */
#include "daemon/host/web/run_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
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

/* No path, and nothing that is hidden. */
static int is_name(const char *name)
{
	return name[0] && name[0] != '.' && strlen(name) <= MAX_NAME_BYTES && !strchr(name, '/');
}

int run_files_open(int dir_fd, const char *name, uint64_t *n_bytes)
{
	struct stat st;
	int fd = is_name(name)
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

int run_files_look_at(int dir_fd, const char *name, struct stat *st)
{
	return is_name(name) && fstatat(dir_fd, name, st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st->st_mode);
}

static void write_file(struct json *j, const char *name, const struct stat *st)
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
		if (!run_files_look_at(dir_fd, entry->d_name, &st))
			continue;
		write_file(j, entry->d_name, &st);
		state->n_bytes += (uint64_t)st.st_size;
		if (run_files_get_time_ns(&st) > state->written_ns)
			state->written_ns = run_files_get_time_ns(&st);
	}
	json_end_list(j);
}

/* 0 or a negative errno. */
static int remove_one(int dir_fd, const char *name, uint64_t *n_bytes)
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
			r = remove_one(dir_fd, entry->d_name, n_bytes);
	return r;
}
