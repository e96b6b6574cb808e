/* SPDX-License-Identifier: Apache-2.0 */
/* The operator's directory; see repository.h. */
#include "daemon/serve/session/repository.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/target/rights.h"
#include "trace/run_dir.h"

#define MAX_PATH_BYTES 4096

static const char none_text[] =
	"this server has no log directory: start it with .log_dir (ptap_server_options), or let "
	"the client write the files";

void repository_name(struct repository *r, const char *log_dir, size_t size, pid_t pid)
{
	snprintf(r->log_dir, sizeof r->log_dir, "%.*s", (int)size - 1, log_dir);
	r->pid = pid;
	atomic_store(&r->is_named, r->log_dir[0] == '/');
}

void repository_forbid(struct repository *r)
{
	r->is_foreign = true;
}

const char *repository_explain_none(const struct repository *r)
{
	return r->is_foreign ? rights_foreign_text : none_text;
}

bool repository_is_named(const struct repository *r)
{
	return atomic_load(&r->is_named);
}

/*
 * Returns the part of |path| below the operator's directory, "" for the directory itself; NULL:
 * |path| lies outside.
 */
static const char *find_rest(const struct repository *r, const char *path)
{
	size_t n = repository_is_named(r) ? strlen(r->log_dir) : 0;

	while (n > 1 && r->log_dir[n - 1] == '/')
		n--;
	if (!n || strncmp(path, r->log_dir, n) != 0)
		return NULL;
	return path[n] == '/' || path[n] == '\0' ? path + n : NULL;
}

static bool is_part(const char *name)
{
	return name[0] && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !strchr(name, '/');
}

/* Compares texts only, so a path with ".." is never inside. */
bool repository_contains(const struct repository *r, const char *client_root)
{
	const char *rest = find_rest(r, client_root);
	char copy[MAX_PATH_BYTES];
	char *state = NULL;

	if (!rest || strlen(rest) >= sizeof copy)
		return false;
	strcpy(copy, rest);
	for (char *part = strtok_r(copy, "/", &state); part; part = strtok_r(NULL, "/", &state))
		if (!is_part(part))
			return false;
	return true;
}

int repository_open_part(int fd, const char *name, bool makes, struct diag *d)
{
	int r;

	if (!is_part(name))
		return diag_set(d, -EACCES, "\"%.100s\": cannot be a directory's name here", name);
	if (makes && mkdirat(fd, name, 0777) && errno != EEXIST)
		return diag_set(d, -errno, "\"%.100s\": cannot make the directory: %s", name,
			errno_words(errno));
	r = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (r < 0)
		r = diag_set(d, -errno, "\"%.100s\": %s", name,
			errno == ENOTDIR || errno == ELOOP ? "not a directory, or a link"
							   : errno_words(errno));
	return r;
}

/* Takes |fd|. */
static int walk_path(int fd, char *path, bool makes, struct diag *d)
{
	char *state = NULL;

	for (char *part = strtok_r(path, "/", &state); part && fd >= 0;
		part = strtok_r(NULL, "/", &state)) {
		int next = repository_open_part(fd, part, makes, d);

		close(fd);
		fd = next;
	}
	return fd;
}

static int open_runs(
	const struct repository *r, const char *client_root, bool makes, struct diag *d)
{
	const char *rest = client_root[0] ? find_rest(r, client_root) : "plugins/profile";
	char path[MAX_PATH_BYTES];
	int fd;

	if (!repository_is_named(r))
		return diag_set(d, -EACCES, "%s", repository_explain_none(r));
	if (!rest || strlen(rest) >= sizeof path)
		return diag_set(d, -EACCES,
			"\"%.150s\" is not inside the directory that this server's operator named",
			client_root);
	strcpy(path, rest);
	/* The operator's directory itself may be a link. */
	if (makes && mkdir(r->log_dir, 0777) && errno != EEXIST)
		return diag_set(d, -errno, "%.200s: cannot make the directory: %s", r->log_dir,
			errno_words(errno));
	fd = open(r->log_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return diag_set(d, -errno, "%.200s: %s", r->log_dir, errno_words(errno));
	return walk_path(fd, path, makes, d);
}

int repository_open_runs(const struct repository *r, const char *client_root, struct diag *d)
{
	return open_runs(r, client_root, false, d);
}

int repository_open_run(const struct repository *r, const char *client_root, const char *run,
	struct run_dir *out, struct diag *d)
{
	_cleanup_close_ int runs = -1;
	int error = run_dir_check_name(run, d);
	int fd;

	if (!error)
		error = rights_check("", r->pid, d);
	if (error)
		return error;
	runs = open_runs(r, client_root, true, d);
	fd = runs < 0 ? runs : repository_open_part(runs, run, 1, d);
	return fd < 0 ? fd : run_dir_adopt(out, fd, d);
}

void repository_name_host(char *name, size_t n)
{
	if (gethostname(name, n))
		snprintf(name, n, "localhost");
	name[n - 1] = '\0';
}

static int explain_taken(int r, const char *host, struct diag *d)
{
	return r != -EEXIST ? r
			    : diag_set(d, r,
				      "the run has a file of host %.100s already, which is not "
				      "overwritten; choose another session_id",
				      host);
}

int repository_check_free(const struct run_dir *run, const char *host, struct diag *d)
{
	return explain_taken(run_dir_check_free(run, host, d), host, d);
}

int repository_publish(
	struct run_dir *run, struct delivery *delivery, const char *host, struct diag *d)
{
	_cleanup_free_ char *path = NULL;
	int r = delivery_write(delivery, run, d);

	if (!r)
		r = run_dir_publish(run, host, &path, d);
	return explain_taken(r, host, d);
}
