/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of the places that clients name. The first line is the root of a log directory, each
 * further one the name of a file in it. An '@' at the beginning stands for the operator's
 * directory, in which some links lead out of it. Every file that is opened lies in that directory,
 * and a refusal has a message.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "daemon/serve/session/repository.h"
#include "tests/fuzz/fuzz.h"

static char top[] = "/tmp/fuzz_repository-XXXXXX";
static char log_dir[64];
static struct repository repository;

static const char *const folders[] = {
	"", "/log", "/log/plugins", "/log/plugins/profile", "/log/plugins/profile/run", "/beside"};
static const char *const links[][2] = {
	{"/log/out", "../beside"}, {"/log/root", "/"}, {"/log/plugins/profile/up", "../../.."}};
#define N(table) (sizeof(table) / sizeof(table)[0])

static char *path_of(char path[PATH_MAX], const char *name)
{
	snprintf(path, PATH_MAX, "%s%s", top, name);
	return path;
}

static void remove_all(void)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < N(links); i++)
		unlink(path_of(path, links[i][0]));
	for (size_t i = N(folders); i; i--)
		rmdir(path_of(path, folders[i - 1]));
}

static void make_all(void)
{
	char path[PATH_MAX];

	if (!mkdtemp(top))
		abort();
	atexit(remove_all);
	for (size_t i = 1; i < N(folders); i++)
		if (mkdir(path_of(path, folders[i]), 0700))
			abort();
	for (size_t i = 0; i < N(links); i++)
		if (symlink(links[i][1], path_of(path, links[i][0])))
			abort();
	snprintf(log_dir, sizeof log_dir, "%s/log", top);
	repository_name(&repository, log_dir, sizeof log_dir, getpid());
}

/* Checks |fd|, which a function of the repository returned. */
static void check_opened(int fd, const struct diag *d)
{
	size_t n = strlen(log_dir);
	char link[64];
	char path[PATH_MAX] = "";

	if (fd < 0) {
		if (!d->text[0])
			abort();
		return;
	}
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	if (readlink(link, path, sizeof path - 1) < 0 || strncmp(path, log_dir, n) != 0 ||
		(path[n] && path[n] != '/'))
		abort();
}

static void open_parts(int runs, char *names)
{
	for (char *name; (name = strsep(&names, "\n"));) {
		struct diag d = DIAG_INIT;
		_cleanup_close_ int fd = repository_open_part(runs, name, 0, &d);

		check_opened(fd, &d);
	}
}

static void open_all(char *text)
{
	char *root = strsep(&text, "\n");
	struct diag d = DIAG_INIT;
	_cleanup_close_ int runs = repository_open_runs(&repository, root, &d);

	check_opened(runs, &d);
	if (runs >= 0 && root[0] && !repository_contains(&repository, root))
		abort();
	if (runs >= 0)
		open_parts(runs, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	bool is_inside = n_bytes && data[0] == '@';
	_cleanup_free_ char *text = NULL;

	if (!log_dir[0])
		make_all();
	if (asprintf(&text, "%s%.*s", is_inside ? log_dir : "", (int)n_bytes - is_inside,
		    (const char *)data + is_inside) < 0)
		abort();
	open_all(text);
	return 0;
}
