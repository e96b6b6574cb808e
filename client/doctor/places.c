/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of directories that servers and recordings need. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/env.h"
#include "base/local_path.h"
#include "base/runtime_dir.h"
#include "client/doctor/checks.h"
#include "client/doctor/finding.h"
#include "client/doctor/system.h"

#define MIB (1024.0 * 1024.0)
/* The size of a capture with default limits. */
#define ROOM_MIB 1024.0

/* Checks whether a server could make its sockets in |path|. 0 or a negative errno. */
static int try_place(const char *path, uid_t uid)
{
	char parent[PATH_MAX];
	int r = runtime_dir_check(path, uid);

	if (r == 0)
		return access(path, W_OK | X_OK) ? -errno : 0;
	if (r != -ENOENT)
		return r;
	snprintf(parent, sizeof parent, "%s", path);
	*strrchr(parent, '/') = '\0';
	return access(*parent ? parent : "/", W_OK | X_OK) ? -errno : 0;
}

static void describe_place(const char *path, struct finding *f)
{
	struct stat st;

	if (stat(path, &st))
		finding_yes(f, "%s (made when it is needed)", path);
	else
		finding_yes(f, "%s, mode %04o of uid %u", path, (unsigned)st.st_mode & 07777,
			(unsigned)st.st_uid);
}

/* Servers use the first directory that they can use. */
void check_runtime_dir(const struct system *sys, const struct check *self, struct finding *f)
{
	char open_to_all[PATH_MAX] = "";
	char word[FINDING_WORD_BYTES];
	char path[RUNTIME_DIR_MAX_BYTES];
	char full[PATH_MAX];

	(void)self;
	for (unsigned i = 0; i < RUNTIME_DIR_PLACES; i++) {
		int r;

		if (runtime_dir_get(i, path))
			continue;
		snprintf(full, sizeof full, "%s%s", sys->root, path);
		r = try_place(full, sys->uid);
		if (r == 0) {
			describe_place(full, f);
			return;
		}
		/*
		 * The last directory is in /tmp, where this user can always make it unless
		 * something else has its name.
		 */
		if (r == -EACCES || r == -ENOTDIR)
			snprintf(open_to_all, sizeof open_to_all, "%s", full);
	}
	finding_no(f, "there is none that only this user can access");
	if (*open_to_all)
		system_set_command(sys, f, "rm -r %s", finding_quote(word, open_to_all));
	else
		finding_set_command(f, "export XDG_RUNTIME_DIR=$(mktemp -d)");
}

static const char *get_log_dir(bool *is_chosen)
{
	const char *chosen = env_get(ENV_PROFTAP_LOG_DIR);
	const char *parent = getenv("TMPDIR");

	*is_chosen = chosen && *chosen;
	if (*is_chosen)
		return chosen;
	return parent && *parent ? parent : "/tmp";
}

/*
 * Checks whether a capture could make and use the directory and its missing parents. 0
 * or a negative errno.
 */
static int try_log_dir(const char *path)
{
	char at[PATH_MAX];
	struct stat st;

	snprintf(at, sizeof at, "%s", path);
	while (stat(at, &st)) {
		char *slash = strrchr(at, '/');

		if (errno != ENOENT || strcmp(at, ".") == 0)
			return -errno;
		/* The parent of "/a" is "/", and that of "a" is ".". */
		if (slash)
			slash[slash == at] = '\0';
		else
			strcpy(at, ".");
	}
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return access(at, W_OK | X_OK) ? -errno : 0;
}

static void judge_room(const char *path, struct finding *f)
{
	struct statvfs fs;
	double free_mib;

	if (statvfs(path, &fs)) {
		finding_yes(f, "%s (made when it is needed)", path);
		return;
	}
	free_mib = (double)fs.f_bavail * (double)fs.f_frsize / MIB;
	if (free_mib >= ROOM_MIB) {
		finding_yes(f, "%s, %.0f GiB free", path, free_mib / 1024);
		return;
	}
	finding_no(f, "%s has %.0f MiB left, and a capture may take 1 GiB", path, free_mib);
	finding_set_command(f, "export PROFTAP_LOG_DIR=$HOME/proftap");
}

void check_log_dir(const struct system *sys, const struct check *self, struct finding *f)
{
	bool is_chosen;
	const char *path = get_log_dir(&is_chosen);
	struct diag d = DIAG_INIT;
	int url_error = local_path_check(is_chosen ? "PROFTAP_LOG_DIR" : "TMPDIR", path, &d);
	int r = url_error ? url_error : try_log_dir(path);

	(void)sys, (void)self;
	if (r == 0) {
		judge_room(path, f);
		return;
	}
	if (url_error)
		finding_no(f, "%s", d.text);
	else
		finding_no(f, "%s (%s): %s", path,
			is_chosen ? "PROFTAP_LOG_DIR" : "for log directories", errno_words(r));
	finding_set_command(f, "export PROFTAP_LOG_DIR=$HOME/proftap");
}
