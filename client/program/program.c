/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding and checking programs; see program.h. The checks are needed because the dynamic loader
 * may ignore LD_PRELOAD without a message.
 */
#include "client/program/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/env.h"
#include "client/program/elf.h"

/* A script's interpreter may be a script. The kernel follows at most this many. */
#define MAX_SCRIPTS 4

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/*
 * Finds the first executable file, as execvp() does; if there is none, a file that is not
 * executable.
 */
static int search_path(const char *name, char *path)
{
	const char *at = getenv("PATH");
	char candidate[PATH_MAX];
	int r = -ENOENT;

	for (at = at ? at : "/bin:/usr/bin"; at;
		at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
		int n = (int)strcspn(at, ":");

		if (snprintf(candidate, PATH_MAX, "%.*s/%s", n ? n : 1, n ? at : ".", name) >=
				PATH_MAX ||
			!is_file(candidate))
			continue;
		strcpy(path, candidate);
		if (access(path, X_OK) == 0)
			return 0;
		r = -EACCES;
	}
	return r;
}

static int find_executable(const char *name, char *path, struct diag *d)
{
	int r;

	if (!strchr(name, '/')) {
		r = name[0] ? search_path(name, path) : -ENOENT;
	} else {
		r = snprintf(path, PATH_MAX, "%s", name) < PATH_MAX ? 0 : -ENAMETOOLONG;
		if (r == 0 && access(path, F_OK))
			r = -errno;
		if (r == 0 && (!is_file(path) || access(path, X_OK)))
			r = -EACCES;
	}
	if (r == -EACCES)
		return diag_set(d, r, "%.300s: not executable", path);
	if (r)
		return diag_set(d, -ENOENT, "%.300s: not found%s", name,
			strchr(name, '/') ? "" : " in PATH; give its path");
	return 0;
}

/* The loader ignores LD_PRELOAD if the file gives the program rights that we do not have. */
static int check_rights(const char *path, int fd, struct diag *d)
{
	struct stat st;

	if (getuid() == 0 || fstat(fd, &st))
		return 0;
	if ((st.st_mode & S_ISUID && st.st_uid != getuid()) ||
		(st.st_mode & S_ISGID && st.st_mode & S_IXGRP && st.st_gid != getgid()))
		return diag_set(d, -ENOTSUP,
			"%.300s: set-user-ID or set-group-ID: such a program ignores LD_PRELOAD; link it "
			"with -lproftap and call ptap_server_start(), or run it as its owner",
			path);
	if (fgetxattr(fd, "security.capability", NULL, 0) > 0)
		return diag_set(d, -ENOTSUP,
			"%.300s: has file capabilities (getcap): such a program ignores LD_PRELOAD; link "
			"it with -lproftap and call ptap_server_start(), or run it as root",
			path);
	return 0;
}

static int check_elf(const char *path, const struct elf *elf, struct diag *d)
{
	if (elf->is_foreign)
		return diag_set(d, -ENOTSUP,
			"%.300s: built for another processor or word size than libproftap; use a "
			"proftap of its kind",
			path);
	if (!elf->loader[0])
		return diag_set(d, -ENOTSUP,
			"%.300s: statically linked: nothing can be preloaded into it; link it "
			"dynamically, or with -lproftap and call ptap_server_start()",
			path);
	if (strstr(elf->loader, "ld-musl"))
		return diag_set(d, -ENOTSUP,
			"%.300s: uses musl (%.100s), and this libproftap needs glibc; link the program "
			"with a libproftap that was built with musl and call ptap_server_start()",
			path, elf->loader);
	return 0;
}

/* Reads the interpreter of a script; "" if |fd| is no script. */
static void read_interpreter(int fd, char *out, size_t size)
{
	char line[PATH_MAX];
	ssize_t n = pread(fd, line, sizeof line - 1, 0);
	const char *start = line + 2;

	out[0] = line[n > 0 ? n : 0] = '\0';
	if (strncmp(line, "#!", 2) != 0)
		return;
	start += strspn(start, " \t");
	snprintf(out, size, "%.*s", (int)strcspn(start, " \t\r\n"), start);
}

/* Checks |path|, or the interpreter of a script. */
static int check_program(const char *path, int n_scripts, struct program_file *out, struct diag *d)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char interpreter[PATH_MAX];
	struct elf elf;
	int r;

	/* A file that cannot be read may still be executable. */
	if (fd < 0 && errno == EACCES)
		return 0;
	if (fd < 0)
		return diag_set(
			d, -EACCES, "%.300s: cannot be executed: %s", path, errno_words(errno));
	r = elf_read(fd, &elf);
	if (r == 0) {
		snprintf(out->first_library, sizeof out->first_library, "%s", elf.sanitizer);
		r = check_rights(path, fd, d);
		return r ? r : check_elf(path, &elf, d);
	}
	read_interpreter(fd, interpreter, sizeof interpreter);
	if (!interpreter[0] || n_scripts >= MAX_SCRIPTS)
		return diag_set(d, -ENOEXEC,
			"%.300s: neither a program nor a script that begins with #! and an interpreter",
			path);
	return check_program(interpreter, n_scripts + 1, out, d);
}

int program_find(const char *name, struct program_file *out, struct diag *d)
{
	int r;

	memset(out, 0, sizeof *out);
	r = find_executable(name, out->path, d);
	return r ? r : check_program(out->path, 0, out, d);
}

static bool find_near_client(char *path)
{
	/*
	 * The first is in the build tree, the others are in an installed tree, which may have been
	 * moved.
	 */
	static const char *const places[] = {"../lib/.libs", "../lib", "../lib64"};
	char self[PATH_MAX];
	char place[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	char *slash;

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return false;
	*slash = '\0';
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		snprintf(place, sizeof place, "%s/%s/libproftap.so.1", self, places[i]);
		if (realpath(place, path) && is_file(path))
			return true;
	}
	return false;
}

int program_find_library(char path[static PATH_MAX], struct diag *d)
{
	const char *asked = env_get(ENV_PROFTAP_LIB);

	if (asked && (!realpath(asked, path) || !is_file(path)))
		return diag_set(d, -ENOENT,
			"libproftap: PROFTAP_LIB=%.300s is not a file; correct or "
			"unset it",
			asked);
	if (!asked && !find_near_client(path)) {
		snprintf(path, PATH_MAX, "%s/libproftap.so.1", PTAP_LIBDIR);
		if (!is_file(path))
			return diag_set(d, -ENOENT,
				"libproftap: not found (looked for libproftap.so.1 in ../lib and "
				"../lib64 of proftap's folder, and in %.200s); install it or set "
				"PROFTAP_LIB to its path",
				PTAP_LIBDIR);
	}
	if (strpbrk(path, " :"))
		return diag_set(d, -ENOENT,
			"libproftap: %.300s: LD_PRELOAD cannot name a path with a space or a colon; "
			"set PROFTAP_LIB to another",
			path);
	return 0;
}
